"""The encoder in training: updates that bring ``Sim`` nearer to the human scores (Chen et al. 2020, section 5).

Everything is a function of the seed: the order of the examples. Nothing is dropped out, so the scores that are trained
are those that the reward gives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rewards.embedding.comparison import Comparison
from rewards.embedding.differentiable import similarities
from rewards.encoding.encoder import load_apart
from rewards.errors import RewardError
from rlsum.errors import UserError
from rlsum.metric_fitting.examples import Example, Scale, Scaling

WARMUP = 0.1  # of all updates: the learning rate rises from 0, then falls to 0, in straight lines
LONGEST_STEP = 1.0  # gradients longer than this are shortened


@dataclass(frozen=True)
class Options:
    """How a metric is trained.

    patience  epochs without a better validation Pearson before it ends
    """

    epochs: int = 5
    batch_size: int = 32
    learning_rate: float = 2e-5
    patience: int = 2
    seed: int = 0
    scale: Scaling = "min-max"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise UserError(f"learning_rate={self.learning_rate} must be above 0 and finite; 2e-5 is usual")
        if min(self.epochs, self.batch_size, self.patience) < 1:
            raise UserError(f"{self}: epochs, batch_size and patience must be at least 1")


def squared_error(scores: Tensor, targets: Tensor) -> Tensor:
    """The mean of ``(score - target) ** 2`` over the examples ``(n,)``; a scalar."""
    return (scores - targets).square().mean()


def rate(update: int, updates: int) -> float:
    """The learning rate of an update (counted from 0) as a share of the highest, in (0, 1]."""
    warm = max(1, round(WARMUP * updates))
    return min((update + 1) / warm, (updates - update) / max(1, updates - warm))


class Trainee:
    """An encoder of one's own, its optimiser, and the examples that it learns from."""

    def __init__(self, reward: Comparison, examples: Sequence[Example], scale: Scale, options: Options) -> None:
        self.reward, self.examples, self.options = reward, examples, options
        self.targets = torch.tensor([scale(each.human) for each in examples], dtype=torch.float64)
        self.encoder = load_apart(reward.space.source)
        self.optimizer = torch.optim.Adam(self.encoder.model.parameters(), lr=options.learning_rate)
        self.per_epoch = math.ceil(len(examples) / options.batch_size)

    def epoch(self, number: int) -> Iterator[float]:
        """The updates of epoch ``number`` (from 1), each with its loss before it. Every example comes once.

        Raises UserError where a loss or a gradient is not finite.
        """
        order = np.random.default_rng((self.options.seed, number)).permutation(len(self.examples))
        # parts of equal size: a last batch of one would be centred on itself
        for place, chosen in enumerate(np.array_split(order, self.per_epoch)):
            yield self._update((number - 1) * self.per_epoch + place, chosen.tolist())

    def loss(self, chosen: Sequence[int]) -> Tensor:
        """The squared error of the examples at ``chosen``, with its gradient."""
        batch = [self.examples[place] for place in chosen]
        scores = similarities(
            self.reward, self.encoder, [each.candidate for each in batch], [each.references for each in batch]
        )
        for each, score in zip(batch, scores, strict=True):
            if score.isnan():
                told = self.reward.undefined(each.candidate, each.references) or "its score is not a number"
                raise UserError(f"judgment {each.id!r} of system {each.system!r} cannot be trained on: {told}")
        return squared_error(scores, self.targets[list(chosen)])

    def _update(self, update: int, chosen: Sequence[int]) -> float:
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.learning_rate * rate(update, self.options.epochs * self.per_epoch)
        try:
            loss = self.loss(chosen)
        except RewardError as error:  # the weights have become useless
            raise UserError(f"update {update + 1}: {error}; give a lower --learning-rate") from error
        self.optimizer.zero_grad()
        loss.backward()
        length = torch.nn.utils.clip_grad_norm_(self.encoder.model.parameters(), LONGEST_STEP)
        if not (loss.isfinite() and length.isfinite()):
            told = f"update {update + 1}: the loss is {loss.item():.3g} and its gradient {length.item():.3g} long"
            raise UserError(f"{told}, which is not finite; give a lower --learning-rate")
        self.optimizer.step()
        return loss.item()
