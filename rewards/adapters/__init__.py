"""Rewards for other libraries. Each file imports its library only when it is used."""
