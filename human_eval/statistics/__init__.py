"""Statistics of votes: unblinding, preference, agreement, ranking, audits, and metrics against people."""
