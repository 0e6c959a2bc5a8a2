"""Formulas of the losses: tensors in, tensors out.

Notation: B articles, k samples an article, R rows, T tokens. Every ``log_prob`` is 0 at padding, so sums need no mask.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rlsum.data.vocabulary import PAD
from rlsum.objective import KLEstimator, LengthRule, Ratio

LARGEST = 20.0  # logarithm of a ratio of probabilities: e^20 is 5e8


def target_lengths(target: Tensor, pad: int = PAD) -> Tensor:
    """(R, T) ids -> (R,) number of tokens, the end token counted."""
    return (target != pad).sum(-1)


def sequence_log_prob(log_prob: Tensor, lengths: Tensor, rule: LengthRule) -> Tensor:
    """(R, T) token log-probabilities -> (R,): their sum, or their mean over the row's ``lengths`` (R,) tokens."""
    total = log_prob.sum(-1)
    return total if rule == "sum" else total / lengths.clamp(min=1)


def nll(log_prob: Tensor, lengths: Tensor, rule: LengthRule) -> Tensor:
    """L_MLE = -log p(y* | d), averaged over articles. Scalar. Clark et al. 2019, section 5."""
    return -sequence_log_prob(log_prob, lengths, rule).mean()


def smoothed(log_prob: Tensor, mean_log_prob: Tensor, smoothing: float) -> Tensor:
    """Expected log-probabilities (R, T) of smoothed targets: a token with 1 - ``smoothing``, else any token evenly.

    ``mean_log_prob`` (R, T) is the mean of log p over all tokens. Szegedy et al. 2016, section 7; torch's
    ``cross_entropy(label_smoothing=...)``. 0 at padding, like both inputs.
    """
    return (1.0 - smoothing) * log_prob + smoothing * mean_log_prob


def policy_gradient(log_prob: Tensor, advantage: Tensor, weight: Tensor) -> Tensor:
    """L_RL = -weight * advantage * sum_t log p_t, averaged over samples: ``log_prob`` (R, T), others (R,). Scalar.

    Minimising it raises the probability of samples with a positive advantage. With advantage = r(sample) - r(greedy)
    and weight 1 it is Clark et al. 2019, equation 7 (self-critical training, Rennie et al. 2017). A sample whose
    advantage is NaN or infinite gets no gradient.
    """
    return -(_known(advantage) * weight * log_prob.sum(-1)).mean()


def ratio_change(log_prob: Tensor, old_log_prob: Tensor, lengths: Tensor, ratio: Ratio) -> Tensor:
    """Importance ratios minus 1 of each token (R, T), 0 at padding; p_old is the policy that drew the samples.

    Both come from the same computation, or rounding moves a ratio: in half precision further than the range of GSPO.

    token     p / p_old of the token, Schulman et al. 2017
    sequence  the geometric mean of those of the row's ``lengths`` (R,) tokens, at each of them: GSPO (Zheng et al.
              2025, arXiv 2507.18071)
    """
    log_ratio = log_prob - old_log_prob.detach()
    if ratio == "sequence":
        mean = (log_ratio.sum(-1) / lengths.clamp(min=1)).unsqueeze(-1)
        inside = torch.arange(log_prob.shape[1], device=log_prob.device) < lengths.unsqueeze(-1)
        log_ratio = torch.where(inside, mean, 0.0)
    return torch.expm1(bounded(log_ratio))


def bounded(log_ratio: Tensor) -> Tensor:
    """Logarithms of ratios, ``LARGEST`` where they are above it; their exponential and its gradient are finite.

    The gradient goes on above it: a token whose probability has exploded must still be able to lose it.
    """
    return torch.where(log_ratio > LARGEST, LARGEST + (log_ratio - log_ratio.detach()), log_ratio)


def clipped_policy_gradient(change: Tensor, advantage: Tensor, weight: Tensor, low: float, high: float) -> Tensor:
    """L_RL for samples that an older policy drew (PPO, Schulman et al. 2017, equation 7). Scalar.

    Token by token, the importance ratio minus 1, ``change`` (R, T), replaces log p. The gain A (ratio - 1) is constant
    once the ratio has left [1 - low, 1 + high] in the direction of its advantage A (R,). PPO has high = low, DAPO (Yu
    et al. 2025, arXiv 2503.14476) high > low. If both policies are equal, the loss is 0 and its gradient that of
    ``policy_gradient``. Undefined advantages give no gradient.
    """
    known = _known(advantage).unsqueeze(-1)
    gain = torch.minimum(known * change, known * change.clamp(-low, high))
    return -(weight * gain.sum(-1)).mean()


def _known(advantage: Tensor) -> Tensor:
    """Advantages without gradient, 0 where undefined."""
    return torch.where(advantage.isfinite(), advantage, 0.0).detach()


def kl_per_token(log_prob: Tensor, start_log_prob: Tensor, estimator: KLEstimator) -> Tensor:
    """Estimates (R, T) of KL(policy || start) at tokens that the policy drew, 0 at padding. The start gets no gradient.

    Those of Schulman, "Approximating KL divergence" (2020, joschu.net/blog/kl-approx.html), l = log p - log p_start:

    k1  l                 unbiased; its own gradient is 0 in expectation, see ``kl_advantage``
    k2  l ** 2 / 2        biased; its gradient is that of KL(policy || start) of the next token
    k3  exp(-l) - 1 + l   unbiased, each >= 0; its gradient is that of KL(start || policy) of the next token
    """
    log_ratio = log_prob - start_log_prob.detach()
    if estimator == "k1":
        return log_ratio
    return log_ratio.square() / 2 if estimator == "k2" else torch.expm1(bounded(-log_ratio)) - bounded(-log_ratio)


def kl_advantage(log_ratio: Tensor) -> Tensor:
    """Advantages (B, k) whose policy gradient lowers KL(policy || start), from log p / p_start of samples (B, k).

    Minus that, which is k1 in the reward (Stiennon et al. 2020, arXiv 2009.01325), compared with the other samples of
    the article (Ahmadian et al. 2024, arXiv 2402.14740): the same expectation, less noise. No gradient.
    """
    k = log_ratio.shape[1]
    centred = log_ratio - log_ratio.mean(1, keepdim=True) if k > 1 else log_ratio
    return -centred.detach() * (k / max(k - 1, 1))


def ranking(scores: Tensor, rewards: Tensor, margin: float) -> Tensor:
    """BRIO's contrastive loss: better candidates should be more probable (Liu et al. 2022, section 3). Scalar.

    Sum over pairs of an article's candidates, i better than j, of max(0, score_j - score_i + margin (rank_j - rank_i)),
    averaged over articles. ``scores`` and ``rewards`` are (B, k); a rank counts the candidates that are better. Equal
    or undefined (NaN) rewards make no pair.
    """
    better = rewards.unsqueeze(2) > rewards.unsqueeze(1)  # (B, i, j)
    rank = better.sum(1).to(scores.dtype)
    distance = rank.unsqueeze(1) - rank.unsqueeze(2)
    lack = scores.unsqueeze(1) - scores.unsqueeze(2) + margin * distance
    return torch.where(better, lack.clamp(min=0.0), 0.0).sum((1, 2)).mean()


def minimum_risk(scores: Tensor, advantages: Tensor, distinct: Tensor, sharpness: float) -> Tensor:
    """-E_Q[advantage], averaged over articles. Scalar. Shen et al. 2016 (arXiv 1512.02433), section 3.

    Q is proportional to exp(``sharpness`` * score) over the ``distinct`` samples (B, k) of an article with a defined
    advantage; with ``scores`` (B, k) = log p it is the paper's p^alpha. ``advantages`` (B, k) are rewards, shifted by a
    number for each article, which changes no gradient.
    """
    usable = distinct & advantages.isfinite()
    known = scores.masked_fill(~usable, float("-inf"))
    highest = known.detach().max(-1, keepdim=True).values  # becomes 0: no sharpness makes all of them -inf
    logits = sharpness * (known - highest.masked_fill(highest.isinf(), 0.0))
    logits = logits.masked_fill(~usable.any(-1, keepdim=True), 0.0)  # an article without rewards: its advantages are 0
    return -(logits.softmax(-1) * _known(advantages)).sum(-1).mean()


def best_of_n(scores: Tensor, advantages: Tensor) -> Tensor:
    """-score of the best sample of each article, averaged over articles: ``scores``, ``advantages`` (B, k). Scalar.

    Likelihood training on the best sample, as RAFT (Dong et al. 2023, arXiv 2304.06767). An article whose advantages
    are 0 or undefined has no best sample and counts 0. Of equally good ones the first is taken.
    """
    highest, best = _known(advantages).max(-1, keepdim=True)
    return -(scores.gather(-1, best) * (highest > 0)).sum(-1).mean()


def coverage(penalty: Tensor, lengths: Tensor, rule: LengthRule) -> Tensor:
    """Mean over articles of sum_t sum_i min(a_ti, c_ti): ``penalty`` (B, T). Scalar. See et al. 2017, equation 12."""
    return sequence_log_prob(penalty, lengths, rule).mean()
