"""The output layer of a large vocabulary: log-probabilities of targets with gradient, and probabilities for decoding.

Notation: N tokens, H features, V words.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 2**20  # logits per softmax: 4 MB stay in the cache until they are overwritten
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
    device = features.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else features.dtype
    scored: Tensor = _TargetLogProb.apply(features.to(dtype), weight.to(dtype), bias.to(dtype), targets)
    return scored


class _TargetLogProb(torch.autograd.Function):
    """Uses one block of N x V where autograd needs four: 160 MB each at N = 800, V = 50k.

    Probabilities overwrite the logits. The gradient of the logits, grad (onehot - p), is never built: grad scales rows
    of the small factors of both products, and the onehot part is gathered.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        logits = F.linear(features, weight).float()
        log_prob = torch.empty_like(logits[:, 0])
        rows = max(1, CHUNK // len(weight))
        for part, target, out in zip(logits.split(rows), targets.split(rows), log_prob.split(rows), strict=True):
            part.add_(bias)  # saves a pass over memory
            part.sub_(part.amax(-1, keepdim=True))
            torch.gather(part, 1, target.unsqueeze(1), out=out.unsqueeze(1))
            total = part.exp_().sum(-1)
            out.sub_(total.log())
            part.div_(total.unsqueeze(1))
        ctx.save_for_backward(features, weight, targets, logits)
        return log_prob

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        features, weight, targets, p = ctx.saved_tensors
        p, grad = p.to(weight.dtype), grad.to(weight.dtype)
        scaled = features * grad.unsqueeze(1)
        d_features = (weight[targets] - p @ weight) * grad.unsqueeze(1)
        d_weight = (p.t() @ scaled).neg_().index_add_(0, targets, scaled)
        d_bias = (p.t() @ grad).neg_().index_add_(0, targets, grad)
        return d_features, d_weight, d_bias, None
