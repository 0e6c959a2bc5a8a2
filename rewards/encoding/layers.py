"""The layers that a token's vector is made of. Pure functions on torch tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from rewards.errors import RewardError

if TYPE_CHECKING:
    from torch import Tensor

PAPER_LAYERS = {12: 10, 24: 19}  # Chen et al. 2020, base and large models
LAST, ALL = "last", "all"


@dataclass(frozen=True)
class Layers:
    """Layers ``first`` to ``last`` inclusive (0 is the embeddings); a token's vector is their mean."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    def join(self, hidden: Sequence[Tensor]) -> Tensor:
        """All layers' states, each ``(..., D)`` -> ``(..., D)``."""
        import torch

        if self.first == self.last:
            return hidden[self.last].float()
        return torch.stack([states.float() for states in hidden[self.first : self.last + 1]]).mean(dim=0)


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


def resolved_layers(layer: Layer, depth: int, encoder: str) -> Layers:
    """The layers of an encoder. Raises RewardError for a missing layer."""
    written = written_layers(layer)
    name = str(layer).lower()
    if name == ALL:
        written = 0, depth
    if written is None:
        written = (depth if name == LAST else default_layer(depth),) * 2
    first, last = written
    if last > depth:
        raise RewardError(f"layer={layer}: encoder {encoder!r} has layers 0 (embeddings) to {depth}")
    return Layers(first, last)
