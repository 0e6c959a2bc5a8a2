"""The contract between a model and what trains, validates and saves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from rlsum.data.batch import Batch
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.options import ModelConfig
from rlsum.models.sampling import Drawn

if TYPE_CHECKING:
    import datasets

    from rlsum.data.corpus import Tokenization


WEIGHTS = "model.safetensors"  # in a checkpoint


class TargetScores(NamedTuple):
    """Teacher-forced scores of targets. All (B, T) float32 and 0 at padding.

    log_prob       log p(y_t | y_<t, article)
    coverage       sum_i min(a_ti, c_ti), the overlap with attention already spent; 0 for a model without coverage
    mean_log_prob  mean of log p(v | y_<t, article) over all tokens v; None unless labels are smoothed
    """

    log_prob: Tensor
    coverage: Tensor
    mean_log_prob: Tensor | None = None

    def select(self, rows: Tensor, width: int | None = None) -> TargetScores:
        """Rows by number, or by a mask over them; of each the first ``width`` tokens, None: all."""
        mean = None if self.mean_log_prob is None else self.mean_log_prob[rows, :width]
        return TargetScores(self.log_prob[rows, :width], self.coverage[rows, :width], mean)


@dataclass(frozen=True)
class Tokens:
    """Decoded texts.

    ids       (R, L) int64 extended ids; a row ends with one of the batch's ``ends`` unless it was cut off, and is
              padded with the batch's ``pad``
    log_prob  (R, L) float32, log-probability of each token; 0 at padding. The model's own, for samples that of the
              distribution they were drawn from
    """

    ids: Tensor
    log_prob: Tensor

    def split(self, cut: int) -> tuple[Tokens, Tokens]:
        """The rows before ``cut``, and the others."""
        return Tokens(self.ids[:cut], self.log_prob[:cut]), Tokens(self.ids[cut:], self.log_prob[cut:])


class Scorer(Protocol):
    """What scores targets: a summarizer, possibly wrapped by accelerate."""

    def __call__(self, batch: Batch, target: Tensor, drawn: Drawn | None = None) -> TargetScores:
        """Score targets (R, T) of extended ids; the only differentiable path.

        With k targets an article, rows i*k .. i*k+k-1 belong to article i. Targets that were ``drawn`` are scored
        under the distribution that drew them, as ``Tokens.log_prob``; the others under the model's own.
        """


class Model(nn.Module):
    """The contract of every kind of model: a network that summarizes, and how it is saved.

    ``config``: its resolved ``model`` section. Called with a batch and targets, it is a ``Scorer``.
    ``smoothed``: whether scores in training include ``mean_log_prob``, which smoothed labels need; set for a run by
    ``build.trainer``, as all that a network does for the objective alone.
    """

    config: ModelConfig
    smoothed = False

    def read(self, rows: datasets.Dataset, how: Tokenization) -> datasets.Dataset:
        """Give the rows of a corpus the model's own src_tokens, tgt_tokens and tgt_whole, cut as ``how`` says."""
        raise NotImplementedError

    def collate(self, rows: dict[str, list[Any]]) -> Batch:
        """Make a batch of rows from ``read`` (a slice ``rows[i:j]``)."""
        raise NotImplementedError

    def generate(self, batch: Batch, decoding: Decoding, scored: bool = True) -> Tokens:
        """Decode without gradient; with k samples an article, rows i*k .. i*k+k-1 belong to article i.

        Not ``scored``, log-probabilities may be NaN: a model that would have to compute them again leaves them out.
        """
        raise NotImplementedError

    @torch.no_grad()
    def self_critical(
        self, batch: Batch, samples: int, sampling: Sampling, noise: Tensor | None = None
    ) -> tuple[Tokens, Tokens]:
        """Decode ``samples`` samples an article, and its greedy text, in one batch, without gradient.

        The greedy text has the same minimum and maximum length and blocked n-grams.
        ``noise`` (B*k, sampling.max_length) float64 in [0, 1): the random numbers that draw each token of the samples.
        None: torch's generator.
        """
        size, cut = len(batch), len(batch) * samples
        rows = torch.cat([repeat_rows(size, samples), torch.arange(size)]).to(batch.src.device)
        return self.drawn(batch, rows, cut, sampling, noise).split(cut)

    @torch.no_grad()
    def sample(self, batch: Batch, samples: int, sampling: Sampling, noise: Tensor | None = None) -> Tokens:
        """Like ``self_critical``, without the greedy texts."""
        rows = repeat_rows(len(batch), samples).to(batch.src.device)
        return self.drawn(batch, rows, len(rows), sampling, noise)

    def drawn(self, batch: Batch, rows: Tensor, cut: int, sampling: Sampling, noise: Tensor | None) -> Tokens:
        """Texts for the articles ``rows`` (R,): samples before row ``cut``, then greedy ones; see ``self_critical``."""
        raise NotImplementedError

    def to_text(self, batch: Batch, tokens: Tokens) -> list[str]:
        """One text a row; copied unknown words in their surface form."""
        raise NotImplementedError

    def depends_on(self) -> dict[str, str]:
        """What must be the same when a run or its outputs go on, beside configuration, weights, articles; by name."""
        return {}

    def frozen(self) -> Scorer | None:
        """Scores of the network as it was before training, if it still holds that, as under low-rank updates."""
        return None

    def save_to(self, folder: Path, reading: Mapping[str, Any], decoding: Decoding) -> None:
        """Write the files of a checkpoint but its weights, config.json among them.

        ``reading``: how the run reads texts, the fields of ``Tokenization``.
        """
        raise NotImplementedError

    def weight_files(self) -> dict[str, dict[str, Tensor]]:
        """File name -> the tensors in it by name; the first that is read again is ``WEIGHTS``."""
        raise NotImplementedError


Scores = tuple[TargetScores, TargetScores | None]  # of samples, and of references where they are needed


class DrawnScores(NamedTuple):
    """Samples (B*k, L), greedy texts (B, L), and differentiable scores of the samples and of references (B, T)."""

    samples: Tokens
    greedy: Tokens | None
    scores: Scores


@runtime_checkable
class DrawsAndScores(Protocol):
    """A model that can score its samples while it draws them: nothing is computed twice."""

    def draw_and_score(
        self, batch: Batch, samples: int, sampling: Sampling, noise: Tensor | None, greedy: bool, references: bool
    ) -> DrawnScores:
        """Like ``Model.self_critical``, or ``sample`` without ``greedy``; and scores as those of ``Scorer``."""


def repeat_rows(rows: int, times: int) -> Tensor:
    """0,0,..,1,1,..: each row number ``times`` times."""
    return torch.arange(rows).repeat_interleave(times)


def own_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name. Tensors that share memory, as tied embeddings do, have only their first name."""
    seen: set[int] = set()
    tensors = {}
    for name, tensor in module.state_dict().items():
        memory = tensor.data_ptr()
        if memory not in seen or not tensor.numel():
            tensors[name] = tensor
        seen.add(memory)
    return tensors
