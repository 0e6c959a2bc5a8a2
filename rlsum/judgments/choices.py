"""Scores as choices: of two texts of an input, a judge prefers the one with the higher score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

Scores = tuple[Sequence[str], Sequence[float | None]]  # names of judges, and what each gave; no names: nobody is known


def choices(first: Scores, second: Scores) -> Iterator[tuple[str, float]]:
    """(judge, score of the second text minus that of the first) of the judges, by name, who scored both.

    A judge who is named several times judged several times, in one order.
    """
    second_scores = dict(zip(_times(second[0]), second[1], strict=False))
    for (judge, time), score in zip(_times(first[0]), first[1], strict=False):
        if score is not None and (second_score := second_scores.get((judge, time))) is not None:
            yield judge, second_score - score


def _times(judges: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Each name, and how often it was there before."""
    before = Counter[str]()
    for judge in judges:
        yield judge, before[judge]
        before[judge] += 1
