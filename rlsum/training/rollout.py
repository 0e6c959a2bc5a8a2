"""What a policy writes for a batch, and what that is worth: decoded and rewarded without gradient.

Notation: B articles, k samples an article, L decoded tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.models.summarizer import Scorer, Summarizer, Tokens
from rlsum.training.losses import target_lengths

if TYPE_CHECKING:
    from rewards.base import Reward


@dataclass(frozen=True)
class Rollout:
    """Samples of a batch and what is known of them.

    samples         ids and log-probabilities as they were drawn (B*k, L); rows i*k .. i*k+k-1 belong to article i
    rewards         (B, k) float64, NaN where undefined
    greedy_rewards  (B,) of the greedy decodings; None where nothing is compared with them
    start_log_prob  (B*k, L) log-probabilities under the model that the run began with; None where nobody asked
    """

    samples: Tokens
    rewards: np.ndarray
    greedy_rewards: np.ndarray | None = None
    start_log_prob: Tensor | None = None

    def log(self, batch: Batch) -> dict[str, float]:
        """Numbers for the log: what was sampled, and its rewards."""
        ids, ends = self.samples.ids, torch.tensor(batch.ends, device=self.samples.ids.device)
        lengths = target_lengths(ids, batch.pad).float()
        greedy = {} if self.greedy_rewards is None else {"baseline_reward": mean_defined(self.greedy_rewards)}
        return {
            "reward": mean_defined(self.rewards),
            **greedy,
            "sample_length": lengths.mean().item(),
            "sample_cut_off": 1.0 - torch.isin(ids, ends).any(-1).float().mean().item(),
            "entropy": -(self.samples.log_prob.sum() / lengths.sum()).item(),
        }


@dataclass(frozen=True)
class Drawn:
    """What a policy wrote for a batch: samples as in Rollout, and texts of samples and of greedy decodings."""

    batch: Batch
    samples: Tokens
    texts: list[str]
    greedy_texts: list[str]
    start_log_prob: Tensor | None


def draw(
    decoder: Summarizer,
    batch: Batch,
    *,
    samples: int,
    max_length: int,
    greedy: bool,
    start: Scorer | None = None,
    noise: Tensor | None = None,
) -> Drawn:
    """``samples`` samples an article; with ``greedy`` in one batch with the greedy decodings.

    ``start`` scores them as the model that the run began with; ``noise`` is what they are drawn with (see Summarizer).
    """
    if greedy:
        drawn, best = decoder.self_critical(batch, samples, max_length, noise)
        greedy_texts = decoder.to_text(batch, best)
    else:
        drawn, greedy_texts = decoder.sample(batch, samples, max_length, noise), []
    start_log_prob = None if start is None else start(batch, drawn.ids).log_prob
    return Drawn(batch, drawn, decoder.to_text(batch, drawn), greedy_texts, start_log_prob)


def rewarded(parts: Sequence[Drawn], reward: Reward) -> list[Rollout]:
    """What was drawn with its rewards, which come from one call: those of all samples, then of all greedy texts."""
    said = [(part.batch, part.texts) for part in parts] + [(part.batch, part.greedy_texts) for part in parts]
    rows = [(batch, i * len(batch) // len(texts)) for batch, texts in said for i in range(len(texts))]
    values = reward(
        [text for _, texts in said for text in texts],
        [batch.references[row] for batch, row in rows],
        [batch.sources[row] for batch, row in rows],
    )
    split = np.split(values, np.cumsum([len(texts) for _, texts in said])[:-1])
    return [
        Rollout(
            part.samples,
            of_samples.reshape(len(part.batch), -1),
            of_greedy if part.greedy_texts else None,
            part.start_log_prob,
        )
        for part, of_samples, of_greedy in zip(parts, split[: len(parts)], split[len(parts) :], strict=True)
    ]


def divided(parts: Sequence[Rollout], sizes: Sequence[int], pad: int) -> list[Rollout]:
    """The same articles in other parts, of ``sizes`` articles, each as wide as its samples."""
    samples = parts[0].rewards.shape[1]
    ids = _stacked([part.samples.ids for part in parts], pad).split([size * samples for size in sizes])
    log_prob = _stacked([part.samples.log_prob for part in parts], 0).split([size * samples for size in sizes])
    start = [part.start_log_prob for part in parts if part.start_log_prob is not None]
    start_parts = _stacked(start, 0).split([size * samples for size in sizes]) if start else [None] * len(sizes)
    cuts = np.cumsum(sizes)[:-1]
    rewards = np.split(np.concatenate([part.rewards for part in parts]), cuts)
    greedy = [part.greedy_rewards for part in parts if part.greedy_rewards is not None]
    greedy_parts = np.split(np.concatenate(greedy), cuts) if greedy else [None] * len(sizes)
    made = []
    for number, rows in enumerate(ids):
        width = max(1, int(target_lengths(rows, pad).max()))
        before = start_parts[number]
        made.append(
            Rollout(
                Tokens(rows[:, :width], log_prob[number][:, :width]),
                rewards[number],
                greedy_parts[number],
                None if before is None else before[:, :width],
            )
        )
    return made


def _stacked(parts: Sequence[Tensor], value: float) -> Tensor:
    """(R, L) tensors as one, padded with ``value`` to the widest."""
    width = max(part.shape[1] for part in parts)
    return torch.cat([F.pad(part, (0, width - part.shape[1]), value=value) for part in parts])


class Rollouts:
    """Rollouts that ``updates`` updates in a row learn from: the first of them makes one for each batch."""

    def __init__(self, updates: int) -> None:
        self.updates = updates
        self._round = -1
        self._kept: dict[tuple[object, ...], Rollout] = {}

    def of(self, number: int, batch: Batch, make: Callable[[], Rollout]) -> Rollout:
        """The rollout of a batch in update ``number`` (from 0)."""
        self._begin(number)
        key = _key(batch)
        if key in self._kept:
            return self._kept[key]
        made = make()
        if self.updates > 1:
            self._kept[key] = made
        return made

    def prepare(self, number: int, batches: Sequence[Batch], make: Callable[[], Sequence[Rollout]]) -> None:
        """Have the rollouts of all batches of update ``number`` made together, unless they are there."""
        self._begin(number)
        if not self._kept:
            self._kept = dict(zip(map(_key, batches), make(), strict=True))

    def _begin(self, number: int) -> None:
        if number // self.updates != self._round:
            self._round, self._kept = number // self.updates, {}


def _key(batch: Batch) -> tuple[object, ...]:
    """What tells batches apart: rewards depend on references, too, which differ where an article has several rows."""
    return batch.ids, batch.sources, batch.references


def mean_defined(values: Sequence[float] | np.ndarray) -> float:
    """Mean of the values that are defined; NaN where none is."""
    array = np.asarray(values, dtype=np.float64)
    return float(np.nanmean(array)) if (~np.isnan(array)).any() else float("nan")
