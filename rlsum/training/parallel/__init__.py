"""Training on several processes: set-up through accelerate, sharing work, averaging logs, sharded weights."""
