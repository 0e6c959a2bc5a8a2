"""Weighted sums of rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.options import coerce
from rewards.scoring import BaseReward, Component, Inputs, Item, Scored, columns_read, signature
from rewards.wrappers.inner import Part, check_part, made


class Weighted(BaseReward):
    """A weighted sum of rewards: ``weighted(rouge-l=0.7, s+wms(vectors=v.txt.gz)=0.3)``. Weights need not sum to 1."""

    name = "weighted"

    def __init__(self, parts: Sequence[tuple[Part, float]]) -> None:
        self.parts = [(made(part), _weight(part, weight)) for part, weight in parts]
        names = [part.name for part, _ in self.parts]
        labels = [f"{n} {i + 1}" if names.count(n) > 1 else n for i, n in enumerate(names)]
        self.weights = {label: weight for label, (_, weight) in zip(labels, self.parts, strict=True)}
        self.columns, self.optional_columns = columns_read(part for part, _ in self.parts)

    @staticmethod
    def check_options(options: Mapping[str, Any]) -> None:
        """Check names, options and weights of the parts; loads nothing."""
        for part, weight in options["parts"]:
            _weight(part, weight)
            check_part(part)

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
        return signature(self.name, sum=" + ".join(f"{weight!r}*[{part.signature}]" for part, weight in self.parts))

    def reason(self, item: Item) -> str | None:
        """The reason of the first part that is undefined."""
        reasons = ((part.undefined(*item), part.name) for part, _ in self.parts)
        return next((f"{reason} ({name})" for reason, name in reasons if reason is not None), None)


def _weight(part: Part, weight: Any) -> float:
    number = coerce(f"weighted: the weight of {part}", weight, float)
    if number == 0:
        raise RewardError(f"weighted: the weight of {part} is 0; leave it out")
    return number
