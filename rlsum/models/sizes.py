"""The ``model`` section of a configuration, free of torch so that it is checked quickly."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=STRICT)
class PointerGeneratorConfig:
    """A pointer-generator with random weights.

    embedding       size of word vectors: See et al. 2017 128, Clark et al. 2019 300
    hidden          size of LSTM states: See et al. 256, Clark et al. 128
    encoder_layers  LSTM layers; Clark et al.: 2
    decoder_layers  LSTM layers
    dropout         on embeddings, encoder states and between layers
    coverage        attention takes its own history into account (See et al. 2017, equation 11)
    spaces          all words of a summary are separated by spaces; false: not those of scripts without them; none:
                    true, but for raw text in a language without spaces, such as ja
    kind            this kind
    """

    embedding: int = Field(default=128, ge=1)
    hidden: int = Field(default=256, ge=1)
    encoder_layers: int = Field(default=1, ge=1)
    decoder_layers: int = Field(default=1, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    coverage: bool = False
    spaces: bool | None = None
    kind: Literal["pointer-generator"] = "pointer-generator"


@dataclass(frozen=True, config=STRICT)
class LoraConfig:
    """Low-rank updates of frozen weights (Hu et al. 2021, arXiv 2106.09685).

    rank     rank of the updates
    alpha    updates are scaled by alpha / rank
    dropout  dropout on the inputs of the updates
    targets  names of the updated layers; none: those that peft knows for BART, T5 and mT5. For PEGASUS and LED:
             ``[q_proj, v_proj]``
    """

    rank: int = Field(default=16, ge=1)
    alpha: float = Field(default=32, gt=0, allow_inf_nan=False)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: tuple[str, ...] | None = None


@dataclass(frozen=True, config=STRICT)
class Seq2SeqConfig:
    """A pretrained encoder-decoder of transformers: BART, T5, PEGASUS, mT5, LED, ...

    pretrained              a name on the hub, or a folder that ``save_pretrained`` wrote, tokenizer included
    kind                    this kind
    prefix                  put before every article: ``"summarize: "`` for T5
    line_break              what ends a line of a summary for the tokenizer, and is read back as a line end: ``"<n>"``
                            for PEGASUS; by default lines are joined
    dropout                 the network's own dropout in training; none: on with mle, off with the others, which refuse
                            it as long as gamma is not 0
    gradient_checkpointing  computes layers again in the backward pass: less memory, more time
    lora                    train only low-rank updates; none: all weights
    global_attention        first: the first token of an article attends to all others and they to it (LED)
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
