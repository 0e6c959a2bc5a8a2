"""Losses of samples: the policy gradient, which reads advantages, and others, which read the rewards themselves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.objective import LengthRule, Objective
from rlsum.training import losses
from rlsum.training.estimators import described, group_centred, teaches, tied
from rlsum.training.log.numbers import Field, Logged, Mean, declare
from rlsum.training.rollout import RewardLoss, Rollout, as_rows


def policy_gradient(objective: Objective, log_prob: Tensor, rollout: Rollout) -> tuple[Tensor, dict[str, Logged]]:
    """L_RL = -weight * advantage * log p(sample), plus a KL penalty. W >= L: samples may be padded as references are.

    With ``clip``, importance ratios to the policy that sampled, clipped, take the place of log p (Schulman et al. 2017;
    ``clip_high``: DAPO, Yu et al. 2025; ``ratio`` of the sequence: GSPO, Zheng et al. 2025). Of the KL penalty, k1
    joins the advantages, k2 and k3 the loss, see ``losses.kl_per_token``. In later updates of the same samples, these
    two are weighted by p / p_old of the token (DeepSeek-V3.2, arXiv 2512.02556).
    """
    assert rollout.advantages is not None, "a policy gradient needs credit"
    assert rollout.weights is not None
    advantage, weight = (as_rows(values, log_prob) for values in (rollout.advantages, rollout.weights))  # (R,)
    advantage = torch.where(advantage.isfinite(), advantage, 0.0)
    lengths, log = rollout.earned.lengths, described(rollout.advantages, rollout.weights)  # (B, k)
    tokens = lengths.sum()
    old = log_prob.detach() if rollout.old_log_prob is None else _widened(rollout.old_log_prob, log_prob)
    penalty = torch.zeros((), device=log_prob.device)
    if objective.kl:
        assert rollout.start_log_prob is not None, "a KL penalty needs the start"
        start = _widened(rollout.start_log_prob, log_prob)
        log["kl"] = Mean(losses.kl_per_token(old, start, "k3").sum().item(), tokens)
        kl = losses.kl_per_token(log_prob, start, objective.kl_estimator)  # (R, W)
        if objective.kl_estimator == "k1":
            advantage = advantage + objective.kl * losses.kl_advantage(kl.sum(-1).view(lengths.shape)).flatten()
        else:
            penalty = objective.kl * (weight * (losses.bounded(log_prob.detach() - old).exp() * kl).sum(-1)).mean()
    if objective.clip is None:
        return losses.policy_gradient(log_prob, advantage, weight) + penalty, log
    low, high = objective.clip, objective.clip if objective.clip_high is None else objective.clip_high
    change = losses.ratio_change(log_prob, old, as_rows(lengths, log_prob), objective.ratio)  # (R, W)
    log["ratio_outside"] = Mean(((change < -low) | (change > high)).sum().item(), tokens)
    return losses.clipped_policy_gradient(change, advantage, weight, low, high) + penalty, log


def ranking(objective: Objective, log_prob: Tensor, rollout: Rollout) -> tuple[Tensor, dict[str, Logged]]:
    """L_RL of BRIO: the samples of an article should be as probable, by ``length``, as they are good."""
    scores, compared = _scores(log_prob, rollout, objective.length), _compared(rollout, objective)
    rewards = torch.as_tensor(tied(compared), device=log_prob.device, dtype=torch.float64)
    better = rewards.unsqueeze(2) > rewards.unsqueeze(1)  # (B, i, j)
    right = (scores.unsqueeze(2) > scores.unsqueeze(1))[better].float()
    log = {"ranked_right": Mean(right.sum().item(), right.numel()), **_teaching(rollout, compared)}
    return losses.ranking(scores, rewards, objective.margin), log


def minimum_risk(objective: Objective, log_prob: Tensor, rollout: Rollout) -> tuple[Tensor, dict[str, Logged]]:
    """L_RL = -E_Q[reward], Q proportional to p^sharpness over an article's distinct samples (Shen et al. 2016).

    With ``length`` mean, p is the geometric mean over tokens (Edunov et al. 2018, arXiv 1711.04956). The samples alone
    make up Q: the reference is not added. The rewards are multiplied by ``reward_scale``.
    """
    scores, compared = _scores(log_prob, rollout, objective.length), _compared(rollout, objective)
    risk = losses.minimum_risk(scores, _advantages(compared, scores), rollout.distinct(), objective.sharpness)
    return objective.reward_scale * risk, _teaching(rollout, compared)


def best_of_n(objective: Objective, log_prob: Tensor, rollout: Rollout) -> tuple[Tensor, dict[str, Logged]]:
    """L_RL = -log p(best sample | article), by ``length``: likelihood training on it (RAFT, Dong et al. 2023)."""
    scores, compared = _scores(log_prob, rollout, objective.length), _compared(rollout, objective)
    best = np.where(np.isfinite(compared), compared, -np.inf).max(-1)
    log = {"best_reward": Mean.of(np.where(np.isfinite(best), best, np.nan)), **_teaching(rollout, compared)}
    return losses.best_of_n(scores, _advantages(compared, scores)), log


# kind of an objective -> the loss of its samples
REWARD_LOSSES: Mapping[str, RewardLoss] = {
    "mixed": policy_gradient,
    "ranking": ranking,
    "minimum-risk": minimum_risk,
    "best-of-n": best_of_n,
}


declare(
    Field("kl", "KL(policy || start) of the policy that drew the samples (k3), in nats per token"),
    Field(
        "ratio_outside",
        "share of tokens whose ratio is outside the range of `clip`",
        "high: fewer `updates_per_sample`",
    ),
    Field("ranked_right", "share of pairs of samples in which the better one is more probable (`ranking`)"),
    Field("best_reward", "mean reward of the best sample of each article (`best-of-n`)"),
)


def _scores(log_prob: Tensor, rollout: Rollout, rule: LengthRule) -> Tensor:
    """(R, W) log-probabilities -> (B, k): sum or mean over the tokens of a sample."""
    lengths = as_rows(rollout.earned.lengths, log_prob)
    return losses.sequence_log_prob(log_prob, lengths, rule).view(rollout.earned.rewards.shape)


def _compared(rollout: Rollout, objective: Objective) -> np.ndarray:
    """(B, k) rewards of the samples that are compared; NaN where undefined, or masked."""
    return np.where(rollout.earned.in_loss(objective), rollout.earned.rewards, np.nan)


def _advantages(rewards: np.ndarray, like: Tensor) -> Tensor:
    """(B, k) rewards minus their mean over the article, exactly 0 where they are equal, NaN where undefined."""
    return as_rows(group_centred(rewards), like).view(rewards.shape)


def _teaching(rollout: Rollout, compared: np.ndarray) -> dict[str, Logged]:
    """Shares of samples without a reward, and of articles whose samples cannot be told apart by it."""
    return {
        "undefined_rewards": Mean.of(~np.isfinite(rollout.earned.rewards)),
        "zero_groups": Mean.of(~teaches(group_centred(compared))),
    }


def _widened(values: Tensor, like: Tensor) -> Tensor:
    """(R, L) -> (R, W), padded with 0, the log-probability of padding."""
    return F.pad(values, (0, like.shape[1] - values.shape[1]))
