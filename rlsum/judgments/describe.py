"""Counts of judgments: rows, inputs, systems and judges, and the distribution of each score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rlsum.judgments.collection import Judgments, Scale, mean


@dataclass(frozen=True)
class ScoreSpread:
    """One score. ``ties``: share of pairs of rows with equal scores. ``judges``: rows by their number of judges."""

    name: str
    given: int
    missing: int
    lowest: float | None
    highest: float | None
    mean: float | None
    ties: float | None
    judges: dict[int, int]
    scale: Scale | None


@dataclass(frozen=True)
class JudgmentCounts:
    """Counts of judgments. ``systems``, ``groups``: rows by name; ``references``: rows by number of references."""

    rows: int
    inputs: int
    systems: dict[str, int]
    groups: dict[str, int]
    references: dict[int, int]
    without_source: int
    scores: tuple[ScoreSpread, ...]


def describe(judgments: Judgments) -> JudgmentCounts:
    """The counts of ``judgments``."""
    rows = judgments.rows
    names = dict.fromkeys(name for row in rows for name in (*row.scores, *row.raw_scores))
    return JudgmentCounts(
        rows=len(rows),
        inputs=len({(row.group, row.id) for row in rows}),
        systems=dict(Counter(row.system for row in rows).most_common()),
        groups=dict(Counter(row.group for row in rows if row.group)),
        references=_sorted(len(row.references) for row in rows),
        without_source=sum(not row.source for row in rows),
        scores=tuple(_spread(name, judgments) for name in names),
    )


def _spread(name: str, judgments: Judgments) -> ScoreSpread:
    values = [value for row in judgments.rows if (value := row.scores.get(name)) is not None]
    pairs = len(values) * (len(values) - 1)
    tied = sum(count * (count - 1) for count in Counter(values).values())
    judges = (sum(value is not None for value in row.raw_scores.get(name, ())) for row in judgments.rows)
    return ScoreSpread(
        name=name,
        given=len(values),
        missing=len(judgments.rows) - len(values),
        lowest=min(values, default=None),
        highest=max(values, default=None),
        mean=mean(values),
        ties=tied / pairs if pairs else None,
        judges=_sorted(judges),
        scale=judgments.scales.get(name),
    )


def _sorted(numbers: Iterable[int]) -> dict[int, int]:
    return dict(sorted(Counter(numbers).items()))
