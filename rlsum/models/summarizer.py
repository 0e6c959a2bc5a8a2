"""What the trainer and the decoder ask of a summarizer, whatever the network inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.models.decoding import Decoding

if TYPE_CHECKING:
    import datasets


WEIGHTS = "model.safetensors"  # in a checkpoint


class Scored(NamedTuple):
    """Teacher-forced scores of a target. All (B, T) float32 and 0 at padding.

    log_prob       log p(y_t | y_<t, article)
    coverage       sum_i min(a_ti, c_ti), the overlap with attention already spent; 0 for a model without coverage
    mean_log_prob  mean of log p(v | y_<t, article) over all tokens v; None where labels are not smoothed
    """

    log_prob: Tensor
    coverage: Tensor
    mean_log_prob: Tensor | None = None

    def select(self, rows: Tensor) -> Scored:
        """Rows by number, or by a mask over them."""
        mean = self.mean_log_prob
        return Scored(self.log_prob[rows], self.coverage[rows], None if mean is None else mean[rows])


@dataclass(frozen=True)
class Tokens:
    """Decoded rows.

    ids       (R, L) int64 extended ids; a row ends with one of the batch's ``ends`` unless it was cut off; the batch's
              ``pad`` after its end
    log_prob  (R, L) float32, the model's log-probability of each token; 0 after the end
    """

    ids: Tensor
    log_prob: Tensor


Scorer = Callable[[Batch, Tensor], Scored]  # a summarizer as the optimiser sees it, possibly wrapped by accelerate


class Summarizer(Protocol):
    """The contract of every model."""

    def read(self, rows: datasets.Dataset, max_source: int, max_target: int) -> datasets.Dataset:
        """Rows of a corpus whose src_tokens, tgt_tokens and tgt_whole are those of the model, cut at the limits."""

    def collate(self, rows: dict[str, list[Any]]) -> Batch:
        """A batch of rows that were read (what ``rows[i:j]`` gives)."""

    def __call__(self, batch: Batch, target: Tensor) -> Scored:
        """Score targets (B, T) of extended ids; the only differentiable path."""

    def generate(self, batch: Batch, decoding: Decoding) -> Tokens:
        """Decode without gradient; with k samples an article, rows i*k .. i*k+k-1 belong to article i."""

    def self_critical(
        self, batch: Batch, samples: int, max_length: int, noise: Tensor | None = None
    ) -> tuple[Tokens, Tokens]:
        """``samples`` samples an article and its greedy decoding, in one batch, without gradient.

        ``noise`` (B*k, max_length) float64 in [0, 1) is what the samples are drawn with, token by token; without it
        torch's generator is asked.
        """

    def sample(self, batch: Batch, samples: int, max_length: int, noise: Tensor | None = None) -> Tokens:
        """``samples`` samples an article alone, without gradient; ``noise`` as above."""

    def to_text(self, batch: Batch, tokens: Tokens) -> list[str]:
        """One text a row; copied unknown words in their surface form."""
