"""Training a metric on human judgments, until it can be loaded as the reward ``learned``."""
