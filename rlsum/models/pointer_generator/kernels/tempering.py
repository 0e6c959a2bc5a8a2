"""Samples from p ** (1 / temperature) without forbidden tokens, drawn and scored without autograd's (N, V') tensors.

    q(y) = p(y) ** (1 / temperature) / Z,      Z: the sum of p(v) ** (1 / temperature) over the allowed tokens v
    p(v) = p_gen softmax(logits)_v + (1 - p_gen) attention to v      (See et al. 2017, equation 9)

Notation: N tokens, H features, V words, V' = V + unknown words of the batch's articles, S source tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rlsum.data.vocabulary import EOS, PAD, UNK
from rlsum.models.decoding import Sampling
from rlsum.models.execution import execution
from rlsum.models.pointer_generator.kernels.word_scores import SMALLEST, WordOdds, precision
from rlsum.models.sampling import BLOCKED, NEVER, NextWords, constrained, forbid, log_policy, lost_below, repeats

WARM = 1.5  # temperatures above it give words that float32 loses a share
CHUNK_BACKWARD = 2**21  # probabilities whose gradients are multiplied with the output layer together


def weights_(words: NextWords, ids: Tensor, sampling: Sampling) -> Tensor:
    """Replace p (R, V') after the ids (R, t) by weights in proportion to q; the end alone where nothing is allowed."""
    p = forbid(words.p, 0.0, ids, sampling, (EOS,), (UNK,))
    highest = power_(p, sampling.temperature)
    p[:, EOS].masked_fill_(highest == 0, 1.0)
    if sampling.temperature > WARM or constrained(sampling, ids.shape[1]):  # else a look would keep a GPU waiting
        lost = (highest < smallest(sampling, p.shape[1])).nonzero().squeeze(1)
        if len(lost):
            p[lost] = log_policy(words.log_p(lost), ids[lost], sampling, (EOS,), (UNK,)).exp()
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


class Drawing(NamedTuple):
    """How N tokens were drawn.

    targets     (N,) what was drawn
    step        (N,) the number of tokens before each
    row, token  (M,) tokens that would have repeated an n-gram, and at which of the N they were forbidden
    """

    sampling: Sampling
    targets: Tensor
    step: Tensor
    row: Tensor
    token: Tensor

    def log_prob(self, log_p: Tensor) -> Tensor:
        """Log q (N,) from log-probabilities (N, V') of the model, in log space; NEVER where q is 0."""
        possible = torch.ones_like(log_p)
        self._forbid(slice(0, None), slice(0, None), possible)
        possible = (possible > 0) & (log_p > NEVER / 2)
        possible[:, EOS] |= ~possible.any(-1)
        log_q = (log_p / self.sampling.temperature).masked_fill(~possible, BLOCKED).log_softmax(-1)
        return log_q.gather(1, self.targets.unsqueeze(1)).squeeze(1).clamp(min=NEVER)

    def select(self, some: Tensor) -> Drawing:
        """Some of the tokens (n,), by number in ascending order."""
        number = some.new_full((len(self.targets),), -1)
        number[some] = torch.arange(len(some), device=some.device)
        row = number[self.row]
        kept = row >= 0
        return Drawing(self.sampling, self.targets[some], self.step[some], row[kept], self.token[kept])

    @classmethod
    def of(cls, sampling: Sampling, target: Tensor, place: Tensor) -> Drawing:
        """Of the tokens at places (N,) of the flattened samples (R, T)."""
        width = target.shape[1]
        row, token = [], []
        for t in range(width if sampling.block_ngrams else 0):
            rows, tokens = repeats(target[:, :t], sampling.block_ngrams)
            row.append(rows * width + t)
            token.append(tokens)
        number = place.new_full((target.numel(),), -1)
        number[place] = torch.arange(len(place), device=place.device)
        where = number[torch.cat(row)] if row else place[:0]
        what = torch.cat(token) if token else place[:0]
        order = where.argsort()[int((where < 0).sum()) :]  # behind the end of a text nothing is drawn
        return cls(sampling, target.flatten()[place], place % width, where[order], what[order])

    def parts(self, width: int, most: int) -> Iterator[tuple[slice, Callable[[Tensor], None]]]:
        """Slices of the N, of at most ``most`` of ``width`` numbers each, and what sets forbidden p of a slice to 0."""
        size = most // width or 1
        starts = range(0, len(self.targets), size)
        firsts = torch.searchsorted(self.row, torch.tensor([*starts, len(self.targets)], device=self.row.device))
        for start, (first, last) in zip(starts, pairwise(firsts.tolist()), strict=True):
            rows, forbidden = slice(start, start + size), slice(first, last)
            yield rows, partial(self._forbid, rows, forbidden)

    def _forbid(self, rows: slice, forbidden: slice, p: Tensor) -> None:
        p[:, UNK] = 0.0
        p[:, EOS].masked_fill_(self.step[rows] < self.sampling.min_length, 0.0)
        p[self.row[forbidden] - rows.start, self.token[forbidden]] = 0.0


def drawn_log_prob(
    features: Tensor, weight: Tensor, bias: Tensor, log_generate: Tensor, log_copied: Tensor, extended: Tensor,
    unknowns: int, drawing: Drawing, odds: WordOdds | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Log q (N,) of drawn tokens, differentiable, also twice over one graph; and whether it is lost (N,): underflow has
    left too little of its probability, or of that of all allowed tokens, and ``Drawing.log_prob`` must score it.

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
        own, highest, total = torch.empty(3, len(features), dtype=share.dtype, device=share.device)
        for rows, forbid_ in drawing.parts(len(weight) + unknowns, execution(features.device).chunk):
            p = mixed(odds[rows], share[rows], copied[rows], extended[rows], unknowns)
            forbid_(p)
            own[rows] = p.gather(1, drawing.targets[rows].unsqueeze(1)).squeeze(1)
            highest[rows] = power_(p, drawing.sampling.temperature)
            torch.sum(p, -1, out=total[rows])
        total.masked_fill_(total == 0, 1.0)
        ctx.save_for_backward(features, weight, odds, of_words, share, copied, extended, highest, total)
        ctx.unknowns, ctx.drawing = unknowns, drawing
        lost = (highest < smallest(drawing.sampling, len(weight) + unknowns)) | (own < SMALLEST)
        lost &= drawing.targets != PAD
        ctx.mark_non_differentiable(lost)
        log_weight = (own.log() - highest.log()) / drawing.sampling.temperature
        return (log_weight - total.log()).masked_fill_(lost, 0.0), lost

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, odds, of_words, share, copied, extended, highest, total = ctx.saved_tensors
        drawing, size, power = ctx.drawing, len(weight), 1 / ctx.drawing.sampling.temperature
        d_features, d_weight = torch.empty_like(features), torch.zeros_like(weight, dtype=odds.dtype)
        d_bias = odds.new_zeros(size)
        d_generate, d_copied = torch.empty_like(share), torch.empty_like(copied)
        scale = torch.where(highest > 0, grad * power / highest, 0.0)
        for rows, forbid_ in drawing.parts(size + ctx.unknowns, CHUNK_BACKWARD):
            p = mixed(odds[rows], share[rows], copied[rows], extended[rows], ctx.unknowns)
            forbid_(p)
            targets = drawing.targets[rows].unsqueeze(1)
            own = p.gather(1, targets)
            # d log q / d p: power / p of the target, minus power q / p of every token
            g = _ratios_(p, highest[rows], power).mul_(-(scale[rows] / total[rows]).unsqueeze(1))
            of_target = grad[rows].unsqueeze(1) * power / own.clamp(min=SMALLEST)
            g.scatter_add_(1, targets, of_target.masked_fill_(own == 0, 0.0))
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


def mixed(odds: Tensor, share: Tensor, copied: Tensor, extended: Tensor, unknowns: int) -> Tensor:
    """P (n, V') from the odds (n, V) of words, p_gen / their total (n,), and copy probabilities (n, S)."""
    p = odds.new_empty(len(odds), odds.shape[1] + unknowns)
    torch.mul(odds, share.unsqueeze(1), out=p[:, : odds.shape[1]])
    p[:, odds.shape[1] :] = 0.0
    return p.scatter_add_(1, extended, copied)
