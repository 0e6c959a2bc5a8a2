"""Rewards -> advantages: how much better a sample was than what it is compared with."""

from __future__ import annotations

import numpy as np


def self_critical(sample_rewards: np.ndarray, greedy_rewards: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """(B, k) rewards of samples, (B,) rewards of the greedy decodings -> (B, k) advantages.

    scale * (r(sample) - r(greedy)), Rennie et al. 2017. NaN where either reward is undefined.
    """
    return scale * (sample_rewards - greedy_rewards[:, None])
