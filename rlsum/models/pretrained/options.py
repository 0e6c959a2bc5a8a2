"""The ``model`` sections of pretrained models, free of torch."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from rlsum.models.options import STRICT, ModelConfig


@dataclass(frozen=True, config=STRICT)
class LoraConfig:
    """Low-rank updates of frozen weights (Hu et al. 2021, arXiv 2106.09685)."""

    rank: int = Field(default=16, ge=1)
    """rank of the updates"""
    alpha: float = Field(default=32, gt=0, allow_inf_nan=False)
    """updates are scaled by alpha / rank"""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """dropout on the inputs of the updates"""
    targets: tuple[str, ...] | None = None
    """names of the updated layers; none: those that peft knows for BART, T5 and mT5. For PEGASUS and LED:
    ``[q_proj, v_proj]``"""


@dataclass(frozen=True, config=STRICT)
class Seq2SeqConfig(ModelConfig):
    """A pretrained encoder-decoder of transformers: BART, T5, PEGASUS, mT5, LED, ..."""

    own_tokenizer: ClassVar[bool] = True

    pretrained: str = Field(min_length=1)
    """a name on the hub, or a folder that ``save_pretrained`` wrote, tokenizer included"""
    kind: Literal["seq2seq"] = "seq2seq"
    """this kind"""
    prefix: str = ""
    """put before every article: ``"summarize: "`` for T5"""
    line_break: str = Field(default=" ", min_length=1)
    """what ends a line of a summary for the tokenizer, and is read back as a line end: ``"<n>"`` for PEGASUS; by
    default lines are joined"""
    dropout: bool | None = None
    """the network's own dropout in training; none: on with mle, off with the others, which refuse it as long as gamma
    is not 0"""
    gradient_checkpointing: bool = False
    """computes layers again in the backward pass: less memory, more time"""
    lora: LoraConfig | None = None
    """train only low-rank updates; none: all weights"""
    global_attention: Literal["none", "first"] = "none"
    """first: the first token of an article attends to all others and they to it (LED)"""

    def continued(self) -> Seq2SeqConfig:
        """With the dropout that its objective has by default, low-rank updates merged."""
        return replace(self, dropout=None, lora=None)
