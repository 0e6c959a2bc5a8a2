"""Rewards -> advantages: how much better a sample was than what it is compared with.

Notation: B articles, k samples an article, a group. A reward that is not finite is undefined: its sample has no
advantage (NaN) and does not enter the mean of its group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rlsum.config import Estimator

ROUNDING = 1e-9  # rewards of a group that differ by this share of the largest are equal: they came out of rounding


def advantages(
    estimator: Estimator, sample_rewards: np.ndarray, greedy_rewards: np.ndarray | None, scale: float = 1.0
) -> np.ndarray:
    """(B, k) rewards of samples -> (B, k) advantages, times ``scale``. Only self-critical reads ``greedy_rewards``."""
    if estimator == "self-critical":
        assert greedy_rewards is not None  # its caller has decoded them
        return self_critical(sample_rewards, greedy_rewards, scale)
    return scale * WITHIN_GROUPS[estimator](sample_rewards)


def self_critical(sample_rewards: np.ndarray, greedy_rewards: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """(B, k) rewards of samples, (B,) rewards of the greedy decodings -> (B, k) advantages.

    scale * (r(sample) - r(greedy)), Rennie et al. 2017. NaN where either reward is undefined.
    """
    return scale * (sample_rewards - greedy_rewards[:, None])


def leave_one_out(rewards: np.ndarray) -> np.ndarray:
    """(B, k) -> (B, k): r_i - mean of the other rewards of its group, RLOO (Kool et al. 2019; Ahmadian et al. 2024).

    NaN where the reward is undefined, and where no other of its group is defined.
    """
    count = np.isfinite(rewards).sum(-1, keepdims=True)
    return group_centred(rewards) * (count / np.maximum(count - 1, 1))


def group_centred(rewards: np.ndarray) -> np.ndarray:
    """(B, k) -> (B, k): r_i - mean(r), as Dr. GRPO (Liu et al. 2025, arXiv 2503.20783). NaN as in leave_one_out.

    Exactly 0 where all rewards of a group are equal.
    """
    defined = np.isfinite(rewards)
    count = defined.sum(-1, keepdims=True)
    known = np.where(defined, rewards, 0.0)
    lowest = np.where(defined, rewards, np.inf).min(-1, keepdims=True)
    above = np.where(defined, known - np.where(count > 0, lowest, 0.0), 0.0)
    equal = above.max(-1, keepdims=True) <= ROUNDING * np.abs(known).max(-1, keepdims=True)
    centred = np.where(equal, 0.0, above - above.sum(-1, keepdims=True) / np.maximum(count, 1))
    return np.where(defined & (count > 1), centred, np.nan)


def group_normalised(rewards: np.ndarray) -> np.ndarray:
    """(B, k) -> (B, k): (r_i - mean(r)) / std(r), as GRPO (Shao et al. 2024, arXiv 2402.03300).

    NaN as in leave_one_out, exactly 0 where all rewards of a group are equal. The standard deviation is that of a
    sample (n - 1), without a constant beside it: the scale of the reward does not matter at all.
    """
    centred = group_centred(rewards)
    defined = ~np.isnan(centred)
    squares = np.where(defined, centred, 0.0) ** 2
    deviation = np.sqrt(squares.sum(-1, keepdims=True) / np.maximum(defined.sum(-1, keepdims=True) - 1, 1))
    return centred / np.where(deviation > 0, deviation, 1.0)


WITHIN_GROUPS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "rloo": leave_one_out,
    "grpo": group_normalised,
    "dr-grpo": group_centred,
}
