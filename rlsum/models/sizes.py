"""Sizes of the models, free of torch so that a configuration is checked in no time."""

from __future__ import annotations

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class PointerGeneratorConfig:
    """Sizes. See et al. 2017: embedding 128, hidden 256, one layer each; Clark et al. 2019: 300, 128, 2 and 1."""

    embedding: int = Field(default=128, ge=1)
    hidden: int = Field(default=256, ge=1)
    encoder_layers: int = Field(default=1, ge=1)
    decoder_layers: int = Field(default=1, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    coverage: bool = False
