"""Texts to vectors: transformer encoders, their layers, long texts in windows, and static word vectors."""
