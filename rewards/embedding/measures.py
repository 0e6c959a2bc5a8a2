"""What each contextual metric makes of two texts: a formula of ``rewards.embedding.similarity`` with its options bound.

A measure is called with the candidate's and the reference's ``Points`` and returns ``C(X1, X2)`` as a scalar tensor.
Its fields are its options, and stand in the signature.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from rewards.embedding import similarity
from rewards.embedding.similarity import Direction
from rewards.scoring import library
from rewards.transport import exact_cost

if TYPE_CHECKING:
    from torch import Tensor

Normalize = Literal["self", "none"]


@dataclass(frozen=True, eq=False)
class Points:
    """One text to compare: ``vectors`` ``(L, D)`` of unit length and ``weights`` ``(L,)`` summing to 1, float64."""

    vectors: Tensor
    weights: Tensor


class Measure(Protocol):
    """``C(X1, X2)`` with its options bound."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def normalize(self) -> Normalize:
        """``self``: the reward divides by the roots of both self-scores; ``none`` also where these are 1 anyway."""

    @property
    def floor(self) -> float:
        """What a candidate with nothing to compare gets: the least ``C`` there is."""

    def __call__(self, first: Points, second: Points) -> Tensor:
        """``C`` as a scalar."""


def options(measure: Measure) -> dict[str, object]:
    """The options of a measure by name, for the signature."""
    return {option.name: getattr(measure, option.name) for option in fields(measure)}


@dataclass(frozen=True)
class MeanCosine:
    """SBERT: the mean of all cosines."""

    normalize: Normalize
    floor: ClassVar[float] = -1.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1]."""
        return similarity.mean_cosine(first.vectors, second.vectors)


@dataclass(frozen=True)
class SquaredCosines:
    """Wordset-CKA: the sum of squared cosines."""

    normalize: Normalize
    floor: ClassVar[float] = 0.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """At least 0; up to ``L1 L2`` before normalisation."""
        return similarity.squared_cosines(first.vectors, second.vectors)


@dataclass(frozen=True)
class Greedy:
    """BERTScore, which is also the limit of TRWMD at temperature 0: the best partner's cosine."""

    direction: Direction
    normalize: ClassVar[Normalize] = "none"
    floor: ClassVar[float] = -1.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1], weighted by the weights of the side that is averaged over."""
        cosines = first.vectors @ second.vectors.T
        precision = partial(similarity.greedy, weights=first.weights)
        recall = partial(similarity.greedy, weights=second.weights)
        if self.direction == "precision":
            return precision(cosines)
        if self.direction == "recall":
            return recall(cosines.T)
        return similarity.harmonic(precision(cosines), recall(cosines.T))


@dataclass(frozen=True)
class Relaxed:
    """TRWMD: the mean cosine under a softmax over partners."""

    direction: Direction
    temperature: float
    entropy: bool
    normalize: Normalize
    floor: ClassVar[float] = -1.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1] without entropy."""
        over_rows = partial(similarity.relaxed, temperature=self.temperature, entropy=self.entropy)
        return similarity.directed(over_rows, first.vectors @ second.vectors.T, self.direction)


@dataclass(frozen=True)
class Tempered:
    """TWMD: the mean cosine under a Sinkhorn plan."""

    direction: Direction
    temperature: float
    iterations: int
    entropy: bool
    normalize: Normalize
    floor: ClassVar[float] = -1.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1] without entropy."""
        over_rows = partial(
            similarity.tempered, temperature=self.temperature, iterations=self.iterations, entropy=self.entropy
        )
        return similarity.directed(over_rows, first.vectors @ second.vectors.T, self.direction)


@dataclass(frozen=True)
class Exact:
    """MoverScore as Chen et al. define it, and the limit of TWMD at temperature 0: the best mean cosine of a plan.

    The plan's row and column sums are the two texts' weights. Exact optimal transport, without gradient.
    """

    solver: str = field(default_factory=lambda: f"exact-{library('pot')}")
    normalize: ClassVar[Normalize] = "none"
    floor: ClassVar[float] = -1.0

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1]; the same both ways."""
        costs = (1.0 - first.vectors @ second.vectors.T).numpy()
        cost = exact_cost(first.weights.numpy(), second.weights.numpy(), costs)
        return first.weights.new_tensor(1.0 - cost)
