"""Statistics of scores: intervals, paired tests, agreement of metrics and of judges with people. No torch."""
