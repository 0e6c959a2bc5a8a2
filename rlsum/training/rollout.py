"""Samples of a batch: their texts, what they have earned and teach, and what the log says of them.

Shapes: B articles, k samples an article, R = B*k rows of samples, L decoded tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.models.summarizer import Scores, Tokens
from rlsum.objective import Objective
from rlsum.training.earned import Earned
from rlsum.training.estimators import described_components
from rlsum.training.log.numbers import Field, Logged, Mean, Rate, TimeShare, declare


@dataclass(frozen=True)
class Decoded:
    """Texts of a batch: k samples an article, and its greedy text where the estimator needs one."""

    batch: Batch
    tokens: Tokens  # of the samples, (B*k, L)
    texts: list[str]  # B*k
    greedy_texts: list[str]  # B, or none
    start_log_prob: Tensor | None  # (B*k, L), see Rollout
    scored: Scores | None  # see Rollout


@dataclass(frozen=True)
class Rollout:
    """Samples of a batch with their rewards and advantages.

    tokens          of the samples: ids and log-probabilities when they were drawn, (B*k, L)
    earned          their rewards and lengths, (B, k)
    advantages      (B, k) float64, NaN where undefined; None for losses that read the rewards (``reward_losses``)
    weights         (B, k) float64, of the samples in the policy gradient, see ``weights_of``; None as above
    start_log_prob  (B*k, L) under the model that the run began with; None without a KL penalty
    old_log_prob    (B*k, W) of the samples in the first loss that reads them, so under the policy that drew them; None
                    before. Decoding has other kernels, so its log-probabilities are rounded otherwise
    scored          samples (B*k, L) and references (B, T), if they were scored while the samples were drawn
    reward_seconds  that computing the rewards took
    """

    tokens: Tokens
    earned: Earned
    advantages: np.ndarray | None = None
    weights: np.ndarray | None = None
    start_log_prob: Tensor | None = None
    old_log_prob: Tensor | None = None
    scored: Scores | None = None
    reward_seconds: float = 0.0

    def distinct(self) -> Tensor:
        """(B, k) bool: whether no earlier sample of the article is the same text."""
        ids = self.tokens.ids.view(*self.earned.rewards.shape, -1)
        same = (ids.unsqueeze(2) == ids.unsqueeze(1)).all(-1)  # (B, k, k)
        return ~same.tril(-1).any(-1)

    def log(self) -> dict[str, Logged]:
        """Numbers of the samples for the log."""
        earned, greedy = self.earned, self.earned.greedy_rewards
        tokens = earned.lengths.sum()
        return {
            "reward": Mean.of(earned.rewards),
            **described_components(earned.components),
            **({} if greedy is None else {"baseline_reward": Mean.of(greedy)}),
            "reward_share": TimeShare(self.reward_seconds),
            "sample_length": Mean.of(earned.lengths),
            **({} if earned.cut_off is None else {"sample_cut_off": Mean.of(earned.cut_off)}),
            "entropy": Mean(-self.tokens.log_prob.sum().item(), tokens),
            "tokens_per_second": Rate(tokens),
        }


def divided(rollouts: Sequence[Rollout], sizes: Sequence[int], pad: int) -> list[Rollout]:
    """The same articles, without advantages, as rollouts of ``sizes`` articles, each as wide as its longest sample."""
    earned = Earned.joined([rollout.earned for rollout in rollouts])
    rows = [size * earned.rewards.shape[1] for size in sizes]

    def rows_of(values: Sequence[Tensor | None], padding: float) -> Sequence[Tensor | None]:
        tensors = [value for value in values if value is not None]
        return _stacked(tensors, padding).split(rows) if tensors else [None] * len(sizes)

    batches = zip(
        earned.split(sizes),
        _stacked([rollout.tokens.ids for rollout in rollouts], pad).split(rows),
        _stacked([rollout.tokens.log_prob for rollout in rollouts], 0).split(rows),
        rows_of([rollout.start_log_prob for rollout in rollouts], 0),
        strict=True,
    )
    seconds, made = sum(rollout.reward_seconds for rollout in rollouts) / len(sizes), []
    for batch, ids, log_prob, start in batches:
        width = max(1, int(batch.lengths.max()))
        start = None if start is None else start[:, :width]
        tokens = Tokens(ids[:, :width], log_prob[:, :width])
        made.append(Rollout(tokens, batch, start_log_prob=start, reward_seconds=seconds))
    return made


def _stacked(tensors: Sequence[Tensor], value: float) -> Tensor:
    """(R, L) tensors as one, padded with ``value`` to the widest."""
    width = max(tensor.shape[1] for tensor in tensors)
    return torch.cat([F.pad(tensor, (0, width - tensor.shape[1]), value=value) for tensor in tensors])


declare(
    Field(
        "reward",
        "mean reward of the samples, not scaled; in validation, of the decoded articles",
        "rises in validation while other metrics fall: `weighted(...)` with another reward, a smaller `gamma`",
        shown=True,
    ),
    Field(
        "baseline_reward", "of the greedy texts (`self-critical`)", "far above `reward`: longer pretraining", shown=True
    ),
    Field("reward_share", "share of the time of all processes that rewards take", machine=True),
    Field("sample_length", "tokens of a sample, the end token counted"),
    Field(
        "sample_cut_off",
        "share of samples without an end token",
        "high: a larger `sampling.max_length`, or `mask_truncated`",
    ),
    Field(
        "entropy",
        "entropy of the policy at the sampled tokens, in nats per token",
        "near 0: `kl`, a smaller `gamma` or `learning_rate`",
    ),
    Field(
        "tokens_per_second",
        "tokens whose log-probabilities the loss reads, end tokens counted, of all processes: of the samples, and of "
        "references where `gamma` is below 1 or there is coverage",
        prints=",.1f",
        shown=True,
        machine=True,
    ),
)

# objective, log-probabilities (R, W) of samples, rollout -> loss (scalar), numbers for the log; see reward_losses
RewardLoss = Callable[[Objective, Tensor, Rollout], tuple[Tensor, dict[str, Logged]]]


def as_rows(values: np.ndarray, like: Tensor) -> Tensor:
    """(B, k) numbers of samples -> (R,) float32, on the device of ``like``."""
    return torch.as_tensor(values, dtype=torch.float32, device=like.device).flatten()
