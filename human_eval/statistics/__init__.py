"""Statistics of votes: preference, agreement, ranking, audits, and metrics against people."""
