"""The step of an objective that rewards teach, update by update: whose samples, which gamma, which random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch

from rlsum.config import Config
from rlsum.data.batch import Batch
from rlsum.models.summarizer import Scorer, Summarizer
from rlsum.training import noise
from rlsum.training.objectives import PolicyGradient, Ranking
from rlsum.training.parallel.processes import ONE_PROCESS, Processes
from rlsum.training.rollout import Rollout, Rollouts, divided, rewarded
from rlsum.training.steps import MixedStep, MLEStep, StepResult

if TYPE_CHECKING:
    from rewards.base import Reward

Step = Callable[[int, torch.nn.Module, Batch], StepResult]  # update number, model as accelerate wraps it, batch


@dataclass(frozen=True)
class Rewarded:
    """A step as the trainer calls it: (update number, wrapped model, batch).

    decoder   the model itself, free of any wrapper that accelerate put around it
    at        the step of an update, by its number
    rollouts  samples that several updates share, or that were made ahead
    overlap   score what is decoded while the next is: for a reward that works in other processes
    """

    decoder: Summarizer
    at: Callable[[int], MixedStep]
    rollouts: Rollouts
    overlap: bool = False

    def __call__(self, number: int, model: torch.nn.Module, batch: Batch) -> StepResult:
        """Loss of one batch."""
        step = self.at(number)

        def sampled() -> Rollout:
            return self.rollouts.of(number, batch, lambda: step.roll_out(self.decoder, batch))

        return step.loss(model, batch, sampled)

    def prepare(self, number: int, parts: Sequence[Batch], batches: Sequence[Batch]) -> None:
        """Make the samples of an update ahead, decoding in ``parts`` what it will learn from in ``batches``."""
        step = self.at(number)
        if step.gamma:
            self.rollouts.prepare(number, batches, lambda: self._roll_out(step, parts, batches))

    def _roll_out(self, step: MixedStep, parts: Sequence[Batch], batches: Sequence[Batch]) -> list[Rollout]:
        if not self.overlap:
            found = rewarded([step.draw(self.decoder, part) for part in parts], step.reward)
        else:
            with ThreadPoolExecutor(1) as behind:  # it only waits for the processes that score
                drawn = (step.draw(self.decoder, part) for part in parts)
                scored = [behind.submit(rewarded, [each], step.reward) for each in drawn]
                found = [rollout for each in scored for rollout in each.result()]
        return divided(found, [len(batch) for batch in batches], batches[0].pad)


def training_step(
    config: Config,
    model: Summarizer,
    reward: Reward | None,
    start: Scorer | None = None,
    processes: Processes = ONE_PROCESS,
) -> Step:
    """The loss of one update, as the trainer calls it: (update number, wrapped model, batch).

    ``start`` scores as the model that the run began with; it is needed where the objective has a KL penalty.
    """
    objective, training, length = config.objective, config.training, config.decoding.max_length
    mle = MLEStep(objective.length, objective.coverage_weight, objective.label_smoothing)
    if reward is None:
        return lambda number, wrapped, batch: mle(wrapped, batch)
    learn, by_row = _learning(config), training.row_noise
    if by_row is None:
        by_row = processes.world_size > 1 or training.decode_batch is not None
    drawn = partial(noise.of_articles, seed=training.seed, samples=objective.samples, length=length)

    def at(number: int) -> MixedStep:
        own = partial(drawn, update=number) if by_row else None
        gamma = objective.gamma_at(number, training.steps)
        return MixedStep(reward, gamma, objective.samples, length, mle, learn, start, own)

    return Rewarded(model, at, Rollouts(objective.updates_per_sample), overlap=training.reward_workers > 0)


def _learning(config: Config) -> PolicyGradient | Ranking:
    objective = config.objective
    if objective.kind == "ranking":
        return Ranking(objective.margin, objective.length)
    return PolicyGradient(
        objective.estimator,
        objective.reward_scale,
        objective.length,
        config.decoding.max_length,
        objective.clip,
        objective.kl,
    )
