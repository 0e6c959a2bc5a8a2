"""What samples and their rewards teach: a policy gradient, or a ranking. The likelihood beside it is in steps.py.

Notation: B articles, k samples an article, R = B*k rows, W >= L tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.training import estimators, losses
from rlsum.training.estimators import Estimator
from rlsum.training.losses import LengthRule, target_lengths
from rlsum.training.rollout import Rollout


@dataclass(frozen=True)
class PolicyGradient:
    """-advantage log p(sample), with a penalty on leaving the start.

    estimator   how rewards become advantages
    scale       factor on them
    length      the log-probability of a sample is the sum or the mean over its tokens; with dr-grpo it is the sum over
                ``budget``, the tokens that a sample may have, so that no sample's own length divides it
    clip        where given, importance ratios to the policy that drew the samples, clipped
    kl          weight of KL(policy || start)
    """

    estimator: Estimator = "self-critical"
    scale: float = 1.0
    length: LengthRule = "mean"
    budget: int = 1
    clip: float | None = None
    kl: float = 0.0

    @property
    def needs_greedy(self) -> bool:
        """Whether samples are compared with the greedy decoding."""
        return self.estimator == "self-critical"

    def __call__(self, log_prob: Tensor, rollout: Rollout, pad: int) -> tuple[Tensor, dict[str, float]]:
        """Loss (scalar) of samples whose log-probabilities (R, W) are the model's own, and numbers for the log."""
        advantage = estimators.advantages(self.estimator, rollout.rewards, rollout.greedy_rewards, self.scale)
        weight = torch.as_tensor(advantage, dtype=torch.float32, device=log_prob.device).flatten()
        lengths, rule = self._normaliser(rollout.samples.ids, pad)
        log = _advantage_log(advantage)
        if self.clip is None:
            loss = losses.policy_gradient(log_prob, lengths, weight, rule)
        else:
            drawn = _widened(rollout.samples.log_prob, log_prob)
            loss = losses.clipped_policy_gradient(log_prob, drawn, lengths, weight, rule, self.clip)
            tokens = target_lengths(rollout.samples.ids, pad).sum()
            outside = ((log_prob - drawn).expm1().abs() > self.clip).sum()
            log["ratio_outside"] = (outside / tokens).item()
        if self.kl:
            assert rollout.start_log_prob is not None, "a penalty needs the start that it measures from"
            distance = losses.kl_per_token(log_prob, _widened(rollout.start_log_prob, log_prob))
            log["kl"] = (distance.sum() / target_lengths(rollout.samples.ids, pad).sum()).item()
            loss = loss + self.kl * losses.sequence_log_prob(distance, lengths, rule).mean()
        return loss, log

    def _normaliser(self, ids: Tensor, pad: int) -> tuple[Tensor, LengthRule]:
        lengths = target_lengths(ids, pad)
        return (
            (torch.full_like(lengths, self.budget), "mean") if self.estimator == "dr-grpo" else (lengths, self.length)
        )


@dataclass(frozen=True)
class Ranking:
    """Samples of an article should be as probable, by ``length``, as they are good; see losses.ranking."""

    margin: float = 0.001
    length: LengthRule = "mean"
    needs_greedy = False

    def __call__(self, log_prob: Tensor, rollout: Rollout, pad: int) -> tuple[Tensor, dict[str, float]]:
        """Loss (scalar) of samples whose log-probabilities (R, W) are the model's own, and numbers for the log."""
        lengths = target_lengths(rollout.samples.ids, pad)
        scores = losses.sequence_log_prob(log_prob, lengths, self.length).view(rollout.rewards.shape)
        known = np.where(np.isfinite(rollout.rewards), rollout.rewards, np.nan)
        rewards = torch.as_tensor(known, device=log_prob.device, dtype=torch.float64)
        better = rewards.unsqueeze(2) > rewards.unsqueeze(1)
        right = (scores.unsqueeze(2) > scores.unsqueeze(1))[better].float()
        return losses.ranking(scores, rewards, self.margin), {
            "ranked_right": right.mean().item(),
            "undefined_rewards": float(np.isnan(known).mean()),
            "zero_groups": 1.0 - better.flatten(1).any(-1).float().mean().item(),
        }


def _widened(values: Tensor, like: Tensor) -> Tensor:
    """(R, L) -> (R, W) with 0 behind, as scores of padding are."""
    return F.pad(values, (0, like.shape[1] - values.shape[1]))


def _advantage_log(advantage: np.ndarray) -> dict[str, float]:
    """Numbers of advantages (B, k) for the log."""
    defined = np.isfinite(advantage)
    known = advantage[defined] if defined.any() else np.array([np.nan])
    return {
        "advantage_mean": float(known.mean()),
        "advantage_std": float(np.std(known)),
        "advantage_min": float(known.min()),
        "advantage_max": float(known.max()),
        "undefined_rewards": float((~defined).mean()),
        "zero_advantage": float((known == 0).mean()) if defined.any() else float("nan"),
        "zero_groups": float((~defined | (advantage == 0)).all(-1).mean()),
    }
