"""What a policy writes for a batch, and what that is worth: decoded and rewarded without gradient.

Notation: B articles, k samples an article, L decoded tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.losses import target_lengths
from rlsum.models.summarizer import Scorer, Summarizer, Tokens

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


def roll_out(
    decoder: Summarizer,
    batch: Batch,
    reward: Reward,
    *,
    samples: int,
    max_length: int,
    greedy: bool,
    start: Scorer | None = None,
    noise: Tensor | None = None,
) -> Rollout:
    """``samples`` samples an article, rewarded; with ``greedy`` in one batch and one call of the reward with baselines.

    ``start`` scores them as the model that the run began with; ``noise`` is what they are drawn with (see Summarizer).
    """
    if greedy:
        drawn, best = decoder.self_critical(batch, samples, max_length, noise)
        texts = decoder.to_text(batch, drawn) + decoder.to_text(batch, best)
    else:
        drawn = decoder.sample(batch, samples, max_length, noise)
        texts = decoder.to_text(batch, drawn)
    size = len(batch)
    rows = [i // samples for i in range(size * samples)] + list(range(size)) * greedy
    values = reward(texts, [batch.references[i] for i in rows], [batch.sources[i] for i in rows])
    return Rollout(
        drawn,
        values[: size * samples].reshape(size, samples),
        values[size * samples :] if greedy else None,
        None if start is None else start(batch, drawn.ids).log_prob,
    )


class Rollouts:
    """Rollouts that ``updates`` updates in a row learn from: the first of them makes one for each batch."""

    def __init__(self, updates: int) -> None:
        self.updates = updates
        self._round = -1
        self._kept: dict[tuple[tuple[str, ...], tuple[str, ...]], Rollout] = {}

    def of(self, number: int, batch: Batch, make: Callable[[], Rollout]) -> Rollout:
        """The rollout of a batch in update ``number`` (from 0)."""
        if self.updates == 1:
            return make()
        if number // self.updates != self._round:
            self._round, self._kept = number // self.updates, {}
        key = (batch.ids, batch.sources)
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def mean_defined(values: Sequence[float] | np.ndarray) -> float:
    """Mean of the values that are defined; NaN where none is."""
    array = np.asarray(values, dtype=np.float64)
    return float(np.nanmean(array)) if (~np.isnan(array)).any() else float("nan")
