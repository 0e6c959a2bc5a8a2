"""Random weights that are the same on every machine: torch's own depend on the processor's vector instructions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch


def draw_normal(parameters: Iterable[tuple[torch.Tensor, float]], seed: int) -> None:
    """Fill each parameter with normal numbers of its standard deviation."""
    draw = np.random.default_rng(seed)
    with torch.no_grad():
        for parameter, std in parameters:
            parameter.copy_(torch.from_numpy(draw.normal(scale=std, size=tuple(parameter.shape))))
