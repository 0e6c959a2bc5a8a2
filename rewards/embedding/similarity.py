"""The similarity family ``C(X1, X2)`` of Chen et al. 2020, on torch tensors: pure, one pair at a time, so no padding.

``X1 (L1, D)`` and ``X2 (L2, D)`` are unit vectors, ``S = X1 X2^T (L1, L2)`` their cosines: rows are the candidate's
tokens, columns the reference's. Precision averages over rows, recall over columns, as in BERTScore. Every ``C`` becomes
a score by its own self-scores, ``Sim(X1, X2) = C(X1, X2) / sqrt(C(X1, X1) C(X2, X2))``, so that a text with itself
scores 1. All but the exact transport pass gradients on to the vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

Direction = Literal["precision", "recall", "f1"]

BLOCK = 2**22  # entries worked on at once: two texts of 10,000 words make 10^8


def mean_cosine(first: Tensor, second: Tensor) -> Tensor:
    """``C`` of SBERT: the mean of all cosines, which is the product of the mean vectors. A scalar in [-1, 1]."""
    return first.mean(dim=0) @ second.mean(dim=0)


def squared_cosines(first: Tensor, second: Tensor) -> Tensor:
    """``C`` of Wordset-CKA: the sum of all squared cosines, ``>= 0`` (Chen et al. 2020, section 3)."""
    if len(first) * len(second) > first.shape[1] ** 2:  # the same sum by (D, D) products: long texts
        return ((first.T @ first) * (second.T @ second)).sum()
    return (first @ second.T).square().sum()


def greedy(cosines: Tensor, weights: Tensor) -> Tensor:
    """``C`` of BERTScore over rows: each row's best cosine, averaged by ``weights`` ``(L1,)``, which sum to 1."""
    return weights @ cosines.max(dim=1).values


def relaxed(cosines: Tensor, temperature: float, entropy: bool = False) -> Tensor:
    """``C`` of TRWMD over rows: the mean cosine under ``softmax_j(S_ij / T)``, in [-1, 1].

    With ``entropy`` the optimum of the tempered problem itself, ``T/L1 sum_i log sum_j exp(S_ij / T)`` (Chen et al.
    2020, Eq. 7); the authors' code scores the transport alone.
    """
    return _plan_value(cosines, cosines.new_zeros(cosines.shape[1]), temperature, entropy)


def tempered(cosines: Tensor, temperature: float, iterations: int = 1, entropy: bool = False) -> Tensor:
    """``C`` of TWMD over rows: the mean cosine under the plan after some Sinkhorn iterations, in [-1, 1].

    The plan starts at ``exp(S / T)``; one iteration normalises columns, then rows, so each row sums to 1 at the end
    (Chen et al. 2020, Eq. 6, with the sign of their code). ``entropy`` adds ``T`` times the rows' mean entropy.
    """
    by_row, by_column = cosines.new_zeros(cosines.shape[0]), cosines.new_zeros(cosines.shape[1])
    for iteration in range(iterations):
        if iteration:
            by_row = _log_sums(cosines, by_column, temperature)
        by_column = _log_sums(cosines.T, by_row, temperature)
    return _plan_value(cosines, by_column, temperature, entropy)


def directed(over_rows: Callable[[Tensor], Tensor], cosines: Tensor, direction: Direction) -> Tensor:
    """``over_rows`` of ``S`` (precision), of its transpose (recall), or the harmonic mean of both."""
    if direction == "precision":
        return over_rows(cosines)
    if direction == "recall":
        return over_rows(cosines.T)
    return harmonic(over_rows(cosines), over_rows(cosines.T))


def harmonic(precision: Tensor, recall: Tensor) -> Tensor:
    """Their harmonic mean; the smaller of the two where one is not positive.

    Centred vectors can give the two opposite signs, where the harmonic mean explodes.
    """
    smaller = precision if precision < recall else recall
    return smaller if smaller <= 0 else 2 * precision * recall / (precision + recall)


def _plan_value(cosines: Tensor, by_column: Tensor, temperature: float, entropy: bool) -> Tensor:
    """The mean over rows of ``sum_j w_ij S_ij``, ``w = softmax_j(S / T - by_column)``, and of ``T H(w)`` if asked."""
    total = cosines.new_zeros(())
    for rows in _blocks(cosines):
        log_plan = (rows / temperature - by_column).log_softmax(dim=1)
        gain = rows - temperature * log_plan if entropy else rows
        total = total + (log_plan.exp() * gain).sum()
    return total / len(cosines)


def _log_sums(cosines: Tensor, by_column: Tensor, temperature: float) -> Tensor:
    """Per row ``log sum_j exp(S_ij / T - by_column_j)``, ``(L1,)``."""
    import torch

    return torch.cat([(rows / temperature - by_column).logsumexp(dim=1) for rows in _blocks(cosines)])


def _blocks(cosines: Tensor) -> tuple[Tensor, ...]:
    """Rows in runs of at most ``BLOCK`` entries: one run, unless both texts are very long."""
    return cosines.split(max(1, BLOCK // cosines.shape[1]))
