"""Columns to compare metrics with: the length of the candidate and the scores of single judges."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rlsum.evaluation.rows import Floats
from rlsum.judgments.records import Judgment

Unit = Literal["letters", "words", "whitespace", "characters"]

LETTERS = re.compile(r"[^\W\d_]+")
WORDS = re.compile(r"[^\W_]+")

COUNTS: dict[Unit, tuple[Callable[[str], int], str]] = {
    "letters": (lambda text: len(LETTERS.findall(text)), "runs of letters"),
    "words": (lambda text: len(WORDS.findall(text)), "runs of letters and digits"),
    "whitespace": (lambda text: len(text.split()), "runs without white space"),
    "characters": (len, "characters"),
}


@dataclass(frozen=True)
class JudgeScores:
    """Scores of single judges (n, judges), NaN where missing. ``named``: a column is one person in all rows."""

    scores: Floats
    named: bool


def lengths(rows: Sequence[Judgment], unit: Unit) -> Floats:
    """The length of each candidate (n,) in ``unit`` (see ``COUNTS``)."""
    count, _ = COUNTS[unit]
    return np.array([count(row.candidate) for row in rows], dtype=np.float64)


def judge_scores(rows: Sequence[Judgment], score: str) -> JudgeScores | None:
    """The scores of single judges; None if there are none of this name. Named if every row that has some names them."""
    raw = [row.raw_scores.get(score, ()) for row in rows]
    given = [(row, values) for row, values in zip(rows, raw, strict=True) if values]
    if not any(value is not None for _, values in given for value in values):
        return None
    named = all(row.judges and len(set(row.judges)) == len(row.judges) for row, _ in given)
    people = sorted({judge for row, _ in given for judge in row.judges}) if named else []
    column_of = {judge: column for column, judge in enumerate(people)}
    scores = np.full((len(rows), len(people) or max(len(values) for values in raw)), np.nan)
    for line, (row, values) in enumerate(zip(rows, raw, strict=True)):
        for column, value in enumerate(values):
            if value is not None:
                scores[line, column_of[row.judges[column]] if named else column] = value
    return JudgeScores(scores, named)
