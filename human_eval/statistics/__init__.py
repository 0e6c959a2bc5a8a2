"""Votes to statistics: preference, agreement, ranking, audits, and agreement with metrics."""
