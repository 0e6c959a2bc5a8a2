"""Rewards as metrics of torchmetrics: update and compute, with states that add up over processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric

from rewards.adapters.columns import as_lists, stripped


class TextReward(Metric):
    """The mean of a reward over all updates, without undefined scores; ``strip``: of clean texts, see ``cleaned``.

    States: ``total`` (float64), ``defined`` and ``undefined`` (int64), scalars that are summed over processes.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    total: Tensor
    defined: Tensor
    undefined: Tensor

    def __init__(self, reward: Any, strip: bool = False, **settings: Any) -> None:  # those of torchmetrics
        super().__init__(**settings)
        self.reward = stripped(reward, strip)
        self.add_state("total", torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("defined", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("undefined", torch.tensor(0), dist_reduce_fx="sum")

    def update(
        self,
        preds: Sequence[str],
        target: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
        columns: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Score ``preds`` (n texts) against ``target`` (n texts or lists of texts); ``columns``: name -> n values."""
        references = None if target is None else as_lists(self.reward.name, "target", target, "alternatives")
        scores = torch.from_numpy(self.reward(list(preds), references, sources, columns))
        known = ~scores.isnan()
        self.total += scores[known].sum().to(self.total.device)
        self.defined += known.sum().to(self.defined.device)
        self.undefined += (~known).sum().to(self.undefined.device)

    def compute(self) -> Tensor:
        """The mean, a float64 scalar; NaN if no score is defined."""
        return self.total / self.defined

    @property
    def signature(self) -> str:
        """The signature of the reward."""
        return self.reward.signature
