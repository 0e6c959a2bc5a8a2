"""Rewards made of other rewards: weighted sums, caches, time limits."""
