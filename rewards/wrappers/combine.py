"""Weighted sums of rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rewards.base import check_inner, from_spec
from rewards.errors import RewardError
from rewards.options import coerce
from rewards.scoring import BaseReward, Component, Inputs, Item, Scored, columns_read, signature


def _check_parts(parts: Sequence[tuple[Any, Any]]) -> None:
    for inner, weight in parts:
        _weight(inner, weight)
        check_inner(inner)


def _weight(inner: Any, weight: Any) -> float:
    number: float = coerce(f"weighted: the weight of {inner}", weight, float)
    if number == 0:
        raise RewardError(f"weighted: the weight of {inner} is 0; leave it out")
    return number


@dataclass(eq=False, repr=False)
class Weighted(BaseReward):
    """A weighted sum of rewards: ``weighted(rouge-l=0.7, s+wms(vectors=v.txt.gz)=0.3)``. Weights need not sum to 1."""

    name = "weighted"
    example: ClassVar[str] = "rouge-l=0.7, rouge-2=0.3"

    parts: Annotated[Sequence[tuple[Any, float]], _check_parts]
    """rewards with their weights, written reward=weight"""

    def __post_init__(self) -> None:
        self.parts = [(from_spec(inner), _weight(inner, weight)) for inner, weight in self.parts]
        names = [inner.name for inner, _ in self.parts]
        labels = [f"{n} {i + 1}" if names.count(n) > 1 else n for i, n in enumerate(names)]
        self.weights = {label: weight for label, (_, weight) in zip(labels, self.parts, strict=True)}
        self.columns, self.optional_columns = columns_read(inner for inner, _ in self.parts)

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64: the sum of weight times score; NaN if any part is undefined.

        An empty candidate gets the weighted sum of the parts' floors.
        """
        return self.score_components(inputs)[0]

    def score_components(self, inputs: Inputs) -> Scored:
        """The scores, and a component for each part; names that repeat are numbered."""
        rewards = (reward for reward, _ in self.parts)
        weighed = zip(rewards, self.weights.items(), strict=True)
        components = [Component(name, weight, reward(*inputs)) for reward, (name, weight) in weighed]
        return np.sum([weight * scores for _, weight, scores in components], axis=0), components

    @property
    def signature(self) -> str:
        """The weights, each with the whole signature of its part."""
        return signature(self.name, sum=" + ".join(f"{weight!r}*[{inner.signature}]" for inner, weight in self.parts))

    @property
    def notes(self) -> Sequence[str]:
        """Those of the parts."""
        return [note for inner, _ in self.parts for note in getattr(inner, "notes", ())]

    def reason(self, item: Item) -> str | None:
        """The reason of the first part that is undefined."""
        reasons = ((inner.undefined(*item), inner.name) for inner, _ in self.parts)
        return next((f"{reason} ({name})" for reason, name in reasons if reason is not None), None)
