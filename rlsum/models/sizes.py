"""The ``model`` section of a configuration, free of torch so that it is checked quickly."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=STRICT)
class PointerGeneratorConfig:
    """Sizes of a pointer-generator.

    See et al. 2017: embedding 128, hidden 256, one layer each; Clark et al. 2019: 300, 128, 2 and 1.
    """

    embedding: int = Field(default=128, ge=1)
    hidden: int = Field(default=256, ge=1)
    encoder_layers: int = Field(default=1, ge=1)
    decoder_layers: int = Field(default=1, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    coverage: bool = False
    kind: Literal["pointer-generator"] = "pointer-generator"


@dataclass(frozen=True, config=STRICT)
class LoraConfig:
    """Low-rank updates of frozen weights (Hu et al. 2021, arXiv 2106.09685).

    rank, alpha, dropout  of the updates, which are scaled by alpha / rank
    targets               names of the layers with an update; None: peft's defaults for the architecture
    """

    rank: int = Field(default=16, ge=1)
    alpha: float = Field(default=32, gt=0, allow_inf_nan=False)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: tuple[str, ...] | None = None


@dataclass(frozen=True, config=STRICT)
class Seq2SeqConfig:
    """A pretrained encoder-decoder of transformers: BART, T5, PEGASUS, mT5, LED, ...

    pretrained              hub name, or folder that ``save_pretrained`` wrote, with its tokenizer
    prefix                  text before every article, for example "summarize: " for T5
    line_break              replaces line breaks of summaries for the tokenizer, and is turned back into them unless it
                            is a space; "<n>" for PEGASUS
    dropout                 whether training uses the network's own dropout rates; None: with objective mle only
    gradient_checkpointing  compute the layers again in the backward pass: less memory, about a third more time
    lora                    train low-rank updates only; None: all weights
    global_attention        LED only: tokens of an article that attend to all others, and all others to them
    """

    pretrained: str = Field(min_length=1)
    kind: Literal["seq2seq"] = "seq2seq"
    prefix: str = ""
    line_break: str = Field(default=" ", min_length=1)
    dropout: bool | None = None
    gradient_checkpointing: bool = False
    lora: LoraConfig | None = None
    global_attention: Literal["none", "first"] = "none"


def _kind(value: Any) -> Any:
    """The kind of a section; anything but a mapping is left to the first kind to reject."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind or "pointer-generator"


MODELS = {"pointer-generator": PointerGeneratorConfig, "seq2seq": Seq2SeqConfig}
ModelConfig = Annotated[
    Annotated[PointerGeneratorConfig, Tag("pointer-generator")] | Annotated[Seq2SeqConfig, Tag("seq2seq")],
    Discriminator(_kind),
]
