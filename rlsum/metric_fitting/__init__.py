"""Training a metric on human judgments, to be loaded as the reward ``learned``."""
