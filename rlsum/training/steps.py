"""The training step of a configuration, and when its rollouts are made: ahead of an update, or for several updates.

What a step computes is in ``update``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from rewards.base import Reward
from rlsum.config import Config
from rlsum.data.batch import Batch
from rlsum.models.summarizer import Model, Scorer
from rlsum.training.earned import CONTROLS, Earned
from rlsum.training.estimators import Credit
from rlsum.training.parallel.processes import ONE_PROCESS, Processes
from rlsum.training.reward_losses import REWARD_LOSSES
from rlsum.training.rollout import Decoded, Rollout, divided
from rlsum.training.update import Divide, MixedStep, MLEStep, Rewarding, StepResult, in_one_call

# update number, model as accelerate wraps it, batch, its samples if they were made ahead
Step = Callable[[int, torch.nn.Module, Batch, Rollout | None], StepResult]


def training_step(
    config: Config, model: Model, reward: Reward | None, start: Scorer | None = None, processes: Processes = ONE_PROCESS
) -> Step:
    """The step of a configuration: likelihood without a reward, otherwise mixed.

    ``start`` scores as the model that the run began with; an objective with a KL penalty needs it.
    """
    objective, training, sampling = config.objective, config.training, config.samples_from
    coverage_weight = objective.coverage_weight if getattr(config.model, "coverage", False) else 0.0
    mle = MLEStep(objective, coverage_weight)
    if reward is None:
        return lambda number, model, batch, rollout: mle(model, batch)
    row_noise = training.row_noise
    if row_noise is None:
        row_noise = training.decode_batch is not None or processes.world_size > 1
    noise = partial(article_noise, seed=training.seed, samples=objective.samples, length=sampling.limit)
    calls = call_by_batch
    if training.decode_batch is not None:
        calls = call_while_decoding if training.reward_workers else in_one_call
    exchange = CONTROLS.get(objective.control or "")
    step = MixedStep(
        policy=model,
        reward=reward,
        objective=objective,
        steps=training.steps,
        sampling=sampling,
        rl=REWARD_LOSSES[objective.kind],
        mle=mle,
        credit=Credit(objective, sampling.limit) if objective.kind == "mixed" else None,
        start=start,
        noise=noise if row_noise else None,
        calls=calls,
        score_while_drawing=processes.world_size == 1
        and training.decode_batch is None
        and objective.updates_per_sample == 1,
        control=None if exchange is None else partial(controlled, exchange, seed=training.seed, processes=processes),
        processes=processes,
    )
    return BufferedStep(step, objective.updates_per_sample)


class BufferedStep:
    """A mixed step that makes the rollouts of all batches of an update before its first loss.

    Advantages and weights are estimated from all samples of an update. ``updates`` updates in a row learn from the
    same rollouts.
    """

    def __init__(self, step: MixedStep, updates: int) -> None:
        self.step, self.updates = step, updates
        self._round = -1
        self._rollouts: list[Rollout] | None = None  # of the batches of an update, in their order

    def prepare(self, number: int, batches: Sequence[Batch], decoded: Sequence[Batch]) -> Sequence[Rollout | None]:
        """The rollouts of the ``batches`` of update ``number``, whose articles are ``decoded`` in other batches.

        None where nothing is sampled. A process whose share is empty gives no batches; it still takes part in gathering
        rewards.
        """
        if number // self.updates != self._round:
            self._round, self._rollouts = number // self.updates, None
        if self.step.gamma(number) == 0:
            return [None] * len(batches)
        if self._rollouts is None:
            divide: Divide = list
            if decoded is not batches and batches:
                divide = partial(divided, sizes=[len(batch) for batch in batches], pad=batches[0].pad)
            self._rollouts = self.step.rollouts(number, decoded, divide)
        return self._rollouts

    def __call__(self, number: int, model: torch.nn.Module, batch: Batch, rollout: Rollout | None = None) -> StepResult:
        """Loss of one batch in update ``number``; without a ``rollout`` the batch is an update of its own."""
        result = self.step(number, model, batch, rollout)
        if self.updates > 1 and result.rollout is not None and self._rollouts is not None:
            learnt = replace(result.rollout, reward_seconds=0.0)
            self._rollouts = [learnt if kept is rollout else kept for kept in self._rollouts]
        return result


# ---- which batches share a call of the reward ---------------------------------------------------------------------


def call_by_batch(rewarding: Rewarding, decoded: Iterable[Decoded]) -> list[Rollout]:
    """Rollouts from one call of the reward for each batch."""
    return [rollout for batch in decoded for rollout in rewarding([batch])]


def call_while_decoding(rewarding: Rewarding, decoded: Iterable[Decoded]) -> list[Rollout]:
    """One call for each batch while the next is decoded: a thread waits for a reward that runs in other processes."""
    with ThreadPoolExecutor(1) as thread:
        calls = [thread.submit(rewarding, [batch]) for batch in decoded]
        return [rollout for call in calls for rollout in call.result()]


# ---- controls -----------------------------------------------------------------------------------------------------


def controlled(
    exchange: Callable[[Earned, np.random.Generator], Earned],
    number: int,
    rollouts: Sequence[Rollout],
    seed: int,
    processes: Processes = ONE_PROCESS,
) -> list[Rollout]:
    """The rollouts of update ``number`` with the rewards that a control makes of those of all processes.

    The random numbers are a function of seed and update.
    """
    earned, local = processes.gather_lists([rollout.earned for rollout in rollouts])
    new = exchange(Earned.joined(earned), np.random.default_rng([seed, number]))
    batches = new.split([len(batch.rewards) for batch in earned])[local]
    return [replace(rollout, earned=batch) for rollout, batch in zip(rollouts, batches, strict=True)]


# ---- random numbers -----------------------------------------------------------------------------------------------


def article_noise(batch: Batch, update: int, seed: int, samples: int, length: int) -> Tensor:
    """(B * samples, length) float64 in [0, 1): a function of seed, update, and each article's id and text.

    The samples of an article then do not depend on what shares its batch, or on the process that decodes it.
    """
    rows = [
        np.random.default_rng([seed, update, _number(identity, source)]).random((samples, length))
        for identity, source in zip(batch.ids, batch.sources, strict=True)
    ]
    return torch.from_numpy(np.concatenate(rows)).to(batch.src.device)


def _number(identity: str, source: str) -> int:
    text = f"{len(identity)} {identity}{source}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "little")
