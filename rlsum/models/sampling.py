"""The distribution that samples are drawn from, and scored under: the model's own, or one that is cut and tempered.

Drawing and scoring call the same functions, so both give a token the same probability.
Notation: R rows, V possible tokens, t tokens so far, T tokens of a target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from rlsum.models.decoding import Decoding, Sampling

BLOCKED = float("-inf")
NEVER = -1e9  # log of "impossible": finite, so that no inf - inf appears in a gradient
SMALLEST = 1e-38  # the smallest probability with a logarithm in float32


class Drawn(NamedTuple):
    """Which targets (R,) bool were sampled, and how: they are scored under the distribution that drew them."""

    rows: Tensor
    sampling: Sampling

    @classmethod
    def all(cls, target: Tensor, sampling: Sampling) -> Drawn:
        """All targets (R, T) were sampled."""
        return cls(torch.ones(len(target), dtype=torch.bool, device=target.device), sampling)


def log_of(p: Tensor) -> Tensor:
    """Log p, NEVER where p is 0; the gradient is finite everywhere."""
    return torch.where(p > 0, p.clamp(min=SMALLEST).log(), NEVER)


def constrained(limits: Sampling | Decoding, t: int) -> bool:
    """Whether ``allowed`` changes anything for token ``t``."""
    return t < limits.min_length or limits.block_ngrams > 0


def allowed(
    log_p: Tensor, ids: Tensor, limits: Sampling | Decoding, ends: Sequence[int], never: Sequence[int] = ()
) -> Tensor:
    """Log p (R, V) after the ids (R, t), -inf for the tokens ``never`` and where minimum length or n-grams forbid one.

    Where no token is left, the ``ends`` are allowed again.
    """
    forbidden = log_p <= NEVER
    forbidden[:, list(never)] = True
    if ids.shape[1] < limits.min_length:
        forbidden[:, list(ends)] = True
    if limits.block_ngrams:
        for row, history in enumerate(ids.tolist()):
            forbidden[row, _completions(history, limits.block_ngrams)] = True
    stuck = forbidden.all(-1)
    for end in ends:
        forbidden[:, end] &= ~stuck
    return log_p.masked_fill(forbidden, BLOCKED)


def log_policy(
    log_p: Tensor, ids: Tensor, sampling: Sampling, ends: Sequence[int], never: Sequence[int] = ()
) -> Tensor:
    """Log-probabilities (R, V) that sample the next token after the ids (R, t), from those of the model."""
    log_p = allowed(log_p, ids, sampling, ends, never) / sampling.temperature
    if 0 < sampling.top_k < log_p.shape[-1]:
        smallest = log_p.topk(sampling.top_k).values[:, -1:]
        log_p = log_p.masked_fill(log_p < smallest, BLOCKED)
    if sampling.top_p < 1:
        p, order = log_p.softmax(-1).sort(-1, descending=True)
        before = p.cumsum(-1) - p  # probability of more probable tokens
        outside = torch.zeros_like(log_p, dtype=torch.bool).scatter(-1, order, before >= sampling.top_p)
        log_p = log_p.masked_fill(outside, BLOCKED)
    return log_p.log_softmax(-1)


def target_log_policy(
    log_p: Callable[[int], Tensor],
    target: Tensor,
    sampling: Sampling,
    ends: Sequence[int],
    never: Sequence[int] = (),
) -> Tensor:
    """Log-probabilities (R, T) of sampled targets; ``log_p(t)`` gives the model's (R, V) for token t.

    Ids below 0 are padding and count as id 0. One step's distribution is in memory at a time: the backward pass
    computes it again.
    """
    words = target.clamp(min=0)

    def at(t: int) -> Tensor:
        log_policies = log_policy(log_p(t), words[:, :t], sampling, ends, never)
        return log_policies.gather(1, words[:, t : t + 1]).squeeze(1)

    steps = range(target.shape[1])
    if not torch.is_grad_enabled():
        return torch.stack([at(t) for t in steps], 1)
    return torch.stack([checkpoint(at, t, use_reentrant=False, preserve_rng_state=False) for t in steps], 1)


def _completions(history: list[int], n: int) -> list[int]:
    """Ids that would repeat an n-gram of ``history``."""
    beginning = history[len(history) - n + 1 :] if n > 1 else []
    return [history[i + n - 1] for i in range(len(history) - n + 1) if history[i : i + n - 1] == beginning]
