"""Training on several processes: set-up through accelerate, sharing work, sharded weights."""
