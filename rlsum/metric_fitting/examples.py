"""Judgments -> what a metric is trained on and compared with: texts, one human score, and the scale of it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np

from rewards.embedding.corpus_mean import digest
from rewards.options import nearest
from rlsum.errors import UserError
from rlsum.judgments.records import Judgment

Scaling = Literal["min-max", "standard", "none"]


@dataclass(frozen=True)
class Example:
    """One judged text with its score."""

    group: str
    id: str
    system: str
    candidate: str
    references: tuple[str, ...]
    human: float


def examples(judgments: Sequence[Judgment], score: str, groups: str = "*") -> list[Example]:
    """The judgments that have ``score``, of the groups that match ``groups`` (``*-en``).

    Raises UserError where none is left, naming what there is.
    """
    matching = [each for each in judgments if fnmatchcase(each.group, groups)]
    if not matching:
        known = ", ".join(sorted({each.group or "(none)" for each in judgments})[:20])
        raise UserError(f"--groups {groups!r}: no judgment is of such a group; there are {known}")
    found = [
        Example(each.group, each.id, each.system, each.candidate, each.references, value)
        for each in matching
        if (value := each.scores.get(score)) is not None
    ]
    if not found:
        names = sorted({name for each in matching for name in each.scores})
        there = f"there are {', '.join(names)}" if names else "there are no scores at all"
        raise UserError(f"--score {score!r}: no judgment has it{nearest(score, names)}; {there}")
    return found


def drawn(found: Sequence[Example], limit: int | None, seed: int) -> list[Example]:
    """At most ``limit`` of them, at random, in their order; the same for the same seed."""
    if limit is None or limit >= len(found):
        return list(found)
    chosen = np.random.default_rng(seed).choice(len(found), size=limit, replace=False)
    return [found[place] for place in sorted(chosen)]


def held_out(found: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """(train, valid): ``share`` of the items, at random, are held out, whole items with all their systems.

    Raises UserError where there are fewer than two items.
    """
    items = list(dict.fromkeys((each.group, each.id) for each in found))
    if len(items) < 2:
        raise UserError(f"{len(items)} judged item cannot be split; give --valid, or more judgments")
    count = min(len(items) - 1, max(1, round(share * len(items))))
    chosen = np.random.default_rng(seed).choice(len(items), size=count, replace=False)
    valid = {items[place] for place in chosen}
    return (
        [each for each in found if (each.group, each.id) not in valid],
        [each for each in found if (each.group, each.id) in valid],
    )


def check_varied(what: str, found: Sequence[Example]) -> None:
    """Raise UserError where all human scores are equal: nothing can be learned from them or tested on them."""
    if len({each.human for each in found}) < 2:
        raise UserError(f"{what}: {len(found)} human scores, all equal; no metric can agree or disagree with them")


def content(found: Sequence[Example]) -> str:
    """Twelve hex digits that change with any text, score or the order."""
    return digest([json.dumps(astuple(each)) for each in found])


@dataclass(frozen=True)
class Scale:
    """How human scores become targets: ``(human - origin) / unit``."""

    origin: float
    unit: float

    @classmethod
    def of(cls, scaling: Scaling, human: Sequence[float]) -> Scale:
        """``min-max``: [0, 1]; ``standard``: mean 0 and deviation 1; ``none``: as they are. From training scores."""
        if scaling == "none":
            return cls(0.0, 1.0)
        values = np.asarray(human, dtype=np.float64)
        origin, unit = (values.min(), np.ptp(values)) if scaling == "min-max" else (values.mean(), values.std())
        if not (math.isfinite(unit) and unit > 0):
            raise UserError(f"the human scores have no spread to scale by ({unit}); give others, or --scale none")
        return cls(float(origin), float(unit))

    def __call__(self, human: float) -> float:
        """The target of a human score."""
        return (human - self.origin) / self.unit
