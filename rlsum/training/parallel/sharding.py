"""A model whose weights are spread over the processes (FSDP), and the whole one beside it.

The whole one decodes, is validated and saved: then no process waits for another in the middle of a text, and all that
is written is as without FSDP.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor. Where it is sharded, every process must ask."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def sharded(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor, spread as ``like`` is."""
    return distribute_tensor(tensor, like.device_mesh, like.placements) if isinstance(like, DTensor) else tensor


@torch.no_grad()
def gather(model: nn.Module, trained: nn.Module) -> None:
    """Give a whole model the weights of the sharded one."""
    for own, spread in zip(model.parameters(), trained.parameters(), strict=True):
        own.copy_(whole(spread))


@torch.no_grad()
def scatter(model: nn.Module, trained: nn.Module) -> None:
    """Give a sharded model the weights of the whole one."""
    for own, spread in zip(model.parameters(), trained.parameters(), strict=True):
        spread.copy_(sharded(own, spread))
