"""Texts that people have judged, and how well a metric's scores agree with them."""
