"""The step of an objective that rewards teach, update by update: whose samples, which gamma, which random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from rlsum.data.batch import Batch
from rlsum.models.summarizer import Summarizer
from rlsum.training.rollout import Rollout, Rollouts, divided, rewarded
from rlsum.training.steps import MixedStep, StepResult


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
