"""Rewards in other libraries' clothes; each file imports its library only when it is used."""
