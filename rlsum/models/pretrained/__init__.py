"""Pretrained encoder-decoders of transformers: loading, low-rank updates, rules about single tokens."""
