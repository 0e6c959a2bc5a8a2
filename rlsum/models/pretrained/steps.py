"""Texts token by token, without a wait for a GPU but to look, every few steps, for texts that have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from rlsum.models.execution import execution
from rlsum.models.pretrained.prefix_attention import wide

FULL = 0.75  # share of texts without an end at which the others leave the computation
Choose = Callable[[Tensor, Tensor], Tensor]  # ids so far (R, t), logits (R, V) float32 or wider -> the next ids (R,)


class Steps(Protocol):
    """A network that extends r texts."""

    def next(self, ids: Tensor, place: int) -> Tensor:
        """Logits (r, V) behind texts whose last ids (r,) stand at a place, from 0. The next call overwrites them."""

    def keep(self, going: Tensor) -> bool:
        """Go on with some texts alone, by number, if that is possible."""


@torch.no_grad()
def decode(
    steps: Steps, first: Tensor, choose: Choose, max_length: int, ends: Sequence[int], pad: int, start: int = 0
) -> Tensor:
    """Ids (R, L), ``pad`` behind each end, from the logits (R, V) of first ids.

    It stops at ``max_length`` ids, or when every text has one of the ``ends``, on a GPU some steps later; logits behind
    an end mean nothing. ``start``: the place of the first ids.
    """
    rows, device = len(first), first.device
    scores, ids = first, torch.empty(rows, 0, dtype=torch.long, device=device)
    ended, looks = torch.zeros(rows, dtype=torch.bool, device=device), execution(device).steps_between_looks
    stops, read_on = torch.tensor(list(ends), device=device), torch.arange(rows, device=device)
    longest = ended.new_zeros((), dtype=torch.long)
    while True:
        longest += ~ended.all()
        chosen = choose(ids, wide(scores)).masked_fill(ended, pad)
        ids, ended = torch.cat([ids, chosen.unsqueeze(1)], 1), ended | torch.isin(chosen, stops)
        if ids.shape[1] == max_length:
            break
        if ids.shape[1] % looks == 0:
            going = (~ended[read_on]).nonzero().squeeze(1)
            if not len(going):
                break
            if len(going) <= FULL * len(read_on) and steps.keep(going):
                read_on = read_on[going]
        after = steps.next(chosen[read_on], start + ids.shape[1] - 1)
        scores = after if len(after) == rows else after.new_zeros(scores.shape).index_copy(0, read_on, after)
    return ids[:, : int(longest)]
