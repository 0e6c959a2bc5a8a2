"""A reward that takes its time, so that a kill finds it at work."""

from __future__ import annotations

import time


def slow(candidates, references=None, sources=None):
    time.sleep(0.25)
    return [float("nan") if text.endswith("777") else len(text) for text in candidates]
