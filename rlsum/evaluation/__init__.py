"""Scores of outputs: intervals, paired tests, tables. No torch."""
