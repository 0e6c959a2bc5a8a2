"""The computations that take the time, with gradients of our own, each beside the plain formula that it is equal to."""
