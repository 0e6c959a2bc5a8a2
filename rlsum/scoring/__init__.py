"""Outputs and pairs of texts to scores, and systems compared on them."""
