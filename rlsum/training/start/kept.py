"""The model that a run began with, for the KL penalty: a frozen copy kept in the run's folder.

With low-rank updates nothing is kept: the start is the network without them.
"""

from __future__ import annotations

import copy
from pathlib import Path

import torch

from rlsum.config import Config
from rlsum.models.seq2seq import Model, Seq2Seq
from rlsum.models.sizes import Seq2SeqConfig
from rlsum.models.summarizer import Scorer
from rlsum.training import checkpoint


def is_kept(config: Config) -> bool:
    """Whether the run of a resolved configuration has a copy of its start."""
    lora = config.model.lora if isinstance(config.model, Seq2SeqConfig) else None
    return config.objective.kl > 0 and lora is None


def scorer(config: Config, model: Model, resumed: Path | None, device: torch.device) -> Scorer | None:
    """What scores as the start, without gradient, where the objective needs it.

    ``model`` stands at the start, unless it is that of a ``resumed`` run, whose folder has the start.
    """
    if config.objective.kl == 0:
        return None
    if isinstance(model, Seq2Seq) and model.config.lora is not None:
        return model.without_updates
    start = copy.deepcopy(model)
    if resumed is not None:
        checkpoint.load_start(resumed, start)
    return torch.no_grad()(start.to(device).eval().requires_grad_(False))
