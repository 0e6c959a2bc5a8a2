"""The similarity family ``C(X1, X2)`` of Chen et al. 2020 on torch tensors, of one pair or of many (``batches.py``).

``X1 (L1, D)`` and ``X2 (L2, D)`` are unit vectors and ``S = X1 X2^T (L1, L2)`` their cosines. Rows are the candidate's
tokens, columns the reference's: precision averages over rows, recall over columns, as in BERTScore. Self-normalisation
``Sim(X1, X2) = C(X1, X2) / sqrt(C(X1, X1) C(X2, X2))`` gives a text compared with itself the score 1. All formulas but
exact transport pass gradients to the vectors, and compare batches ``(B, L, D)`` pair by pair.

A ``Measure`` is such a formula with its options bound. Its fields are its options; the signature names them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Literal

from rewards.scoring import Direction, library
from rewards.transport import exact_cost

if TYPE_CHECKING:
    from torch import Tensor

SelfNormalization = Literal["self", "none"]  # self: divide by the roots of both self-scores

BLOCK = 2**22  # entries processed at once: two texts of 10,000 words have 10^8
HIDDEN = -1e30  # the cosine of a token with padding: its share in a plan is 0, and no sum of such is infinite


@dataclass(frozen=True, eq=False)
class Points:
    """One text to compare: ``vectors`` ``(L, D)`` of unit length and ``weights`` ``(L,)`` summing to 1, float64.

    Of many texts ``(B, L, D)`` and ``(B, L)`` with zeros at the end of the shorter, where ``mask`` ``(B, L)`` is false.
    """

    vectors: Tensor
    weights: Tensor
    mask: Tensor | None = None


@dataclass(frozen=True)
class Measure(ABC):
    """``C(X1, X2)`` with its options bound.

    ``normalize``: ``self`` if the reward divides by self-scores, ``none`` also where a self-score is always 1.
    ``floor``: the score of a candidate with nothing to compare, the least possible ``C``. ``differentiable``: it has a
    gradient and compares batches.
    """

    normalize = "none"
    floor = -1.0
    differentiable = True

    @property
    def bounded(self) -> bool:
        """Whether no score is above 1 but by rounding."""
        return True

    @abstractmethod
    def __call__(self, first: Points, second: Points) -> Tensor:
        """``C`` as a scalar, of many pairs ``(B,)``."""


def cosines_of(first: Points, second: Points) -> Tensor:
    """``S`` ``(..., L1, L2)``, ``HIDDEN`` where a token is padding."""
    cosines = first.vectors @ second.vectors.mT
    if first.mask is None or second.mask is None:
        return cosines
    return cosines.masked_fill(~(first.mask.unsqueeze(-1) & second.mask.unsqueeze(-2)), HIDDEN)


def options(measure: Measure) -> dict[str, object]:
    """The options of a measure by name, for the signature; without those that are None."""
    values = {option.name: getattr(measure, option.name) for option in fields(measure)}
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class MeanCosine(Measure):
    """SBERT: the mean of all cosines, which is the product of the mean vectors."""

    normalize: SelfNormalization

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1]."""
        return (_mean(first) * _mean(second)).sum(dim=-1)


@dataclass(frozen=True)
class SquaredCosines(Measure):
    """Wordset-CKA: the sum of squared cosines (Chen et al. 2020, section 3)."""

    normalize: SelfNormalization
    floor = 0.0

    @property
    def bounded(self) -> bool:
        """See ``Measure``."""
        return self.normalize == "self"

    def __call__(self, first: Points, second: Points) -> Tensor:
        """At least 0; up to ``L1 L2`` before normalisation."""
        a, b = first.vectors, second.vectors
        if a.shape[-2] * b.shape[-2] > a.shape[-1] ** 2:  # the same sum by (D, D) products: long texts
            return ((a.mT @ a) * (b.mT @ b)).sum(dim=(-2, -1))
        return (a @ b.mT).square().sum(dim=(-2, -1))


@dataclass(frozen=True)
class Greedy(Measure):
    """BERTScore, also the limit of TRWMD at temperature 0: the cosine of each token's best partner."""

    direction: Direction

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1], weighted by the weights of the side that is averaged over."""
        return directed(greedy, cosines_of(first, second), self.direction, (first.weights, second.weights))


@dataclass(frozen=True)
class Tempered(Measure):
    """TWMD: the mean cosine under a Sinkhorn plan; TRWMD, with None: under a softmax over partners."""

    direction: Direction
    temperature: float
    iterations: int | None
    entropy: bool
    normalize: SelfNormalization
    bounded = False

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1] without entropy."""
        iterations = self.iterations or 0
        over_rows = partial(tempered, temperature=self.temperature, iterations=iterations, entropy=self.entropy)
        return directed(over_rows, cosines_of(first, second), self.direction, (first.weights, second.weights))


@dataclass(frozen=True)
class Exact(Measure):
    """MoverScore as Chen et al. define it, also TWMD's limit at temperature 0: the best mean cosine of a plan."""

    solver: str = field(default_factory=lambda: f"exact-{library('pot')}")
    differentiable = False

    def __call__(self, first: Points, second: Points) -> Tensor:
        """In [-1, 1], of one pair; the same in both directions."""
        costs = (1.0 - first.vectors @ second.vectors.T).cpu().numpy()
        cost = exact_cost(first.weights.cpu().numpy(), second.weights.cpu().numpy(), costs)
        return first.weights.new_full((), 1.0 - cost)


def greedy(cosines: Tensor, weights: Tensor) -> Tensor:
    """``C`` of BERTScore over rows: each row's best cosine, averaged by ``weights`` ``(L1,)``, which sum to 1."""
    return (weights * cosines.max(dim=-1).values).sum(dim=-1)


def tempered(
    cosines: Tensor, temperature: float, iterations: int = 1, entropy: bool = False, weights: Tensor | None = None
) -> Tensor:
    """``C`` of TWMD over rows: the mean cosine under the plan after some Sinkhorn iterations, in [-1, 1].

    The plan starts at ``exp(S / T)``. One iteration normalises columns, then rows, so each row sums to 1 at the end
    (Chen et al. 2020, Eq. 6, with the sign of their code). ``entropy`` adds ``T`` times the rows' mean entropy.
    ``weights`` ``(..., L1)`` of rows: even, and 0 for padding; without, all rows count.

    With no iteration this is TRWMD, ``softmax_j(S_ij / T)``, and with ``entropy`` the optimum of the tempered problem,
    ``T/L1 sum_i log sum_j exp(S_ij / T)`` (Eq. 7); the authors' code scores the transport alone.
    """
    import torch

    by_row, by_column = cosines.new_zeros(cosines.shape[:-1]), cosines.new_zeros(cosines.mT.shape[:-1])
    for iteration in range(iterations):
        if iteration:
            by_row = _log_sums(cosines, by_column, temperature)
        by_column = _log_sums(cosines.mT, by_row, temperature)
    gains = []
    for rows in _blocks(cosines):
        log_plan = (rows / temperature - by_column.unsqueeze(-2)).log_softmax(dim=-1)
        gain = rows - temperature * log_plan if entropy else rows
        gains.append((log_plan.exp() * gain).sum(dim=-1))
    by_rows = torch.cat(gains, dim=-1)
    return by_rows.mean(dim=-1) if weights is None else (weights * by_rows).sum(dim=-1)


def directed(
    over_rows: Callable[..., Tensor],
    cosines: Tensor,
    direction: Direction,
    weights: tuple[Tensor | None, Tensor | None] = (None, None),
) -> Tensor:
    """``over_rows`` of ``S`` (precision), of its transpose (recall), or the harmonic mean of both.

    ``weights``: of rows and columns.
    """
    if direction == "precision":
        return over_rows(cosines, weights=weights[0])
    if direction == "recall":
        return over_rows(cosines.mT, weights=weights[1])
    return harmonic(over_rows(cosines, weights=weights[0]), over_rows(cosines.mT, weights=weights[1]))


def harmonic(precision: Tensor, recall: Tensor) -> Tensor:
    """Their harmonic mean; the smaller where one is not positive, as with centred vectors, where it diverges."""
    smaller = precision.where(precision < recall, recall)
    total = (precision + recall).where(smaller > 0, 1.0)  # a division by 0 would make the gradient NaN
    return smaller.where(smaller <= 0, 2 * precision * recall / total)


def _log_sums(cosines: Tensor, by_column: Tensor, temperature: float) -> Tensor:
    """Per row ``log sum_j exp(S_ij / T - by_column_j)``, ``(..., L1)``; of padding so that it stays hidden."""
    import torch

    columns = by_column.unsqueeze(-2)
    sums = torch.cat([(rows / temperature - columns).logsumexp(dim=-1) for rows in _blocks(cosines)], dim=-1)
    return sums.clamp_min(HIDDEN / temperature / 2)


def _blocks(cosines: Tensor) -> tuple[Tensor, ...]:
    return cosines.split(max(1, BLOCK * cosines.shape[-2] // cosines.numel()), dim=-2)


def _mean(points: Points) -> Tensor:
    if points.mask is None:
        return points.vectors.mean(dim=-2)
    return points.vectors.sum(dim=-2) / points.mask.sum(dim=-1, keepdim=True)
