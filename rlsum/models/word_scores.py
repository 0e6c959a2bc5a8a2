"""Log-probabilities of target words under a large vocabulary, with one block of N x V numbers forward and backward.

Notation: N tokens, H features, V words.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 2**20  # logits whose softmax is taken at a time: 4 MB, so that they are still in the cache when overwritten


def target_log_prob(features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """Log softmax(features weight' + bias) at the targets. Differentiable, also twice over one graph.

    features (N, H), weight (V, H), bias (V,), targets (N,) int64 -> (N,). The product is taken in the precision of
    autocast where that is on, the softmax and the result are at least float32.
    """
    device = features.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else features.dtype
    scored: Tensor = _TargetLogProb.apply(features.to(dtype), weight.to(dtype), bias.to(dtype), targets)
    return scored


class _TargetLogProb(torch.autograd.Function):
    """Autograd's own path writes the logits, their log softmax and two gradients of that size: 160 MB each at V = 50k.

    Here the probabilities take the place of the logits, and the gradient of the logits, grad (onehot - p), is never
    built: grad scales the rows of the small factors of both products instead, and the onehot part is gathered.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        logits = F.linear(features, weight).float()
        log_prob = torch.empty_like(logits[:, 0])
        rows = max(1, CHUNK // len(weight))
        for part, target, out in zip(logits.split(rows), targets.split(rows), log_prob.split(rows), strict=True):
            part.add_(bias)  # in the product it would be a pass over memory of its own
            part.sub_(part.amax(-1, keepdim=True))
            torch.gather(part, 1, target.unsqueeze(1), out=out.unsqueeze(1))
            total = part.exp_().sum(-1)
            out.sub_(total.log())
            part.div_(total.unsqueeze(1))
        ctx.save_for_backward(features, weight, targets, logits)
        return log_prob

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:  # type: ignore[override]
        features, weight, targets, p = ctx.saved_tensors
        p, grad = p.to(weight.dtype), grad.to(weight.dtype)
        scaled = features * grad.unsqueeze(1)
        d_features = (weight[targets] - p @ weight) * grad.unsqueeze(1)
        d_weight = (p.t() @ scaled).neg_().index_add_(0, targets, scaled)
        d_bias = (p.t() @ grad).neg_().index_add_(0, targets, grad)
        return d_features, d_weight, d_bias, None
