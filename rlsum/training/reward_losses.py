"""Losses of samples without advantages: they read the rewards themselves and take the place of ``PolicyGradient``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rlsum.training import losses
from rlsum.training.estimators import group_centred, mean_defined, teaches
from rlsum.training.losses import LengthRule
from rlsum.training.update import Rollout, as_rows


@dataclass(frozen=True)
class Ranking:
    """L_RL of BRIO: the samples of an article should be as probable, by ``length``, as they are good."""

    margin: float = 0.001
    length: LengthRule = "mean"

    def __call__(self, log_prob: Tensor, rollout: Rollout) -> tuple[Tensor, dict[str, float]]:
        """Loss (scalar) from log-probabilities (R, W) of the samples, and numbers for the log."""
        scores = _scores(log_prob, rollout, self.length)  # (B, k)
        defined = np.where(np.isfinite(rollout.rewards), rollout.rewards, np.nan)
        rewards = torch.as_tensor(defined, device=log_prob.device, dtype=torch.float64)
        better = rewards.unsqueeze(2) > rewards.unsqueeze(1)  # (B, i, j)
        right = (scores.unsqueeze(2) > scores.unsqueeze(1))[better].float()
        return losses.ranking(scores, rewards, self.margin), {
            "ranked_right": right.mean().item(),
            "undefined_rewards": float(np.isnan(defined).mean()),
            "zero_groups": 1.0 - better.flatten(1).any(-1).float().mean().item(),
        }


@dataclass(frozen=True)
class MinimumRisk:
    """L_RL = -E_Q[reward], Q proportional to p^sharpness over an article's distinct samples (Shen et al. 2016).

    With ``length`` mean, p is the geometric mean over tokens (Edunov et al. 2018, arXiv 1711.04956). The samples alone
    make up Q: the reference is not added. The rewards are multiplied by ``scale``.
    """

    sharpness: float = 1.0
    length: LengthRule = "mean"
    scale: float = 1.0

    def __call__(self, log_prob: Tensor, rollout: Rollout) -> tuple[Tensor, dict[str, float]]:
        """Loss (scalar) from log-probabilities (R, W) of the samples, and numbers for the log."""
        scores, advantages = _scores(log_prob, rollout, self.length), _advantages(rollout, log_prob)
        loss = self.scale * losses.minimum_risk(scores, advantages, _distinct(rollout), self.sharpness)
        return loss, _teaching(rollout)


@dataclass(frozen=True)
class BestOfN:
    """L_RL = -log p(best sample | article), by ``length``: likelihood training on it (RAFT, Dong et al. 2023)."""

    length: LengthRule = "mean"

    def __call__(self, log_prob: Tensor, rollout: Rollout) -> tuple[Tensor, dict[str, float]]:
        """Loss (scalar) from log-probabilities (R, W) of the samples, and numbers for the log."""
        loss = losses.best_of_n(_scores(log_prob, rollout, self.length), _advantages(rollout, log_prob))
        best = np.where(np.isfinite(rollout.rewards), rollout.rewards, -np.inf).max(-1)
        return loss, {"best_reward": mean_defined(np.where(np.isfinite(best), best, np.nan)), **_teaching(rollout)}


def _scores(log_prob: Tensor, rollout: Rollout, rule: LengthRule) -> Tensor:
    """(R, W) log-probabilities -> (B, k): sum or mean over the tokens of a sample."""
    lengths = as_rows(rollout.lengths, log_prob)
    return losses.sequence_log_prob(log_prob, lengths, rule).view(rollout.rewards.shape)


def _advantages(rollout: Rollout, like: Tensor) -> Tensor:
    """(B, k) rewards minus their mean over the article, exactly 0 where they are equal, NaN where undefined."""
    return as_rows(group_centred(rollout.rewards), like).view(rollout.rewards.shape)


def _distinct(rollout: Rollout) -> Tensor:
    """(B, k): whether no earlier sample of the article is the same text."""
    ids = rollout.samples.ids.view(*rollout.rewards.shape, -1)
    same = (ids.unsqueeze(2) == ids.unsqueeze(1)).all(-1)  # (B, k, k)
    return ~same.tril(-1).any(-1)


def _teaching(rollout: Rollout) -> dict[str, float]:
    """Shares of samples without a reward, and of articles whose samples cannot be told apart by it."""
    return {
        "undefined_rewards": float((~np.isfinite(rollout.rewards)).mean()),
        "zero_groups": float(1.0 - teaches(group_centred(rollout.rewards)).mean()),
    }
