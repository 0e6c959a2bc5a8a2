"""Summarizers and how text is decoded from them."""
