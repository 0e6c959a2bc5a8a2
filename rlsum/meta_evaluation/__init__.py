"""How well metrics agree with people: judgments and metrics in, a table of scores, statistics, and a report out."""
