"""The similarity family on many pairs at once, in padded batches: the formulas of ``similarity``, pure.

Padding never enters a number: it carries no weight, and no maximum, sum or softmax sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewards.embedding.measures import Points

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Cosines:
    """The cosines of ``n`` pairs, one way: averages go over the rows.

    ``values`` ``(n, L1, L2)``, 0 at padding; ``rows`` ``(n, L1)`` and ``columns`` ``(n, L2)`` are True where a token
    is; ``weights`` ``(n, L1)`` of the rows sum to 1 and are 0 at padding. All float64 or bool.
    """

    values: Tensor
    rows: Tensor
    columns: Tensor
    weights: Tensor


def both_ways(first: Sequence[Points], second: Sequence[Points]) -> tuple[Cosines, Cosines]:
    """The cosines of pair ``i``, ``first[i]`` with ``second[i]``: rows are the first's tokens, then the second's."""
    from torch.nn.utils.rnn import pad_sequence

    vectors, weights, kept = [], [], []
    for side in (first, second):
        vectors.append(pad_sequence([each.vectors for each in side], batch_first=True))
        weights.append(pad_sequence([each.weights for each in side], batch_first=True))
        kept.append(pad_sequence([each.weights.new_ones(len(each.weights)) for each in side], batch_first=True) > 0)
    values = vectors[0] @ vectors[1].transpose(1, 2)
    over_first = Cosines(values, kept[0], kept[1], weights[0])
    return over_first, Cosines(values.transpose(1, 2), kept[1], kept[0], weights[1])


def mean_cosine(cosines: Cosines) -> Tensor:
    """``C`` of SBERT, ``(n,)``."""
    return cosines.values.sum(dim=(1, 2)) / (cosines.rows.sum(dim=1) * cosines.columns.sum(dim=1))


def squared_cosines(cosines: Cosines) -> Tensor:
    """``C`` of CKA, ``(n,)``."""
    return cosines.values.square().sum(dim=(1, 2))


def greedy(cosines: Cosines) -> Tensor:
    """``C`` of BERTScore over rows, ``(n,)``."""
    best = _without(cosines.values, ~cosines.columns[:, None, :]).amax(dim=2)
    return (best * cosines.weights).sum(dim=1)


def relaxed(cosines: Cosines, temperature: float, entropy: bool = False) -> Tensor:
    """``C`` of TRWMD over rows, ``(n,)``."""
    return _plan_value(cosines, cosines.values / temperature, temperature, entropy)


def tempered(cosines: Cosines, temperature: float, iterations: int = 1, entropy: bool = False) -> Tensor:
    """``C`` of TWMD over rows, ``(n,)``."""
    logits = cosines.values / temperature
    rows, columns = ~cosines.rows[:, :, None], ~cosines.columns[:, None, :]
    shifted = logits
    for iteration in range(iterations):
        if iteration:
            shifted = logits - _log_sums(shifted, columns, 2)
        shifted = logits - _log_sums(shifted, rows, 1)
    return _plan_value(cosines, shifted, temperature, entropy)


def harmonic(precision: Tensor, recall: Tensor) -> Tensor:
    """Harmonic means ``(n,)``; the smaller of the two where one is not positive."""
    import torch

    smaller = torch.minimum(precision, recall)
    return torch.where(smaller <= 0, smaller, 2 * precision * recall / (precision + recall))


def _plan_value(cosines: Cosines, logits: Tensor, temperature: float, entropy: bool) -> Tensor:
    """The mean over rows of ``sum_j w_ij S_ij``, ``w = softmax_j(logits)``, and of ``T H(w)`` if asked."""
    plan = _without(logits, ~cosines.columns[:, None, :]).softmax(dim=2)
    gain = (plan * cosines.values).sum(dim=2)
    if entropy:
        gain = gain - temperature * plan.xlogy(plan).sum(dim=2)
    return (gain * cosines.rows).sum(dim=1) / cosines.rows.sum(dim=1)


def _log_sums(logits: Tensor, padding: Tensor, axis: int) -> Tensor:
    """``log sum exp`` along an axis that stays, without padding; whatever stands for padded lines is never read."""
    return _without(logits, padding).logsumexp(dim=axis, keepdim=True)


def _without(values: Tensor, padding: Tensor) -> Tensor:
    return values.masked_fill(padding, float("-inf"))
