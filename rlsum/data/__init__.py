"""Corpus readers, the simulator, vocabulary and batches."""
