"""Rewards that misbehave on certain texts, importable by worker processes."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from rewards import BaseReward


def awkward(candidates, references=None, sources=None):
    return [_score(text, (references or [[]] * len(candidates))[row]) for row, text in enumerate(candidates)]


def _score(text, references):
    word, _, rest = text.partition(" ")
    if word == "sleep":
        time.sleep(float(rest))
    if word == "backtrack":  # holds the interpreter's lock all the while
        re.match(r"(a+)+$", "a" * 60 + "b")
    if word == "die":
        os._exit(3)
    if word == "die-once":
        path = Path(rest)
        if not path.exists():
            path.touch()
            os._exit(3)
    if word == "raise":
        raise KeyError(rest)
    return float("nan") if word == "nan" else len(text) + sum(map(len, references))


def unstartable(candidates, references=None, sources=None):
    os._exit(7)


class Counting(BaseReward):
    """Counts the texts it is asked for."""

    name = "counting"

    def __init__(self, option: int = 0) -> None:
        self.option, self.asked = option, []

    def scores(self, inputs):
        import numpy as np

        self.asked += inputs.candidates
        return np.array(
            [np.nan if text == "nan" else len(text) + self.option for text in inputs.candidates], dtype=float
        )

    @property
    def signature(self) -> str:
        return f"counting|option:{self.option}"

    def reason(self, item):
        return "it is nan" if item.candidate == "nan" else None
