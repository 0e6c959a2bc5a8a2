"""The optimisers of a run, by their names in the configuration."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from rlsum.config import Training
from rlsum.errors import TrainingError


def optimizer_of(training: Training, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """The optimiser of a run; the trainer sets its rate before each update.

    adam       Kingma and Ba 2015
    adamw      Loshchilov and Hutter 2019: weights decay by rate * weight_decay
    adafactor  Shazeer and Stern 2018: no momentum; keeps rows and columns of squared gradients instead of two moments
               a weight. A tensor moves by the rate times its root mean square (at least 1e-3). The rate is at most
               1 / sqrt(update)

    Raises TrainingError where all parameters are frozen.
    """
    rate, decay, parameters = training.learning_rate, training.weight_decay, list(parameters)
    if not any(parameter.requires_grad for parameter in parameters):
        raise TrainingError("no weight of the model is trained: all are frozen")
    if training.optimizer == "adafactor":
        return torch.optim.Adafactor(parameters, lr=rate, weight_decay=decay)
    if training.optimizer == "adamw":
        return torch.optim.AdamW(parameters, lr=rate, weight_decay=decay, fused=True)
    return torch.optim.Adam(parameters, lr=rate, fused=True)
