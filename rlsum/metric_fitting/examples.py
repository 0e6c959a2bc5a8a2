"""Judgments -> training and test examples of a metric: texts, a human score, and the scale of the targets."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Protocol, TypeVar

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
    nouns: ClassVar = ("judgments", "pairs of texts")

    @property
    def key(self) -> object:
        """The input."""
        return self.group, self.id

    @property
    def seen(self) -> object:
        """The texts that are compared."""
        return self.candidate, self.references


def scored(judgments: Sequence[Judgment], score: str, groups: str = "*") -> list[Judgment]:
    """Those with ``score`` in the groups that match ``groups`` (``*-en``). Raises UserError if there are none."""
    matching = [row for row in judgments if fnmatchcase(row.group, groups)]
    if not matching:
        present = ", ".join(sorted({row.group or "(none)" for row in judgments})[:20])
        raise UserError(f"--groups {groups!r}: no judgment is in such a group; the groups are {present}")
    rows = [row for row in matching if row.scores.get(score) is not None]
    if not rows:
        names = sorted({name for row in matching for name, value in row.scores.items() if value is not None})
        choices = f"the scores are {', '.join(names)}" if names else "there are no scores"
        raise UserError(f"--score {score!r}: no judgment has this score{nearest(score, names)}; {choices}")
    return rows


def examples(judgments: Sequence[Judgment], score: str, groups: str = "*") -> list[JudgedExample]:
    """Those that are ``scored``, as examples."""
    return [
        JudgedExample(row.group, row.id, row.system, row.candidate, row.references, row.scores[score] or 0.0)
        for row in scored(judgments, score, groups)
    ]


class Judged(Protocol):
    """An example; ``nouns``: what examples are called, and what they have in common with others in ``seen``."""

    nouns: ClassVar[tuple[str, str]]

    @property
    def key(self) -> object:
        """Its input, which is held out whole."""

    @property
    def seen(self) -> object:
        """What should not be in two sets of data."""


J = TypeVar("J", bound=Judged)


def held_out(pool: Sequence[J], share: float, seed: int) -> tuple[list[J], list[J]]:
    """(train, valid): a random ``share`` of the items is held out whole, and what is ``seen`` in them, of other items.

    Raises UserError for fewer than two items, and where nothing is left to train on.
    """
    items = list(dict.fromkeys(example.key for example in pool))
    if len(items) < 2:
        raise UserError(f"{len(items)} judged item cannot be split; give --valid, or more judgments")
    count = min(len(items) - 1, max(1, round(share * len(items))))
    chosen = np.random.default_rng(seed).choice(len(items), size=count, replace=False)
    held = {items[index] for index in chosen}
    valid = [example for example in pool if example.key in held]
    seen = {example.seen for example in valid}
    train = [example for example in pool if example.key not in held and example.seen not in seen]
    if not train:
        raise UserError(
            f"--holdout {share}: all texts are held out, under several ids; give --valid, or more judgments"
        )
    return train, valid


def check_varied(part: str, pool: Sequence[JudgedExample]) -> None:
    """Raise UserError if all human scores of ``part`` of the data are equal."""
    if len({example.human for example in pool}) < 2:
        raise UserError(f"{part} judgments: all {len(pool)} human scores are equal; a metric needs scores that differ")


def content(pool: Sequence[Any]) -> str:
    """A digest of twelve hex digits of all examples, which are dataclasses, in order."""
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
