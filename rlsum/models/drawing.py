"""Tokens from the probabilities of all: drawn in proportion, or the most probable, block by block.

Notation: R rows, V possible tokens.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

BLOCK = 256  # probabilities that are reduced together


def draw(weight: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """Draw ids (R,) in proportion to ``weight`` (R, V), by inverting the cumulative distribution.

    ``uniform`` (R, 1) float64 in [0, 1). Also returns the log-probabilities (R,) of the ids. Only the block that holds
    the point is summed up word by word: a cumulative sum over V words costs more than to score them.
    """
    sums = _of_blocks(weight, torch.sum).double()
    block, share, total = _inverted(sums, uniform)
    ids, inside = _block_ids(block, weight.shape[1])
    weights = weight.gather(1, ids).double().masked_fill(~inside, 0.0)
    position, _, _ = _inverted(weights, share)
    log_prob = weights.gather(1, position).log() - total.log()
    return ids.gather(1, position).squeeze(1), log_prob.squeeze(1).to(weight.dtype)


def _inverted(weight: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The id of a positive weight (R, n) at which the cumulative sum exceeds ``uniform`` (R, 1) of the total.

    Returns it, the share of its own weight that is below this point, and the total, all (R, 1). float64.
    """
    cumulative = weight.cumsum(-1)
    total = cumulative[:, -1:].contiguous()
    point = torch.minimum(uniform * total, torch.nextafter(total, torch.zeros_like(total)))  # rounding gives a total
    ids = torch.searchsorted(cumulative, point, right=True).clamp_(max=weight.shape[1] - 1)
    drawn = weight.gather(1, ids)
    return ids, ((point - cumulative.gather(1, ids) + drawn) / drawn).clamp_(0.0, 1.0), total


def most_probable(p: Tensor) -> Tensor:
    """The id (R,) of the largest of p (R, V), the first of equal ones. A maximum is faster than ``argmax``."""
    block = _of_blocks(p, torch.amax).argmax(-1, keepdim=True)
    ids, _ = _block_ids(block, p.shape[1])  # the last one again behind it
    return ids.gather(1, p.gather(1, ids).argmax(-1, keepdim=True)).squeeze(1)


def _of_blocks(values: Tensor, reduce: Callable[[Tensor, int], Tensor]) -> Tensor:
    """``reduce`` over each block of BLOCK values: (R, V) -> (R, blocks)."""
    whole = values.shape[1] // BLOCK * BLOCK
    blocks = values[:, :whole].unflatten(1, (whole // BLOCK, BLOCK)), values[:, whole:].unsqueeze(1)
    return torch.cat([reduce(block, -1) for block in blocks if block.shape[1:].numel()], 1)


def _block_ids(block: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The ids (R, BLOCK) in a block (R, 1), below ``size``; and whether they are: those behind are the last again."""
    ids = block * BLOCK + torch.arange(min(BLOCK, size), device=block.device)
    return ids.clamp(max=size - 1), ids < size
