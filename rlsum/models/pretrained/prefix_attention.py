"""Attention over two sets of keys, those of an article and those of a summary, put into networks of transformers.

Samples share the keys of their article, which are read once (Prefix Grouper, arXiv 2506.05433). Attention over either
set gives an output and the logarithm of its sum of exponentials, from which that over both follows.

Notation: A attentions side by side, H heads, G heads that share a key, N queries, K keys, D numbers of a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

NAME = "rlsum_article_once"  # of the attention in transformers


class Attend(Protocol):
    """The attention of one layer over tokens that lie in one row."""

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """Outputs (1, N, H, D) of queries (1, H, N, D), keys and values (1, H / G, N, D)."""
        ...


_current: ContextVar[Attend] = ContextVar("attend")


# ---- what a network needs -----------------------------------------------------------------------------------------


def refusal(config: PreTrainedConfig, longest: int) -> str | None:
    """Why a network cannot read an article once for all of its samples; None if it can.

    ``longest`` is the most tokens that an article and a summary have together. Every token must attend to all tokens
    before it, and to nothing else. Layers with states, convolutions or chunks do otherwise, as do windows that are
    shorter than the text.
    """
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return f"{config.model_type} is no decoder-only model"
    network, text = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)], config.get_text_config()
    if getattr(network, "_is_stateful", False):
        return f"{config.model_type} carries a state from token to token"
    if not getattr(network, "_supports_attention_backend", False):
        return f"the attention of {config.model_type} cannot be replaced in transformers"
    if not network._supports_sdpa or getattr(text, "attn_logit_softcapping", None):
        return f"{config.model_type} changes the scores of attention (softcapping, sinks)"
    if not getattr(text, "is_causal", True) or getattr(text, "use_bidirectional_attention", False):
        return f"tokens of {config.model_type} attend to later ones"
    window = getattr(text, "sliding_window", None) if getattr(text, "use_sliding_window", True) else None
    kinds = getattr(text, "layer_types", None) or ["sliding_attention" if window else "full_attention"]
    if others := sorted({*kinds} - {"full_attention", "sliding_attention"}):
        return f"{config.model_type} has layers of {', '.join(others)}"
    if "sliding_attention" in kinds and (window is None or window < longest):
        return f"{config.model_type} attends to {window} tokens, fewer than the {longest} of an article and a summary"
    return _stretched(text, longest)


def _stretched(text: PreTrainedConfig, longest: int) -> str | None:
    """Positions that depend on the length of the whole text."""
    rope = getattr(text, "rope_parameters", None) or {}
    for options in [rope, *(inner for inner in rope.values() if isinstance(inner, dict))]:
        usual = options.get("original_max_position_embeddings") or text.max_position_embeddings
        if options.get("rope_type") in ("dynamic", "longrope") and longest > usual:
            return f"positions of {text.model_type} change with texts of more than {usual} tokens; this has {longest}"
    return None


def check_dropout(network: PreTrainedModel) -> None:
    """Raise ValueError if a network drops out numbers, which would differ between an article's samples."""
    if not network.training:
        return
    rates = {key: rate for key, rate in network.config.get_text_config().to_dict().items() if "drop" in key}
    rates |= {name: m.p for name, m in network.named_modules() if isinstance(m, nn.Dropout) and m.training}
    for name, rate in rates.items():
        if isinstance(rate, float) and rate and not name.startswith(("summary_", "classifier_")):
            raise ValueError(f"{name}={rate}: samples that share an article need dropout 0; set it, or call eval()")


@contextmanager
def attending(network: PreTrainedModel, attend: Attend) -> Iterator[None]:
    """Let the attention layers of a network call ``attend`` with their number.

    Layers that are computed again for gradients (checkpointing) call it then, too. Raises RuntimeError if a layer did
    not call it.
    """
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, _attention)
    called: set[int] = set()

    def counted(layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        called.add(layer)
        return attend(layer, query, key, value, scale)

    configs = {id(config): config for config in (network.config, network.config.get_text_config())}
    within = partial(_within, list(configs.values()), counted)
    modules = network.modules() if torch.is_grad_enabled() else ()
    recomputed = [module for module in modules if hasattr(module, "_gradient_checkpointing_func")]
    checkpoints = [module._gradient_checkpointing_func for module in recomputed]
    for module, checkpoint in zip(recomputed, checkpoints, strict=True):
        module._gradient_checkpointing_func = partial(_checkpointed, checkpoint, within)
    try:
        with within():
            yield
    finally:
        for module, checkpoint in zip(recomputed, checkpoints, strict=True):
            module._gradient_checkpointing_func = checkpoint
    if len(called) != (layers := network.config.get_text_config().num_hidden_layers):
        raise RuntimeError(f"{network.config.model_type}: {len(called)} of {layers} layers took part in the attention")


@contextmanager
def _within(configs: list[PreTrainedConfig], attend: Attend) -> Iterator[None]:
    # with a pad token, GPT-2 would look for padding, of which there is none, and wait for a GPU
    changes = {"_attn_implementation_internal": NAME, "pad_token_id": None}
    fields = [vars(config) for config in configs]  # as attributes, some types refuse None
    usual = [{key: values[key] for key in changes if key in values} for values in fields]
    token = _current.set(attend)
    for values, old in zip(fields, usual, strict=True):
        values.update((key, changes[key]) for key in old)
    try:
        yield
    finally:
        _current.reset(token)
        for values, old in zip(fields, usual, strict=True):
            values.update(old)


def _checkpointed(
    checkpoint: Callable[..., Any], within: Callable[[], Any], layer: Callable[..., Any], *args: Any
) -> Any:
    def again(*inputs: Any) -> Any:
        with within():
            return layer(*inputs)

    return checkpoint(again, *args)


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **options: Any,
) -> tuple[Tensor, None]:
    """The attention function that is registered in transformers."""
    unknown = [name for name in ("softcap", "s_aux", "position_bias", "head_mask") if options.get(name) is not None]
    if (masked := attention_mask is not None) or dropout or unknown:
        raise ValueError(f"attention with mask={masked}, dropout={dropout}, {unknown} cannot share an article")
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    query, key = query.to(value.dtype), key.to(value.dtype)  # as in torch's attention under autocast
    layer: Any = module.layer_idx
    return _current.get()(layer, query, key, value, scale), None


# ---- attention with the logarithm of its sum ------------------------------------------------------------------------


def attention(
    scale: float, causal: bool, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Outputs (A, H, N, D) and logarithms of sums (A, H, N) float32 of attention, without a gradient.

    query (A, H, N, D); key, value (A, H / G, K, D); mask (A, 1, 1, K) of numbers that are added to scores.
    """
    if _kernel(query, value):
        flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        return flash(query, key, value, 0.0, causal, attn_mask=_like(mask, query), scale=scale)
    scores = _scores(query, key, scale, causal, mask)
    total = scores.logsumexp(-1)
    out = (scores - total.unsqueeze(-1)).exp().to(value.dtype) @ value.unsqueeze(2)
    return out.flatten(1, 2), total.flatten(1, 2)


def attention_gradients(
    scale: float, causal: bool, grad: Tensor, query: Tensor, key: Tensor, value: Tensor, out: Tensor, total: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients with respect to query, key and value; ``out`` and ``total`` may be those of more keys than these."""
    if _kernel(query, value):
        flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
        mask = _like(mask, query)
        return flash(grad, query, key, value, out, total, 0.0, causal, attn_mask=mask, scale=scale)
    groups = (-1, query.shape[1] // key.shape[1])
    p = (_scores(query, key, scale, causal, mask) - total.unflatten(1, groups).unsqueeze(-1)).exp()
    along = (wide(grad) * wide(out)).sum(-1, keepdim=True).unflatten(1, groups)
    q, g = query.unflatten(1, groups), grad.unflatten(1, groups)
    scores = (p * (wide(g @ value.unsqueeze(2).mT) - along) * scale).to(query.dtype)
    by_query = scores @ key.unsqueeze(2)
    return by_query.flatten(1, 2), (scores.mT @ q).sum(2), (p.to(value.dtype).mT @ g).sum(2)


def merged(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Attention over two sets of keys from that over either; the outputs' dtype is kept."""
    total = torch.logaddexp(first[1], second[1])
    parts = [wide(out) * (part_total - total).exp().unsqueeze(-1) for out, part_total in (first, second)]
    return (parts[0] + parts[1]).to(first[0].dtype), total


class Slots(NamedTuple):
    """Summaries (R,) beside the others of their article, in as many slots for each of the B articles.

    owners (B * slots,): the summary in a slot, any in empty ones; slots (R,): that of a summary.
    """

    owners: Tensor
    slots: Tensor


def attention_to_both(
    scale: float, last: Tensor, article: Sequence[Tensor], summary: Sequence[Tensor], mask: Tensor | None,
    later: Tensor | None, slots: Slots | None,
) -> Tensor:  # fmt: skip
    """Outputs (R, H, D) of one query (R, H, D) a summary, over its article and itself, without a gradient.

    article  keys and values (B, H / G, S, D), mask (B, 1, 1, S) of numbers that are added to scores
    summary  keys and values (R, H / G, L, D), of which those that are ``later`` (L,) bool, if given, are not read
    slots    where a summary stands beside the others of its article; None: one behind the other, as many an article
    """
    articles, groups, size = article[0].shape[:3]

    def beside(rows: Tensor) -> Tensor:  # (R, H / G, G, ...) -> (B, H / G, slots * G, ...)
        rows = rows if slots is None else rows[slots.owners]
        return rows.unflatten(0, (articles, -1)).transpose(1, 2).flatten(2, 3)

    def apart(values: Tensor) -> Tensor:
        rows = values.unflatten(2, (-1, query.shape[2])).transpose(1, 2).flatten(0, 1)
        return rows if slots is None else rows[slots.slots]

    query = last.unflatten(1, (groups, -1))
    shared = beside(query) @ article[0].mT
    shared = apart(shared if mask is None else shared + mask)
    to_summary = query @ summary[0].mT
    to_summary = to_summary if later is None else to_summary.masked_fill(later, float("-inf"))
    p = (wide(torch.cat([shared, to_summary], -1)) * scale).softmax(-1).to(summary[1].dtype)
    of_article, of_summary = p.split([size, summary[0].shape[2]], -1)
    return (apart(beside(of_article) @ article[1]) + of_summary @ summary[1]).flatten(1, 2)


def wide(values: Tensor) -> Tensor:
    """The same as float32, float64 as such."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _like(mask: Tensor | None, query: Tensor) -> Tensor | None:
    """The mask in the queries' dtype: torch's kernel reads another one wrong, without a word."""
    return None if mask is None else mask.to(query.dtype)


def _kernel(query: Tensor, value: Tensor) -> bool:
    """Whether torch's fused kernel for the CPU takes these; it needs keys as long as values."""
    return query.device.type == "cpu" and query.shape[-1] == value.shape[-1]


def _scores(query: Tensor, key: Tensor, scale: float, causal: bool, mask: Tensor | None = None) -> Tensor:
    """Scores (A, H / G, G, N, K) float32 or wider."""
    scores = wide(query.unflatten(1, (key.shape[1], -1)) @ key.unsqueeze(2).mT) * scale
    if mask is not None:
        scores = scores + mask.unsqueeze(2)
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
    return scores
