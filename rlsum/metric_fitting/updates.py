"""Updates of a metric without dropout, seeded, and those of ``Sim`` on human scores (Chen et al. 2020, section 5)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rewards.embedding.learned import similarities
from rewards.embedding.reward import EmbeddingReward
from rewards.encoding.loading import load_apart
from rewards.errors import RewardError
from rlsum.errors import UserError
from rlsum.metric_fitting.examples import JudgedExample, Scale
from rlsum.metric_fitting.options import FitOptions

WARMUP = 0.1  # share of updates in which the learning rate rises linearly; then it falls linearly to 0
MAX_GRADIENT_NORM = 1.0


def rate(update: int, updates: int) -> float:
    """The learning rate of an update (from 0) as a share of the highest, in (0, 1]."""
    warm = max(1, round(WARMUP * updates))
    return min((update + 1) / warm, (updates - update) / max(1, updates - warm))


class Training(ABC):
    """Epochs over ``size`` examples, and parameters with their highest learning rates."""

    def __init__(self, rates: Sequence[tuple[list[Tensor], float]], size: int, options: FitOptions) -> None:
        self.options, self.size = options, size
        groups = [{"params": parameters, "lr": rate, "highest": rate} for parameters, rate in rates if parameters]
        self.optimizer = torch.optim.Adam(groups)
        self.per_epoch = math.ceil(size / options.batch_size)

    @abstractmethod
    def loss(self, chosen: Sequence[int]) -> Tensor:
        """The loss of the examples at ``chosen``, a scalar with gradient. Raises UserError or RewardError."""

    def order(self, number: int) -> NDArray[np.int64]:
        """The order of the examples in epoch ``number``."""
        return np.random.default_rng((self.options.seed, number)).permutation(self.size)

    def epoch(self, number: int) -> Iterator[float]:
        """The updates of epoch ``number`` (from 1); yields losses. Raises UserError if one or a norm is infinite."""
        # Batches of equal size, because centering a last batch of one text would give 0.
        for index, chosen in enumerate(np.array_split(self.order(number), self.per_epoch)):
            yield self._update((number - 1) * self.per_epoch + index, chosen.tolist())

    def _update(self, update: int, chosen: Sequence[int]) -> float:
        for group in self.optimizer.param_groups:
            group["lr"] = group["highest"] * rate(update, self.options.epochs * self.per_epoch)
        try:
            loss = self.loss(chosen)
        except RewardError as error:  # weights that diverged
            raise UserError(f"update {update + 1}: {error}; give a lower --learning-rate") from error
        self.optimizer.zero_grad()
        if loss.requires_grad:  # not where every candidate is empty, or a reference
            loss.backward()
        parameters = [weight for group in self.optimizer.param_groups for weight in group["params"]]
        norm = torch.nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT_NORM)
        if not (loss.isfinite() and norm.isfinite()):
            values = f"loss {loss.item():.3g}, norm of the gradient {norm.item():.3g}"
            raise UserError(f"update {update + 1} is not finite ({values}); give a lower --learning-rate")
        self.optimizer.step()
        return loss.item()


class Trainee(Training):
    """A private, uncached encoder, its optimiser, and the training examples."""

    def __init__(
        self, reward: EmbeddingReward, examples: Sequence[JudgedExample], scale: Scale, options: FitOptions
    ) -> None:
        self.reward, self.examples = reward, examples
        self.targets = torch.tensor([scale(example.human) for example in examples], dtype=torch.float64)
        self.encoder = load_apart(reward.space.source)
        super().__init__([(list(self.encoder.model.parameters()), options.learning_rate)], len(examples), options)

    def loss(self, chosen: Sequence[int]) -> Tensor:
        """The mean squared error of the examples at ``chosen``, a scalar with gradient."""
        batch = [self.examples[index] for index in chosen]
        candidates, references = [example.candidate for example in batch], [example.references for example in batch]
        scores = similarities(self.reward, self.encoder, candidates, references)
        for example, score in zip(batch, scores, strict=True):
            if score.isnan():
                reason = self.reward.undefined(example.candidate, example.references) or "its score is not a number"
                raise UserError(f"judgment {example.id!r} of system {example.system!r} has no score: {reason}")
        return (scores - self.targets[list(chosen)]).square().mean()
