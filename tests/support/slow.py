"""A reward that takes its time, so that a kill finds it at work: for ever, from text number ``HELD`` on."""

import os
import time


def slow(candidates, references=None, sources=None):
    held = int(os.environ.get("HELD", "0"))
    time.sleep(3600 if held and any(int(text.split()[-1]) >= held for text in candidates) else 0.25)
    return [float("nan") if text.endswith("777") else len(text) for text in candidates]
