"""One update and everything around it: samples, rewards, advantages, losses, the loop, validation, checkpoints."""
