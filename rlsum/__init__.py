"""Train summarizers with metric rewards and measure whether it helped. Importing this loads nothing heavy."""

__version__ = "0.1.0"
