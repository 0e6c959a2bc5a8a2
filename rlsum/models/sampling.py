"""The distribution that samples are drawn from, and scored under: the model's own, or one that is cut and tempered.

Drawing and scoring call the same functions, so both give a token the same probability.
Notation: N places, each behind some tokens of a text; V possible tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from rlsum.models.constraints import Forbidden
from rlsum.models.decoding import Sampling
from rlsum.models.execution import execution

BLOCKED = float("-inf")
NEVER = -1e9  # log of "impossible": finite, so that no inf - inf appears in a gradient
BLOCK = 2**21  # numbers of distributions that are computed together
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


def lost_below(temperature: float, size: int) -> float:
    """The log-probability that the most probable of ``size`` words must have, or others that count are lost in float32.

    A word of log-probability l has a share exp((l - highest) / temperature) of its weight.
    """
    return LOWEST + max(1.0, temperature) * (DIGITS + math.log(size))


def allowed(
    log_p: Tensor, forbidden: Forbidden, temperature: float = 1.0, exact: Callable[[Tensor], Tensor] | None = None
) -> Tensor:
    """Log p (N, V), -inf for what is ``forbidden``. Where no token is left, the ends are allowed again.

    ``exact``: of rows (n,), see ``NextWords``; it replaces rows in which what is left was lost in float32, at this
    temperature. None: nothing was.
    """
    impossible = forbidden.mark(log_p <= NEVER / 2, True)
    highest = log_p.masked_fill(impossible, BLOCKED).amax(-1)
    if exact is not None:
        again = recomputed(log_p, highest < lost_below(temperature, log_p.shape[1]), exact)
        if again is not log_p:
            return allowed(again, forbidden)
    for end in forbidden.ends:
        impossible[:, end] &= highest > BLOCKED
    return log_p.masked_fill(impossible, BLOCKED)


def recomputed(values: Tensor, lost: Tensor, exact: Callable[[Tensor], Tensor]) -> Tensor:
    """Values (N, V) with the rows that are ``lost`` (N,) from ``exact``, rows (n,) -> (n, V); itself if none is."""
    if not execution(values.device).looks_for_lost:
        return torch.where(lost.unsqueeze(1), exact(torch.arange(len(values), device=values.device)), values)
    rows = lost.nonzero().squeeze(1)
    return values.index_put((rows,), exact(rows)) if len(rows) else values


def log_policy(
    log_p: Tensor,
    forbidden: Forbidden,
    sampling: Sampling,
    drawn: Tensor | None = None,
    exact: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Log-probabilities (N, V) that sample the next token, from those of the model.

    top_k and top_p keep the ids ``drawn`` (N,): a model that has changed since, or another one, would cut elsewhere.
    ``exact``: see ``allowed``.
    """
    log_p = (allowed(log_p, forbidden, sampling.temperature, exact) / sampling.temperature).log_softmax(-1)
    if not sampling.cuts:
        return log_p
    kept = _kept(log_p.detach(), sampling, drawn)
    return log_p.masked_fill(~kept, BLOCKED).log_softmax(-1)


def _kept(log_p: Tensor, sampling: Sampling, drawn: Tensor | None) -> Tensor:
    """Mask (R, V) of the tokens that top_k and top_p keep, with ``drawn`` (R,). ``log_p`` (R, V) is normalised.

    Of tokens that are equal up to rounding, some are kept: which, rounding decides, but not how many. So the drawn one
    takes the place of the least probable if they are equal.
    """
    size, looks = log_p.shape[1], execution(log_p.device).steps_between_looks == 1
    widths = [min(NUCLEUS, size), size] if looks else [size]  # to look whether the first is enough waits for a GPU
    for width in [min(sampling.top_k, size)] if sampling.top_k else widths:
        largest, ids = log_p.topk(width)
        inside = torch.ones_like(ids, dtype=torch.bool)
        if sampling.top_p < 1:
            p = largest.exp()
            enough = sampling.top_p * (p if sampling.top_k else log_p.exp()).sum(-1, keepdim=True)
            inside = p.cumsum(-1) - p < enough  # by the probability of more probable tokens
        if width == widths[-1] or sampling.top_k or not inside[:, -1].any():
            break
    kept = torch.zeros_like(log_p, dtype=torch.bool).scatter_(1, ids, inside)
    if drawn is not None:
        place, last = drawn.unsqueeze(1), ids.gather(1, inside.sum(-1, keepdim=True) - 1)
        less_probable = log_p.gather(1, place) < log_p.gather(1, last) - ROUNDING
        kept.scatter_(1, last, kept.gather(1, place) | less_probable).scatter_(1, place, True)
    return kept


class Drawing(NamedTuple):
    """How N tokens were drawn: ``targets`` (N,), what was drawn, and what could not be."""

    sampling: Sampling
    targets: Tensor
    forbidden: Forbidden

    def log_prob(self, log_p: Callable[[Tensor], Tensor], some: Tensor, width: int) -> Tensor:
        """Log-probabilities (n,) of ``some`` of the tokens under the distribution that drew them, at least NEVER.

        ``log_p`` gives those of the model, rows (m,) -> (m, ``width``). One block of rows is in memory at a time: the
        backward pass computes it again.
        """

        def scored(rows: Tensor) -> Tensor:
            targets, forbidden = self.targets[rows], self.forbidden.select(rows)
            log_policies = log_policy(log_p(rows), forbidden, self.sampling, targets)
            return log_policies.gather(1, targets.unsqueeze(1)).squeeze(1).clamp(min=NEVER)

        def block(rows: Tensor) -> Tensor:
            if not torch.is_grad_enabled():
                return scored(rows)
            again: Tensor = checkpoint(scored, rows, use_reentrant=False, preserve_rng_state=False)
            return again

        return torch.cat([block(rows) for rows in some.split(BLOCK // width or 1)])
