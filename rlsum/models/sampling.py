"""The distribution that samples are drawn from, and scored under: the model's own, or one that is cut and tempered.

Drawing and scoring call the same functions, so both give a token the same probability.
Notation: R rows, V possible tokens, t tokens so far, T tokens of a target.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from rlsum.models.decoding import Decoding, Sampling

BLOCKED = float("-inf")
NEVER = -1e9  # log of "impossible": finite, so that no inf - inf appears in a gradient
NUCLEUS = 1024  # the most probable tokens, among which top_p looks first: sorting a whole vocabulary takes longer
ROUNDING = 1e-4  # log-probabilities that differ by less may be in another order when they are computed again
LOWEST = -87.0  # log of the smallest float32 with all digits: probabilities below it have lost some, or are 0
DIGITS = 16.0  # log of how small the probabilities that are lost must be together


class NextWords(NamedTuple):
    """Probabilities of the next words.

    p      (R, V) float32
    log_p  rows (n,) -> their log-probabilities (n, V), computed as such: right also where p is 0 or has lost digits
    """

    p: Tensor
    log_p: Callable[[Tensor], Tensor]

    def select(self, first: int, last: int) -> NextWords:
        """Those of some rows, one after the other."""
        return NextWords(self.p[first:last], lambda rows: self.log_p(rows + first))


class Drawn(NamedTuple):
    """Which targets (R,) bool were sampled, and how: they are scored under the distribution that drew them."""

    rows: Tensor
    sampling: Sampling

    @classmethod
    def all(cls, target: Tensor, sampling: Sampling) -> Drawn:
        """All targets (R, T) were sampled."""
        return cls(torch.ones(len(target), dtype=torch.bool, device=target.device), sampling)


def log_scattered(values: Tensor, index: Tensor, size: int) -> Tensor:
    """Log of the sums of exp(values) (n, S) by index (n, S) below ``size``: (n, size), NEVER where there is none."""
    highest = values.new_full((len(values), size), BLOCKED).scatter_reduce(1, index, values.detach(), "amax")
    total = torch.zeros_like(highest).scatter_add(1, index, (values - highest.gather(1, index)).exp())
    return torch.where(total > 0, highest + total.clamp(min=1.0).log(), NEVER)


def lost_below(temperature: float, size: int) -> float:
    """The log-probability that the most probable of ``size`` words must have, or others that count are lost in float32.

    A word of log-probability l has a share exp((l - highest) / temperature) of its weight.
    """
    return LOWEST + max(1.0, temperature) * (DIGITS + math.log(size))


def constrained(limits: Sampling | Decoding, t: int) -> bool:
    """Whether ``allowed`` changes anything for token ``t``."""
    return t < limits.min_length or limits.block_ngrams > 0


def allowed(
    log_p: Tensor,
    ids: Tensor,
    limits: Sampling | Decoding,
    ends: Sequence[int],
    never: Sequence[int] = (),
    exact: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Log p (R, V) after the ids (R, t), -inf for the tokens ``never`` and where minimum length or n-grams forbid one.

    Where no token is left, the ``ends`` are allowed again. ``exact``: of rows (n,), see ``NextWords``; it replaces rows
    in which what is left was lost in float32. None: nothing was.
    """
    forbidden = forbid(log_p <= NEVER / 2, True, ids, limits, ends, never)
    highest = log_p.masked_fill(forbidden, BLOCKED).amax(-1)
    if exact is not None:
        lost = (highest < lost_below(limits.temperature, log_p.shape[1])).nonzero().squeeze(1)
        if len(lost):
            return allowed(log_p.index_put((lost,), exact(lost)), ids, limits, ends, never)
    for end in ends:
        forbidden[:, end] &= highest > BLOCKED
    return log_p.masked_fill(forbidden, BLOCKED)


def forbid(
    words: Tensor, mark: float, ids: Tensor, limits: Sampling | Decoding, ends: Sequence[int], never: Sequence[int]
) -> Tensor:
    """Set ``words`` (R, V) to ``mark`` where ``limits`` forbid them after the ids (R, t); return them."""
    for token in (*never, *(ends if ids.shape[1] < limits.min_length else ())):  # a list would be copied to a GPU
        words[:, token] = mark
    if limits.block_ngrams:
        words[repeats(ids, limits.block_ngrams)] = mark
    return words


def repeats(ids: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Rows and tokens, both (M,): the tokens that would repeat an n-gram of the ids (R, t)."""
    size = ids.shape[1]
    if size < n:
        return ids.new_empty(0), ids.new_empty(0)
    ngrams = ids.unfold(1, n, 1)  # (R, size - n + 1, n)
    begun = (ngrams[:, :, :-1] == ids[:, size - n + 1 :].unsqueeze(1)).all(-1)  # n = 1: all of them
    row, start = begun.nonzero(as_tuple=True)
    return row, ngrams[row, start, -1]


def log_policy(
    log_p: Tensor,
    ids: Tensor,
    sampling: Sampling,
    ends: Sequence[int],
    never: Sequence[int] = (),
    drawn: Tensor | None = None,
    exact: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Log-probabilities (R, V) that sample the next token after the ids (R, t), from those of the model.

    top_k and top_p keep the ids ``drawn`` (R,): a model that has changed since, or another one, would cut elsewhere.
    ``exact``: see ``allowed``.
    """
    log_p = (allowed(log_p, ids, sampling, ends, never, exact) / sampling.temperature).log_softmax(-1)
    if sampling.top_k == 0 and sampling.top_p == 1:
        return log_p
    kept = _kept(log_p.detach(), sampling, drawn)
    return log_p.masked_fill(~kept, BLOCKED).log_softmax(-1)


def _kept(log_p: Tensor, sampling: Sampling, drawn: Tensor | None) -> Tensor:
    """Mask (R, V) of the tokens that top_k and top_p keep, with ``drawn`` (R,). ``log_p`` (R, V) is normalised.

    Of tokens that are equal up to rounding, some are kept: which, rounding decides, but not how many. So the drawn one
    takes the place of the least probable if they are equal.
    """
    size = log_p.shape[1]
    for width in (min(sampling.top_k, size),) if sampling.top_k else (min(NUCLEUS, size), size):
        largest, ids = log_p.topk(width)
        inside = torch.ones_like(ids, dtype=torch.bool)
        if sampling.top_p < 1:
            p = largest.exp()
            enough = sampling.top_p * (p if sampling.top_k else log_p.exp()).sum(-1, keepdim=True)
            inside = p.cumsum(-1) - p < enough  # by the probability of more probable tokens
        if not inside[:, -1].any():
            break
    kept = torch.zeros_like(log_p, dtype=torch.bool).scatter_(1, ids, inside)
    if drawn is not None:
        own, last = drawn.unsqueeze(1), ids.gather(1, inside.sum(-1, keepdim=True) - 1)
        less_probable = log_p.gather(1, own) < log_p.gather(1, last) - ROUNDING
        kept.scatter_(1, last, kept.gather(1, own) | less_probable).scatter_(1, own, True)
    return kept


def target_log_policy(
    log_p: Callable[[int], Tensor], target: Tensor, sampling: Sampling, ends: Sequence[int], never: Sequence[int] = ()
) -> Tensor:
    """Log-probabilities (R, T) of sampled targets; ``log_p(t)`` gives the model's (R, V) for token t.

    Ids below 0 are padding and count as id 0. One step's distribution is in memory at a time: the backward pass
    computes it again.
    """
    words = target.clamp(min=0)

    def at(t: int) -> Tensor:
        log_policies = log_policy(log_p(t), words[:, :t], sampling, ends, never, words[:, t])
        return log_policies.gather(1, words[:, t : t + 1]).squeeze(1).clamp(min=NEVER)

    steps = range(target.shape[1])
    if not torch.is_grad_enabled():
        return torch.stack([at(t) for t in steps], 1)
    return torch.stack([checkpoint(at, t, use_reentrant=False, preserve_rng_state=False) for t in steps], 1)
