"""The computations that take the time, with gradients of our own, and what they are equal to."""
