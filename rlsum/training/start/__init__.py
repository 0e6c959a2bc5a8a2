"""The initial weights of a run, one file for each kind of model."""
