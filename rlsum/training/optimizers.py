"""What makes updates of gradients: torch's own optimisers, by the names of a configuration."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from rlsum.config import Training


def optimizer_of(training: Training, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """The optimiser of a run; the trainer sets its rate before each update.

    adam       Kingma and Ba 2015
    adamw      with weights that decay by rate * weight_decay (Loshchilov and Hutter 2019)
    adafactor  Shazeer and Stern 2018: rows and columns of squared gradients in place of two moments a weight, no
               momentum; a tensor moves by the rate times its own size (root mean square, at least 1e-3). The rate is
               never above 1 / sqrt(update)
    """
    rate, decay = training.learning_rate, training.weight_decay
    if training.optimizer == "adafactor":
        return torch.optim.Adafactor(parameters, lr=rate, weight_decay=decay)
    if training.optimizer == "adamw":
        return torch.optim.AdamW(parameters, lr=rate, weight_decay=decay, fused=True)
    return torch.optim.Adam(parameters, lr=rate, fused=True)
