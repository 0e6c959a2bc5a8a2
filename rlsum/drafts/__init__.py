"""Configurations drafted from a look at data: `rlsum init` writes them, `rlsum data inspect` reads by them."""
