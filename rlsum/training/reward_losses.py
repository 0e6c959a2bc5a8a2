"""Losses of samples without advantages: they read the rewards themselves and take the place of ``PolicyGradient``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rlsum.training import losses
from rlsum.training.losses import LengthRule
from rlsum.training.update import Rollout, as_rows


@dataclass(frozen=True)
class Ranking:
    """L_RL of BRIO: the samples of an article should be as probable, by ``length``, as they are good."""

    margin: float = 0.001
    length: LengthRule = "mean"

    def __call__(self, log_prob: Tensor, rollout: Rollout) -> tuple[Tensor, dict[str, float]]:
        """Loss (scalar) from log-probabilities (R, W) of the samples, and numbers for the log."""
        lengths = as_rows(rollout.lengths, log_prob)
        scores = losses.sequence_log_prob(log_prob, lengths, self.length).view(rollout.rewards.shape)  # (B, k)
        defined = np.where(np.isfinite(rollout.rewards), rollout.rewards, np.nan)
        rewards = torch.as_tensor(defined, device=log_prob.device, dtype=torch.float64)
        better = rewards.unsqueeze(2) > rewards.unsqueeze(1)  # (B, i, j)
        right = (scores.unsqueeze(2) > scores.unsqueeze(1))[better].float()
        return losses.ranking(scores, rewards, self.margin), {
            "ranked_right": right.mean().item(),
            "undefined_rewards": float(np.isnan(defined).mean()),
            "zero_groups": 1.0 - better.flatten(1).any(-1).float().mean().item(),
        }
