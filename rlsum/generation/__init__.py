"""Summaries of a corpus, decoded with a trained or pretrained model."""
