"""A module's tensors as files hold them."""

from __future__ import annotations

from torch import Tensor, nn


def own_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers, each once: those that share memory, as tied embeddings do, by their first name."""
    seen: set[int] = set()
    own = {}
    for name, tensor in module.state_dict().items():
        memory = tensor.data_ptr()
        if memory not in seen or not tensor.numel():
            own[name] = tensor
        seen.add(memory)
    return own
