"""Judgments -> training and test examples of a metric: texts, a human score, and the scale of the targets."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase

import numpy as np

from rewards.embedding.corpus_statistics import digest
from rewards.options import nearest
from rlsum.errors import UserError
from rlsum.judgments.records import Judgment
from rlsum.metric_fitting.options import Scaling


@dataclass(frozen=True)
class JudgedExample:
    """One judged text with its human score."""

    group: str
    id: str
    system: str
    candidate: str
    references: tuple[str, ...]
    human: float


def examples(judgments: Sequence[Judgment], score: str, groups: str = "*") -> list[JudgedExample]:
    """Judgments with ``score`` in the groups that match ``groups`` (``*-en``). Raises UserError if there are none."""
    matching = [row for row in judgments if fnmatchcase(row.group, groups)]
    if not matching:
        known = ", ".join(sorted({row.group or "(none)" for row in judgments})[:20])
        raise UserError(f"--groups {groups!r}: no judgment is in such a group; the groups are {known}")
    scored = [
        JudgedExample(row.group, row.id, row.system, row.candidate, row.references, value)
        for row in matching
        if (value := row.scores.get(score)) is not None
    ]
    if not scored:
        names = sorted({name for row in matching for name, value in row.scores.items() if value is not None})
        choices = f"the scores are {', '.join(names)}" if names else "there are no scores"
        raise UserError(f"--score {score!r}: no judgment has this score{nearest(score, names)}; {choices}")
    return scored


def held_out(pool: Sequence[JudgedExample], share: float, seed: int) -> tuple[list[JudgedExample], list[JudgedExample]]:
    """(train, valid): a random ``share`` of the items is held out whole. Raises UserError for fewer than two items."""
    items = list(dict.fromkeys((example.group, example.id) for example in pool))
    if len(items) < 2:
        raise UserError(f"{len(items)} judged item cannot be split; give --valid, or more judgments")
    count = min(len(items) - 1, max(1, round(share * len(items))))
    chosen = np.random.default_rng(seed).choice(len(items), size=count, replace=False)
    valid = {items[index] for index in chosen}
    return (
        [example for example in pool if (example.group, example.id) not in valid],
        [example for example in pool if (example.group, example.id) in valid],
    )


def check_varied(part: str, pool: Sequence[JudgedExample]) -> None:
    """Raise UserError if all human scores of ``part`` of the data are equal."""
    if len({example.human for example in pool}) < 2:
        raise UserError(f"{part} judgments: all {len(pool)} human scores are equal; a metric needs scores that differ")


def content(pool: Sequence[JudgedExample]) -> str:
    """A digest of twelve hex digits of all texts and scores, in order."""
    return digest([json.dumps(astuple(example)) for example in pool])


@dataclass(frozen=True)
class Scale:
    """The map from human scores to targets: ``(human - origin) / unit``."""

    origin: float
    unit: float

    @classmethod
    def of(cls, scaling: Scaling, human: Sequence[float]) -> Scale:
        """From training scores. ``min-max``: [0, 1]; ``standard``: mean 0, deviation 1; ``none``: unchanged."""
        if scaling == "none":
            return cls(0.0, 1.0)
        values = np.asarray(human, dtype=np.float64)
        origin, unit = (values.min(), np.ptp(values)) if scaling == "min-max" else (values.mean(), values.std())
        if not (math.isfinite(unit) and unit > 0):
            raise UserError(f"--scale {scaling}: human scores have no spread ({unit}); give others, or --scale none")
        return cls(float(origin), float(unit))

    def __call__(self, human: float) -> float:
        """The target of a human score."""
        return (human - self.origin) / self.unit
