"""The similarity family ``C(X1, X2)`` of Chen et al. 2020, on torch tensors: pure, differentiable, one pair at a time.

``S = X1 X2^T`` is ``(L1, L2)``, the cosines of the candidate's tokens (rows) and the reference's (columns). Precision
averages over candidate tokens, recall over reference tokens, as in BERTScore. Every ``C`` becomes a score by its own
self-scores: ``Sim(X1, X2) = C(X1, X2) / sqrt(C(X1, X1) C(X2, X2))``, so that a text with itself scores 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

Direction = Literal["precision", "recall", "f1"]


def tempered_mover(cosines: Tensor, temperature: float, iterations: int) -> Tensor:
    """TWMD over the rows: the mean over rows of the cosines under a plan after some Sinkhorn iterations.

    The plan starts at ``exp(S / T)``; one iteration normalises columns, then rows, so each row sums to 1 at the end.
    The transport part alone, without the entropy (Chen et al. 2020, Eq. 9 and their code). Returns a scalar.
    """
    log_plan = cosines / temperature
    for _ in range(iterations):
        log_plan = log_plan - log_plan.logsumexp(dim=0, keepdim=True)
        log_plan = log_plan - log_plan.logsumexp(dim=1, keepdim=True)
    return (log_plan.exp() * cosines).sum(dim=1).mean()


def twmd(cosines: Tensor, direction: Direction, temperature: float, iterations: int) -> Tensor:
    """``C`` of TWMD in one direction, or the harmonic mean of both; not yet divided by self-scores."""
    if direction == "precision":
        return tempered_mover(cosines, temperature, iterations)
    if direction == "recall":
        return tempered_mover(cosines.T, temperature, iterations)
    over_rows = tempered_mover(cosines, temperature, iterations)
    return harmonic(over_rows, tempered_mover(cosines.T, temperature, iterations))


def twmd_self(cosines: Tensor, temperature: float, iterations: int) -> Tensor:
    """``C(X, X)`` of TWMD: the same in every direction, because the matrix is symmetric."""
    return tempered_mover(cosines, temperature, iterations)


def harmonic(precision: Tensor, recall: Tensor) -> Tensor:
    """Their harmonic mean; the smaller of the two where one is not positive.

    Centred vectors can give the two opposite signs, where the harmonic mean explodes.
    """
    smaller = precision if precision < recall else recall
    return smaller if smaller <= 0 else 2 * precision * recall / (precision + recall)
