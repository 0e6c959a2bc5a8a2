"""The ``model`` section of a pointer-generator, free of torch."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from rlsum.models.options import STRICT, ModelConfig


@dataclass(frozen=True, config=STRICT)
class PointerGeneratorConfig(ModelConfig):
    """A pointer-generator with random weights."""

    embedding: int = Field(default=128, ge=1)
    """size of word vectors: See et al. 2017 128, Clark et al. 2019 300"""
    hidden: int = Field(default=256, ge=1)
    """size of LSTM states: See et al. 256, Clark et al. 128"""
    encoder_layers: int = Field(default=1, ge=1)
    """LSTM layers; Clark et al.: 2"""
    decoder_layers: int = Field(default=1, ge=1)
    """LSTM layers"""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """on embeddings, encoder states and between layers"""
    coverage: bool = False
    """attention takes its own history into account (See et al. 2017, equation 11)"""
    spaces: bool | None = None
    """all words of a summary are separated by spaces; false: not those of scripts without them; none: true, but for raw
    text in a language without spaces, such as ja"""
    kind: Literal["pointer-generator"] = "pointer-generator"
    """this kind"""

    def continued(self) -> PointerGeneratorConfig:
        """Without dropout: sampling and scoring must agree."""
        return replace(self, dropout=0.0)
