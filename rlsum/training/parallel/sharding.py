"""A model with sharded weights (FSDP) and a whole copy of it in every process.

The copy decodes, validates and is saved, so processes do not wait for each other while they decode, and files are the
same as without FSDP.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor


def whole(tensor: Tensor) -> Tensor:
    """The whole tensor. If it is sharded, every process must call this."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def sharded(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor, sharded like ``like``."""
    return distribute_tensor(tensor, like.device_mesh, like.placements) if isinstance(like, DTensor) else tensor


@torch.no_grad()
def gather(model: nn.Module, trained: nn.Module) -> None:
    """Copy the weights of the sharded model ``trained`` into the whole ``model``."""
    for parameter, shard in zip(model.parameters(), trained.parameters(), strict=True):
        parameter.copy_(whole(shard))


@torch.no_grad()
def scatter(model: nn.Module, trained: nn.Module) -> None:
    """Copy the weights of the whole ``model`` into the sharded one, ``trained``."""
    for parameter, shard in zip(model.parameters(), trained.parameters(), strict=True):
        shard.copy_(sharded(parameter, shard))
