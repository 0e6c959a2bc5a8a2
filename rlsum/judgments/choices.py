"""Scores as choices: of two texts of an input, a judge prefers the one with the higher score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Scores = tuple[Sequence[str], Sequence[float | None]]  # names of judges, and what each gave; no names: nobody is known


def choices(first: Scores, second: Scores) -> Iterator[tuple[str, float]]:
    """(judge, score of the second text minus that of the first) of the judges, by name, who scored both."""
    others = dict(zip(*second, strict=False))
    for judge, given in zip(*first, strict=False):
        if given is not None and (other := others.get(judge)) is not None:
            yield judge, other - given
