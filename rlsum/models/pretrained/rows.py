"""A language model on plain rows: every text behind its article, the articles padded on the left.

Notation: B articles, S tokens of the longest, R = B * k texts, T or L tokens of the longest, V ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlsum.data.subwords import IGNORED
from rlsum.models.pretrained.steps import Choose
from rlsum.models.summarizer import repeat_rows

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def logits(network: PreTrainedModel, src: Tensor, src_lengths: Tensor, target: Tensor) -> Tensor:
    """Logits (R, T, V) of each token of ``target``, given the article and the target before it; differentiable.

    src, src_lengths  (B, S) ids padded on the right; (B,)
    target            (R, T) ids, IGNORED behind each end; rows i*k .. i*k+k-1 belong to article i
    """
    rows = repeat_rows(len(src), len(target) // len(src)).to(src.device)
    ids, mask = (values[rows] for values in left_padded(src, src_lengths))
    before = target[:, :-1]  # what the last token predicts is not asked
    ids, mask = torch.cat([ids, before.clamp(min=0)], 1), torch.cat([mask, (before != IGNORED).long()], 1)
    inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, "use_cache": False}
    accepted = signature(network.forward).parameters
    if "position_ids" in accepted:
        inputs["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)
    if "logits_to_keep" in accepted:
        inputs["logits_to_keep"] = target.shape[1]
    scores: Tensor = network(**inputs).logits
    return scores[:, -target.shape[1] :]


@torch.no_grad()
def decode(
    network: PreTrainedModel,
    src: Tensor,
    src_lengths: Tensor,
    rows: Tensor,
    choose: Choose,
    max_length: int,
    ends: Sequence[int],
    pad: int,
) -> Tensor:
    """Ids (R, L) for the articles ``rows`` (R,), token by token as ``choose`` says; ``pad`` behind each end."""
    from transformers import GenerationConfig

    ids, mask = (values[rows] for values in left_padded(src, src_lengths))
    width = ids.shape[1]

    def certain(so_far: Tensor, scores: Tensor) -> Tensor:
        chosen = choose(so_far[:, width:], scores)
        return torch.full_like(scores, float("-inf")).scatter_(1, chosen.unsqueeze(1), 0.0)

    config = GenerationConfig(max_new_tokens=max_length, do_sample=False, pad_token_id=pad, eos_token_id=list(ends))
    decoded: Tensor = network.generate(
        input_ids=ids, attention_mask=mask, generation_config=config, logits_processor=[certain]
    )
    return decoded[:, width:]


def left_padded(src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Ids (B, S) padded on the right -> the same padded on the left, and their mask."""
    places = torch.arange(src.shape[1], device=src.device) - (src.shape[1] - lengths).unsqueeze(1)
    return src.gather(1, places.clamp(min=0)), (places >= 0).long()
