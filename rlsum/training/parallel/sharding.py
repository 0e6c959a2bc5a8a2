"""A model with sharded weights (FSDP) and a whole copy of it in every process.

The copy decodes, validates and is saved, so processes do not wait for each other while they decode, and files are the
same as without FSDP.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def whole(tensor: Tensor) -> Tensor:
    """The whole tensor. If it is sharded, every process must call this."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def sharded(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor, sharded like ``like``."""
    if not hasattr(like, "device_mesh"):
        return tensor
    from torch.distributed.tensor import distribute_tensor  # half a second of processor time to import

    return distribute_tensor(tensor, like.device_mesh, like.placements)  # type: ignore[attr-defined]


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
