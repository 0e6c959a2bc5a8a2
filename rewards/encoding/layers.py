"""The layers that a token's vector is made of. Pure functions on torch tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from rewards.errors import RewardError

if TYPE_CHECKING:
    from torch import Tensor

Pool = Literal["mean", "power"]  # power: the power means of order -inf, 1 and inf, side by side

PAPER_LAYERS = {12: 10, 24: 19}  # Chen et al. 2020, base and large models
LAST, ALL = "last", "all"
POWER = 5  # Zhao et al. 2019 pool the last five


@dataclass(frozen=True)
class Layers:
    """Layers ``first`` to ``last`` inclusive (0 is the embeddings), pooled into one vector per token."""

    first: int
    last: int
    pool: Pool = "mean"

    def __str__(self) -> str:
        numbers = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        return numbers if self.pool == "mean" else f"{numbers}-power"

    def join(self, hidden: Sequence[Tensor]) -> Tensor:
        """All layers' states, each ``(..., D)`` -> ``(..., D)``, or ``(..., 3 D)`` by power means."""
        import torch

        if self.first == self.last and self.pool == "mean":
            return hidden[self.last].float()
        stacked = torch.stack([states.float() for states in hidden[self.first : self.last + 1]])
        if self.pool == "mean":
            return stacked.mean(dim=0)
        stacked = torch.nn.functional.normalize(stacked, dim=-1)
        return torch.cat([stacked.amin(dim=0), stacked.mean(dim=0), stacked.amax(dim=0)], dim=-1)


def written_layers(layer: int | str | None) -> tuple[int, int] | None:
    """``5`` -> (5, 5), ``"4-6"`` -> (4, 6); None, ``"last"`` and ``"all"`` -> None. Raises RewardError otherwise."""
    if layer is None or str(layer).lower() in ("none", "", LAST, ALL):
        return None
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", str(layer))
    if match is None or isinstance(layer, bool):
        raise RewardError(f"layer={layer!r}: give a whole number or last, or for a mean all or a range such as 4-6")
    first = int(match[1])
    last = int(match[2] or first)
    if last < first:
        raise RewardError(f"layer={layer!r}: the range is reversed; write {last}-{first}")
    return first, last


# A number, "4-6" for the mean of layers 4 to 6, "all" for the mean of all, "last", or None for the default.
Layer = Annotated[int | str | None, written_layers]


def default_layer(depth: int) -> int:
    """The layer by default: 10 of 12 and 19 of 24 (Chen et al. 2020), else at 5/6 of the depth."""
    return PAPER_LAYERS.get(depth, max(1, round(depth * 5 / 6)))


def resolved_layers(layer: Layer, pool: Pool, depth: int, encoder: str) -> Layers:
    """The layers of an encoder; by default the last five for power means. Raises RewardError for a missing layer."""
    written = written_layers(layer)
    name = str(layer).lower()
    if name == ALL:
        written = 0, depth
    if written is None and pool == "power" and name != LAST:
        written = max(0, depth - POWER + 1), depth
    if written is None:
        written = (depth if name == LAST else default_layer(depth),) * 2
    first, last = written
    if last > depth:
        raise RewardError(f"layer={layer}: encoder {encoder!r} has layers 0 (embeddings) to {depth}")
    return Layers(first, last, pool)
