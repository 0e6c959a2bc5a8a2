"""Samples from p ** (1 / temperature) without forbidden tokens, drawn and scored without autograd's (N, V') tensors.

    q(y) = p(y) ** (1 / temperature) / Z,      Z: the sum of p(v) ** (1 / temperature) over the allowed tokens v
    p(v) = p_gen softmax(logits)_v + (1 - p_gen) attention to v      (See et al. 2017, equation 9)

Notation: N tokens, H features, V words, V' = V + unknown words of the batch's articles, S source tokens.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from rlsum.data.vocabulary import EOS, PAD
from rlsum.models.constraints import Forbidden
from rlsum.models.decoding import Sampling
from rlsum.models.execution import execution
from rlsum.models.pointer_generator.kernels.word_scores import SMALLEST, WordOdds, precision
from rlsum.models.sampling import BLOCK, NEVER, Drawing, NextWords, log_policy, lost_below, recomputed

WARM = 1.5  # temperatures above it give words that float32 loses a share


def weights_(words: NextWords, forbidden: Forbidden, sampling: Sampling, looks: bool) -> Tensor:
    """Replace p (R, V') by weights in proportion to q; the end alone where nothing is allowed.

    ``looks`` for rows in which float32 has lost what is left, at temperatures above WARM always.
    """
    p = forbidden.mark(words.p, 0.0)
    highest = power_(p, sampling.temperature)
    p[:, EOS].masked_fill_(highest == 0, 1.0)
    if looks or sampling.temperature > WARM:

        def exact(rows: Tensor) -> Tensor:
            return log_policy(words.log_p(rows), forbidden.select(rows), sampling).exp()

        return recomputed(p, highest < smallest(sampling, p.shape[1]), exact)
    return p


def smallest(sampling: Sampling, size: int) -> float:
    """The probability that the most probable of ``size`` words must have, or they are drawn and scored in log space."""
    return max(SMALLEST, math.exp(min(0.0, lost_below(sampling.temperature, size))))


def power_(p: Tensor, temperature: float) -> Tensor:
    """Replace p (N, V') by (p / highest) ** (1 / temperature), 0 where it is 0; return the highest (N,)."""
    highest = p.amax(-1)
    if temperature == 1:
        p.div_(highest.clamp(min=torch.finfo(p.dtype).tiny).unsqueeze(1))
    else:  # faster than a power, and on an AMD processor than exp
        p.log2_().sub_(highest.log2().clamp(min=NEVER).unsqueeze(1)).div_(temperature).exp2_()
    return highest


def drawn_log_prob(
    features: Tensor, weight: Tensor, bias: Tensor, log_generate: Tensor, log_copied: Tensor, extended: Tensor,
    unknowns: int, drawing: Drawing, odds: WordOdds | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Log q (N,) of drawn tokens, differentiable, also twice over one graph; and whether it is lost (N,): underflow has
    left too little of its probability, or of that of all allowed tokens, and the plain formula must score it.

    The plain formula: ``Drawing.log_prob`` of ``WordDistribution.log_p``.

    features (N, H), weight (V, H), bias (V,), log p_gen (N,), log of (1 - p_gen) times attention (N, S), extended ids
    of the source tokens (N, S). ``odds``: of all words at the N tokens, if decoding has computed them.
    """
    dtype = precision(features)
    layer = features.to(dtype), weight.to(dtype), bias.to(dtype)
    scored: tuple[Tensor, Tensor] = _DrawnLogProb.apply(
        *layer, log_generate, log_copied, extended, unknowns, drawing, odds
    )
    return scored


class _DrawnLogProb(torch.autograd.Function):
    """Keeps one block of N x V, the odds of all words. All else is computed in parts, in the backward pass again.

    With g = d loss / d p, the gradient of logit u is g_u p_gen s_u - s_u sum_v g_v p_gen s_v, where s is the softmax.
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, log_generate: Tensor, log_copied: Tensor,
        extended: Tensor, unknowns: int, drawing: Drawing, known: WordOdds | None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        block = WordOdds(len(features), weight) if known is None else known
        block.complete(features, weight, bias)
        odds, of_words = block.odds[: len(features)], block.total[: len(features)]
        share, copied = log_generate.exp() / of_words, log_copied.exp()
        target_p, highest, total = torch.empty(3, len(features), dtype=share.dtype, device=share.device)
        width = len(weight) + unknowns
        for rows, forbidden in drawing.forbidden.split(execution(features.device).chunk // width or 1, len(features)):
            p = forbidden.mark(mixed(odds[rows], share[rows], copied[rows], extended[rows], unknowns), 0.0)
            target_p[rows] = p.gather(1, drawing.targets[rows].unsqueeze(1)).squeeze(1)
            highest[rows] = power_(p, drawing.sampling.temperature)
            torch.sum(p, -1, out=total[rows])
        total.masked_fill_(total == 0, 1.0)
        ctx.save_for_backward(features, weight, odds, of_words, share, copied, extended, highest, total)
        ctx.unknowns, ctx.drawing = unknowns, drawing
        lost = (highest < smallest(drawing.sampling, width)) | (target_p < SMALLEST)
        lost &= drawing.targets != PAD
        ctx.mark_non_differentiable(lost)
        log_weight = (target_p.log() - highest.log()) / drawing.sampling.temperature
        return (log_weight - total.log()).masked_fill_(lost, 0.0), lost

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, odds, of_words, share, copied, extended, highest, total = ctx.saved_tensors
        drawing, size, power = ctx.drawing, len(weight), 1 / ctx.drawing.sampling.temperature
        d_features, d_weight = torch.empty_like(features), torch.zeros_like(weight, dtype=odds.dtype)
        d_bias = odds.new_zeros(size)
        d_generate, d_copied = torch.empty_like(share), torch.empty_like(copied)
        scale = torch.where(highest > 0, grad * power / highest, 0.0)
        for rows, forbidden in drawing.forbidden.split(BLOCK // (size + ctx.unknowns) or 1, len(features)):
            p = forbidden.mark(mixed(odds[rows], share[rows], copied[rows], extended[rows], ctx.unknowns), 0.0)
            targets = drawing.targets[rows].unsqueeze(1)
            target_p = p.gather(1, targets)
            # d log q / d p: power / p of the target, minus power q / p of every token
            g = _ratios_(p, highest[rows], power).mul_(-(scale[rows] / total[rows]).unsqueeze(1))
            of_target = grad[rows].unsqueeze(1) * power / target_p.clamp(min=SMALLEST)
            g.scatter_add_(1, targets, of_target.masked_fill_(target_p == 0, 0.0))
            d_copied[rows] = g.gather(1, extended[rows]) * copied[rows]
            g = g[:, :size].mul_(odds[rows]).mul_(share[rows].unsqueeze(1))
            d_generate[rows] = g.sum(-1)
            g.addcmul_(odds[rows], (d_generate[rows] / of_words[rows]).unsqueeze(1), value=-1)
            d_bias += g.sum(0)
            g = g.to(weight.dtype)
            d_features[rows] = g @ weight
            d_weight += g.t() @ features[rows]
        d_layer = d_features, d_weight.to(weight.dtype), d_bias.to(weight.dtype)
        return *d_layer, d_generate, d_copied, None, None, None, None


def _ratios_(p: Tensor, highest: Tensor, power: float) -> Tensor:
    """Replace p (N, V') by (p / highest) ** (power - 1), 0 where p is 0."""
    if power == 1:
        return p.sign_()
    impossible = p == 0 if power < 1 else None
    p.log2_().sub_(highest.log2().clamp(min=NEVER).unsqueeze(1)).mul_(power - 1).exp2_()
    return p if impossible is None else p.masked_fill_(impossible, 0.0)


def mixed(
    odds: Tensor, share: Tensor, copied: Tensor, extended: Tensor, unknowns: int, out: Tensor | None = None
) -> Tensor:
    """P (n, V') from the odds (n, V) of words, p_gen / their total (n,), and copy probabilities (n, S).

    ``out``: where to write it; its first V columns may be the odds.
    """
    size = odds.shape[1]
    p = odds.new_empty(len(odds), size + unknowns) if out is None else out
    torch.mul(odds, share.unsqueeze(1), out=p[:, :size])
    p[:, size:] = 0.0
    return p.scatter_add_(1, extended, copied)
