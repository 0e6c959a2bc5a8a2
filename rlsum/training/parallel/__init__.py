"""Training on several processes: set-up through accelerate, sharing work, pooling logs, sharded weights."""
