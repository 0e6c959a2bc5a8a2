"""The objectives: tensors in, tensors out.

Notation: B articles, k samples an article, T tokens. Every ``log_prob`` is 0 at padding, so sums need no mask.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

LengthRule = Literal["sum", "mean"]


def sequence_log_prob(log_prob: Tensor, lengths: Tensor, rule: LengthRule) -> Tensor:
    """(R, T) token log-probabilities -> (R,): their sum, or their mean over the row's ``lengths`` (R,) tokens."""
    total = log_prob.sum(-1)
    return total if rule == "sum" else total / lengths.clamp(min=1)


def nll(log_prob: Tensor, lengths: Tensor, rule: LengthRule) -> Tensor:
    """L_MLE = -log p(y* | d), averaged over articles. Scalar. Clark et al. 2019, section 5."""
    return -sequence_log_prob(log_prob, lengths, rule).mean()


def policy_gradient(log_prob: Tensor, lengths: Tensor, advantage: Tensor, rule: LengthRule) -> Tensor:
    """L_RL = -advantage * log p(sample | d), averaged over samples. Scalar.

    Minimising it raises the probability of samples with a positive advantage (R,). With advantage = r(sample) -
    r(greedy) it is Clark et al. 2019, equation 7 (self-critical training, Rennie et al. 2017). An advantage that is
    undefined (NaN) or infinite gives its sample no gradient.
    """
    weight = torch.where(advantage.isfinite(), advantage, 0.0).detach()
    return -(weight * sequence_log_prob(log_prob, lengths, rule)).mean()


def coverage(penalty: Tensor, lengths: Tensor, rule: LengthRule) -> Tensor:
    """Mean over articles of sum_t sum_i min(a_ti, c_ti): ``penalty`` (B, T). Scalar. See et al. 2017, equation 12."""
    return sequence_log_prob(penalty, lengths, rule).mean()


def mixed(rl: Tensor, mle: Tensor, gamma: float) -> Tensor:
    """L = gamma L_RL + (1 - gamma) L_MLE. Clark et al. 2019, equation 8."""
    return gamma * rl + (1.0 - gamma) * mle
