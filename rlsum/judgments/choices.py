"""Scores as choices: of two texts of an input, a judge prefers the one with the higher score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Scores = tuple[Sequence[str], Sequence[float | None]]  # names of judges, and what each gave; no names: nobody is known


def choices(first: Scores, second: Scores) -> Iterator[tuple[str, float]]:
    """(judge, score of the second text minus that of the first) of the judges, by name, who scored both."""
    second_scores = dict(zip(*second, strict=False))
    for judge, score in zip(*first, strict=False):
        if score is not None and (second_score := second_scores.get(judge)) is not None:
            yield judge, second_score - score
