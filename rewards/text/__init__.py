"""Tokens and sentences of a text, as spaCy splits them."""
