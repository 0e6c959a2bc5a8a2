"""The ``decoding`` and ``sampling`` sections of a configuration, free of torch.

An option is declared here alone: `rlsum generate` and comparisons have those of ``Limits``, ``Warping`` and ``Search``.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from rlsum.models.options import STRICT

IN_TRANSFORMERS = {  # options that its generation configs have, with their names there
    "min_length": "min_new_tokens",
    "max_length": "max_new_tokens",
    "block_ngrams": "no_repeat_ngram_size",
    "beam": "num_beams",
    "length_penalty": "length_penalty",
    "early_stopping": "early_stopping",
}


@dataclass(frozen=True, config=STRICT)
class Limits:
    """Which tokens may follow."""

    min_length: int = Field(kw_only=True, default=0, ge=0)
    """no end before this many tokens"""
    max_length: int | None = Field(kw_only=True, default=None, ge=1)
    """tokens at most, the end token included"""
    block_ngrams: int = Field(kw_only=True, default=0, ge=0)
    """no n-gram of this size twice; 0: off"""


@dataclass(frozen=True, config=STRICT)
class Warping:
    """How likely the tokens of samples are. The options apply in this order, after ``Limits``."""

    temperature: float = Field(kw_only=True, default=1.0, gt=0, allow_inf_nan=False)
    """samples come from p ** (1 / temperature)"""
    top_k: int = Field(kw_only=True, default=0, ge=0)
    """only from the k most probable tokens; 0: all"""
    top_p: float = Field(kw_only=True, default=1.0, gt=0, le=1)
    """only from the fewest most probable tokens that together have at least this probability; 1: all"""

    @property
    def cuts(self) -> bool:
        """Whether only the most probable tokens are drawn."""
        return self.top_k > 0 or self.top_p < 1


@dataclass(frozen=True, config=STRICT)
class Search:
    """How a beam search ranks texts, and when it ends."""

    beam: int = Field(kw_only=True, default=5, ge=1)
    """beam width; 1: greedy"""
    length_penalty: float = Field(kw_only=True, default=1.0, allow_inf_nan=False)
    """hypotheses are ranked by log p / length ** penalty; below 0 shorter ones rank higher"""
    early_stopping: bool | Literal["never"] = Field(kw_only=True, default=True)
    """a beam search is done when as many texts have ended as the beam is wide (true), or also when the best open one
    would not be among them if it ended now (false), or at any length (never): as in transformers"""


@dataclass(frozen=True, config=STRICT)
class Decoding(Search, Warping, Limits):
    """How validation decodes, and the defaults of `rlsum generate`."""

    method: Literal["greedy", "beam", "sample"] = "greedy"
    """of validation; `rlsum generate` has options of its own"""
    max_length: int = Field(kw_only=True, default=100, ge=1)
    """tokens at most, the end token included"""
    samples: int = Field(kw_only=True, default=1, ge=1)
    """with method=sample: texts per article"""

    def __post_init__(self) -> None:
        _check_lengths(self.min_length, self.max_length)

    @property
    def sampling(self) -> Sampling:
        """What method sample draws from."""
        return Sampling(**{option.name: getattr(self, option.name) for option in fields(Sampling)})

    @property
    def limits(self) -> Sampling:
        """What greedy decoding chooses from: ``Limits`` alone."""
        return Sampling(**{option.name: getattr(self, option.name) for option in fields(Limits)})

    @property
    def stopping(self) -> str:
        """When a beam search is done, to follow its other options: ", early stopping true"; nothing where none is."""
        searches = self.method == "beam" and self.beam > 1
        return f", early stopping {str(self.early_stopping).lower()}" if searches else ""

    @property
    def in_words(self) -> str:
        """The options in words: ``beam 5, 0 to 100 tokens, length penalty 1, n-grams blocked 0, early stopping true``.

        Those that the method does not read are left out.
        """
        lengths = f"{self.min_length} to {self.max_length} tokens"
        if self.method == "sample":
            cut = f"top k {self.top_k}, top p {self.top_p:g}"
            how = f"samples, {lengths}, temperature {self.temperature:g}, {cut}"
        else:
            how = f"beam {self.beam}, {lengths}, length penalty {self.length_penalty:g}"
        return f"{how}, n-grams blocked {self.block_ngrams}{self.stopping}"

    def searching(self) -> Decoding:
        """The same options by beam search; greedy where the beam is 1."""
        return replace(self, method="beam" if self.beam > 1 else "greedy")


@dataclass(frozen=True, config=STRICT)
class Sampling(Warping, Limits):
    """The distribution that samples are drawn from, and scored under."""

    max_length: int | None = Field(default=None, ge=1)
    """tokens at most, the end token included; none in a configuration: decoding.max_length"""

    def __post_init__(self) -> None:
        if self.max_length is not None:
            _check_lengths(self.min_length, self.max_length)

    @property
    def limit(self) -> int:
        """``max_length``, where it is known."""
        assert self.max_length is not None, "sampling needs a max_length"
        return self.max_length

    @property
    def plain(self) -> bool:
        """Whether samples come from the model's own distribution."""
        return self == Sampling(max_length=self.max_length)


def _check_lengths(min_length: int, max_length: int) -> None:
    if min_length >= max_length:
        raise ValueError(f"min_length={min_length} must be smaller than max_length={max_length}; raise max_length")
