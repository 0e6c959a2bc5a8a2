"""Texts to contextual vectors: transformer encoders, their layers, and texts longer than an encoder reads."""
