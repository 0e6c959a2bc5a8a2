"""The output layer of a large vocabulary: log-probabilities of targets with gradient, and probabilities for decoding.

Notation: N tokens, H features, V words.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.models.execution import execution
from rlsum.models.pointer_generator.kernels.kept_memory import KeptMemory

LEAST = -60.0  # log of the smallest share of words that is computed from odds: 1 / share stays finite
SMALLEST = 1e-30  # odds of which the logarithm has all digits
LOG2_E = math.log2(math.e)
ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
MEMORY = KeptMemory()  # of the odds


class WordColumns:
    """The output layer for a few rows at a time, prepared once for all steps of a decoding."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.dtype = precision(weight)
        self.weight, self.bias = packed(weight.detach().to(self.dtype)), bias.detach().float()

    def odds(self, features: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
        """Write exp(logit - highest logit) of N tokens to ``out`` (N, V); return the highest and the total, both (N,).

        features (N, H); the others float32.
        """
        return write_odds(times(features.to(self.dtype), self.weight), self.bias, out)


def packed(weight: Tensor) -> Tensor:
    """A weight (V, H) as ``times`` reads it fastest, for many products with few rows, which take the time to read it.

    On a CPU that is oneDNN's own order: half the time of the product of BLAS with 8 rows, three quarters with 40.
    """
    return torch.ops.mkldnn._reorder_linear_weight(weight) if _by_onednn(weight) else weight


def times(rows: Tensor, weight: Tensor) -> Tensor:
    """(N, H) times the transpose of a weight (V, H), which may be packed -> (N, V). Without gradient."""
    if _by_onednn(rows):
        product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, None, "none", [], "")
        return product
    return rows @ weight.t()


def _by_onednn(tensor: Tensor) -> bool:
    """Whether oneDNN multiplies such tensors. torch has no public way to use it for float32 with all digits."""
    return ONEDNN and execution(tensor.device).onednn and tensor.dtype == torch.float32


def precision(tensor: Tensor) -> torch.dtype:
    """That of autocast if enabled, else the tensor's."""
    device = tensor.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else tensor.dtype


def write_odds(logits: Tensor, bias: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    """Write exp(logit + bias - highest) of logits (N, V) to ``out`` (N, V) float32, which may be the logits.

    Returns the highest and the total, both (N,). Powers of 2: on an AMD processor ``exp2`` takes a third of ``exp``.
    """
    bias = bias.to(out.dtype) * LOG2_E  # or logits in half precision would be rounded once more, in the sum below
    highest, total = torch.empty_like(out[:, 0]), torch.empty_like(out[:, 0])
    size = execution(out.device).chunk // out.shape[1] or 1
    chunks = (values.split(size) for values in (logits, out, highest, total))
    for chunk, odds, high, sum_ in zip(*chunks, strict=True):
        torch.add(bias, chunk, alpha=LOG2_E, out=odds)  # the bias would be slower as part of the product
        torch.amax(odds, -1, out=high)
        torch.sum(odds.sub_(high.unsqueeze(1)).exp2_(), -1, out=sum_)
    return highest.div_(LOG2_E), total


class WordOdds:
    """Exp(logit - highest logit) of the words at N tokens, in one block of memory that decoding fills step by step.

    ``odds`` (capacity, V), ``highest`` and ``total`` (capacity,) are float32; their first ``count`` rows are filled.
    """

    def __init__(self, capacity: int, like: Tensor) -> None:
        """``like`` (V, H): the weight of the output layer."""
        self.odds = MEMORY.empty((capacity, len(like)), like.new_empty(0).float())  # a CPU takes what is written
        self.highest, self.total = self.odds.new_empty(2, capacity)
        self.count = 0

    def add(self, columns: WordColumns, features: Tensor, kept: int) -> tuple[Tensor, Tensor]:
        """Odds (n, V) and totals (n,) of n tokens from features (n, H). The first ``kept`` rows stay in the block."""
        rows = slice(self.count, self.count + len(features))
        self.highest[rows], self.total[rows] = columns.odds(features, self.odds[rows])
        self.count += kept
        return self.odds[rows], self.total[rows]

    def select(self, rows: Tensor) -> WordOdds:
        """Those of some tokens (n,), by number in ascending order."""
        chosen = copy.copy(self)
        chosen.odds, chosen.highest, chosen.total = self.odds[rows], self.highest[rows], self.total[rows]
        chosen.count = int((rows < self.count).sum())
        return chosen

    def complete(self, features: Tensor, weight: Tensor, bias: Tensor) -> None:
        """Fill the rows after the first ``count`` by one product, for features (N, H) of all tokens."""
        rows = slice(self.count, len(features))
        if rows.start >= rows.stop:
            return
        out, features = self.odds[rows], features[rows]
        one_block = weight.dtype == out.dtype  # of N x V, not two
        logits = torch.mm(features, weight.t(), out=out if one_block else None)
        self.highest[rows], self.total[rows] = write_odds(logits, bias, out)
        self.count = rows.stop


def target_log_prob(
    features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, word: int | None, odds: WordOdds | None = None
) -> tuple[Tensor, Tensor]:
    """Log softmax(features weight' + bias) at the targets, and the log of the share of all words but ``word``, if any.

    Differentiable, also twice over one graph. features (N, H), weight (V, H), bias (V,), targets (N,) int64 -> (N,).
    The product uses the precision of autocast if enabled; the softmax and the results are at least float32. ``odds``:
    those that decoding has computed.
    """
    dtype = precision(features)
    scored: tuple[Tensor, Tensor] = _TargetLogProb.apply(
        features.to(dtype), weight.to(dtype), bias.to(dtype), targets, word, odds
    )
    log_prob, log_rest = scored
    lost = (log_rest <= LEAST).nonzero().squeeze(1) if word is not None else targets[:0]
    if len(lost):
        logits = (features[lost] @ weight.t()).to(log_rest.dtype) + bias.to(log_rest.dtype)
        others = logits.index_fill(1, lost.new_tensor([word]), float("-inf"))
        log_rest = log_rest.index_put((lost,), others.logsumexp(-1) - logits.logsumexp(-1))
    return log_prob, log_rest


def plain_log_prob(features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """The first result of ``target_log_prob``, by the formula under autograd: tests compare the two."""
    return F.linear(features, weight, bias).log_softmax(-1).gather(1, targets.unsqueeze(1)).squeeze(1)


class _TargetLogProb(torch.autograd.Function):
    """Uses one block of N x V where autograd needs four: 160 MB each at N = 800, V = 50k.

    Odds overwrite the logits; probabilities p are odds / total. The gradient of the logits, grad (onehot - p), is never
    built: grad / total scales rows of the small factors of both products, and the onehot part is gathered. The gradient
    of the log of the share r of all words but one, u, is p (1 / r - 1) - onehot_u p_u / r.
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, without: int | None,
        known: WordOdds | None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        size, block = len(features), WordOdds(len(features), weight) if known is None else known
        block.complete(features, weight, bias)
        odds, highest, total = block.odds[:size], block.highest[:size], block.total[:size]
        target_odds = odds.gather(1, targets.unsqueeze(1)).squeeze(1)
        logit = (features * weight[targets]).float().sum(-1) + bias[targets]
        log_prob = torch.where(target_odds > SMALLEST, target_odds.log(), logit - highest) - total.log()
        log_rest = torch.zeros_like(log_prob)
        if without is not None:
            rest = total - odds[:, without]
            small = (rest < total / 8).nonzero().squeeze(1)  # the difference has lost digits
            rest[small] = odds[small, :without].sum(-1) + odds[small, without + 1 :].sum(-1)
            log_rest = (rest / total).log()
        ctx.save_for_backward(features, weight, targets, odds, total, log_rest)
        ctx.without = without
        return log_prob, log_rest.clamp(min=LEAST)

    @staticmethod
    def backward(ctx: Any, grad: Tensor, grad_rest: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, targets, odds, total, log_rest = ctx.saved_tensors
        word, dtype = ctx.without, weight.dtype
        odds, inverse, grad = odds.to(dtype), total.reciprocal().to(dtype), grad.to(dtype)
        scaled, mean = features * grad.unsqueeze(1), times(odds, weight.t()) * inverse.unsqueeze(1)
        d_features = (weight[targets] - mean) * grad.unsqueeze(1)
        of_p = grad
        if word is not None:
            grad_rest = torch.where(log_rest > LEAST, grad_rest, 0.0)
            of_share = grad_rest * log_rest.clamp(min=LEAST).neg().exp()
            of_rest, of_word = (grad_rest - of_share).to(dtype), (of_share * odds[:, word] * inverse).to(dtype)
            of_p = grad + of_rest
            d_features.addcmul_(mean, of_rest.unsqueeze(1), value=-1)
            d_features.addcmul_(of_word.unsqueeze(1), weight[word], value=-1)
        of_odds = of_p * inverse
        of_weight = times((features * -of_odds.unsqueeze(1)).t(), odds.t())
        d_weight = of_weight.t().contiguous().index_add_(0, targets, scaled)
        d_bias = (odds.t() @ of_odds).neg_().index_add_(0, targets, grad)
        if word is not None:
            d_weight[word] -= of_word @ features
            d_bias[word] -= of_word.sum()
        return d_features, d_weight, d_bias, None, None, None
