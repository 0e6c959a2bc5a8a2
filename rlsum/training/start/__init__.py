"""The start of a run: its initial weights, one file for each kind of model, and what must stay as it began."""
