"""Simulations that check the error rates of our tests and the coverage of our intervals."""
