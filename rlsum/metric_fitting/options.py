"""Hyperparameters of training a metric, which are options of `rlsum fit-metric`."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from rlsum.errors import UserError, option

Scaling = Literal["min-max", "standard", "none"]
Judges = Literal["votes", "equal", "random"]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class FitOptions:
    """Hyperparameters. Training ends after ``patience`` epochs without a better Pearson in validation, or of
    pairs a better likelihood.
    """

    epochs: int = Field(default=5, ge=1)
    """maximum number of passes over the judgments"""
    batch_size: int = Field(default=32, ge=1)
    """judgments, or votes on pairs, per update"""
    learning_rate: float = Field(default=2e-5, gt=0, allow_inf_nan=False)
    """highest learning rate; it rises from 0 and falls to 0"""
    patience: int = Field(default=2, ge=1)
    """epochs without improvement before training stops"""
    seed: int = Field(default=0, ge=0)
    """seed of the draw, the held-out items and the order"""
    scale: Scaling = "min-max"
    """human scores to [0, 1], or to mean 0 and deviation 1"""
    judges: Judges = "votes"
    """of votes on pairs: each vote counts the same, or equal: each judge; random: judges differ by chance in how well
    they tell texts apart, which is learned of each"""

    def check(self, of_votes: bool) -> None:
        """Raise UserError for an option of the other kind of learning."""
        name, target = ("scale", "human scores") if of_votes else ("judges", "votes on pairs")
        if (value := getattr(self, name)) != getattr(FitOptions, name):
            raise UserError(f"{option(name, value)}: not without {target}; leave it out")
