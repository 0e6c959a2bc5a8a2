"""The output layer of a large vocabulary: log-probabilities of targets with gradient, and probabilities for decoding.

Notation: N tokens, H features, V words.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 2**20  # logits per softmax: 4 MB stay in the cache until they are overwritten
LEAST = -80.0  # log of the smallest share of words whose gradient is not dropped: 1 / share stays finite
WIDTH = 2000  # words per block of WordColumns: 2 MB at 256 features


class WordColumns:
    """The output layer for a few rows at a time, prepared once for all steps of a decoding.

    A product with few rows takes the time to read the weights (V, H); on a CPU, contiguous (H, WIDTH) blocks
    are fastest.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.width = WIDTH if weight.device.type == "cpu" else len(weight)
        self.blocks, self.bias = [part.t().contiguous() for part in weight.split(self.width)], bias.float()

    def probabilities(self, features: Tensor, share: Tensor, extra: int) -> Tensor:
        """Softmax over the words times ``share``, and ``extra`` columns of zeros: (N, H), (N, 1) -> (N, V + extra).

        float32, in one block of memory: at V = 50k each pass over it costs as much as the product.
        """
        size = len(self.bias)
        p = torch.empty(len(features), size + extra, dtype=self.bias.dtype, device=features.device)
        words = p[:, :size]
        p[:, size:] = 0.0
        for part, block in zip(words.split(self.width, 1), self.blocks, strict=True):
            part.copy_(features @ block)
        for part, of_part in zip(words.split(CHUNK // size or 1), share.split(CHUNK // size or 1), strict=True):
            part.add_(self.bias)  # slower as part of the product
            part.sub_(part.amax(-1, keepdim=True)).exp_()
            part.mul_(of_part / part.sum(-1, keepdim=True))
        return p


def target_log_prob(features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """Log softmax(features weight' + bias) at the targets. Differentiable, also twice over one graph.

    features (N, H), weight (V, H), bias (V,), targets (N,) int64 -> (N,). The product uses the precision of
    autocast if enabled; the softmax and the result are at least float32.
    """
    log_prob, _ = _target_log_prob(features, weight, bias, targets, None)
    return log_prob


def target_log_prob_without(
    features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, word: int
) -> tuple[Tensor, Tensor]:
    """Like ``target_log_prob``; and the log of the probability (N,) of all words together but ``word``."""
    return _target_log_prob(features, weight, bias, targets, word)


def _target_log_prob(
    features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, without: int | None
) -> tuple[Tensor, Tensor]:
    device = features.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else features.dtype
    scored: tuple[Tensor, Tensor] = _TargetLogProb.apply(
        features.to(dtype), weight.to(dtype), bias.to(dtype), targets, without
    )
    return scored


class _TargetLogProb(torch.autograd.Function):
    """Uses one block of N x V where autograd needs four: 160 MB each at N = 800, V = 50k.

    Probabilities overwrite the logits. The gradient of the logits, grad (onehot - p), is never built: grad scales rows
    of the small factors of both products, and the onehot part is gathered. The gradient of the log of the share r of
    all words but one, u, is p (1 / r - 1) - onehot_u p_u / r.
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, without: int | None
    ) -> tuple[Tensor, Tensor]:
        logits = F.linear(features, weight).float()
        log_prob, log_rest = torch.empty_like(logits[:, 0]), torch.zeros_like(logits[:, 0])
        rows = max(1, CHUNK // len(weight))
        parts = (block.split(rows) for block in (logits, targets, log_prob, log_rest))
        for part, target, out, rest in zip(*parts, strict=True):
            part.add_(bias)  # saves a pass over memory
            part.sub_(part.amax(-1, keepdim=True))
            torch.gather(part, 1, target.unsqueeze(1), out=out.unsqueeze(1))
            total = part.exp_().sum(-1)
            out.sub_(total.log())
            if without is not None:  # total minus its weight would lose the digits of a small rest
                own = part[:, without].clone()
                part[:, without] = 0.0
                torch.log(part.sum(-1) / total, out=rest)
                part[:, without] = own
            part.div_(total.unsqueeze(1))
        ctx.save_for_backward(features, weight, targets, logits, log_rest)
        ctx.without = without
        return log_prob, log_rest.clamp(min=LEAST)

    @staticmethod
    def backward(ctx: Any, grad: Tensor, grad_rest: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        features, weight, targets, p, log_rest = ctx.saved_tensors
        word = ctx.without
        p, grad = p.to(weight.dtype), grad.to(weight.dtype)
        scaled, mean = features * grad.unsqueeze(1), p @ weight
        d_features = (weight[targets] - mean) * grad.unsqueeze(1)
        if word is None:
            d_weight = (p.t() @ scaled).neg_().index_add_(0, targets, scaled)
            d_bias = (p.t() @ grad).neg_().index_add_(0, targets, grad)
            return d_features, d_weight, d_bias, None, None
        grad_rest = torch.where(log_rest > LEAST, grad_rest, 0.0)
        of_share = grad_rest * log_rest.clamp(min=LEAST).neg().exp()
        of_rest, of_word = (grad_rest - of_share).to(weight.dtype), (of_share * p[:, word]).to(weight.dtype)
        of_p = grad + of_rest
        d_features.addcmul_(mean, of_rest.unsqueeze(1), value=-1).addcmul_(of_word.unsqueeze(1), weight[word], value=-1)
        d_weight = (p.t() @ (features * of_p.unsqueeze(1))).neg_().index_add_(0, targets, scaled)
        d_bias = (p.t() @ of_p).neg_().index_add_(0, targets, grad)
        d_weight[word] -= of_word @ features
        d_bias[word] -= of_word.sum()
        return d_features, d_weight, d_bias, None, None
