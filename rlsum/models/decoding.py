"""The ``decoding`` section of a configuration, free of torch."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Decoding:
    """Decoding options.

    method          greedy | beam | sample
    beam            width of the beam
    max_length      most tokens of a text, its end token included
    min_length      no end token before this many tokens
    length_penalty  beam hypotheses are ranked by log p / length ** length_penalty (0: log p itself; below 0 shorter
                    ones rank higher)
    block_ngrams    no n-gram of this size occurs twice (0: off); greedy and beam
    samples         samples an article; method sample
    temperature     of sampling; reported log-probabilities are always those of temperature 1
    """

    method: Literal["greedy", "beam", "sample"] = "greedy"
    beam: int = Field(default=5, ge=1)
    max_length: int = Field(default=100, ge=1)
    min_length: int = Field(default=0, ge=0)
    length_penalty: float = Field(default=1.0, allow_inf_nan=False)
    block_ngrams: int = Field(default=0, ge=0)
    samples: int = Field(default=1, ge=1)
    temperature: float = Field(default=1.0, gt=0)

    def __post_init__(self) -> None:
        """Reject a minimum length that is not below the maximum."""
        if self.min_length >= self.max_length:
            raise ValueError(
                f"min_length={self.min_length} must be smaller than max_length={self.max_length}; raise max_length"
            )

    def searching(self) -> Decoding:
        """The same options by beam search; greedy where the beam is 1."""
        return replace(self, method="beam" if self.beam > 1 else "greedy")
