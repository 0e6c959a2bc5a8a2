"""Keys and values of cross-attention, computed once for all rows that share an article.

Notation: B articles, R rows, S source tokens, D numbers of a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@contextmanager
def keys_once(network: PreTrainedModel, states: Tensor, rows: Tensor) -> Iterator[Tensor]:
    """Encoder states (R, S, D) of the articles ``rows`` (R,); states (B, S, D).

    A linear layer that is given this very tensor computes with ``states``, and its outputs are repeated. Other layers,
    and those that are computed again for gradients (checkpointing), see a usual tensor.
    """
    repeated = states[rows]

    def before(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return (states, *inputs[1:]) if inputs and inputs[0] is repeated else None

    def after(_: nn.Module, inputs: tuple[Any, ...], outputs: Tensor) -> Tensor | None:
        return outputs[rows] if inputs and inputs[0] is states else None

    recomputed = any(getattr(module, "gradient_checkpointing", False) for module in network.modules())
    shared = [] if recomputed or len(rows) == len(states) else _linear(network)
    hooks = [hook for m in shared for hook in (m.register_forward_pre_hook(before), m.register_forward_hook(after))]
    try:
        yield repeated
    finally:
        for hook in hooks:
            hook.remove()


def _linear(module: nn.Module) -> list[nn.Module]:
    """Linear layers, with their low-rank updates unless these drop out numbers, which differ between rows."""
    dropouts: Any = getattr(module, "lora_dropout", None)
    if dropouts is not None:
        return [module] if all(isinstance(layer, nn.Identity) for layer in dropouts.values()) else []
    return [module] if isinstance(module, nn.Linear) else [inner for m in module.children() for inner in _linear(m)]
