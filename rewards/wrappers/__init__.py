"""Rewards made of other rewards: weighted sums, caches, time limits, surface properties to combine them with."""
