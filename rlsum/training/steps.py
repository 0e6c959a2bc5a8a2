"""The training step of a configuration, and when its rollouts are made: ahead of an update, or for several updates.

What a step computes is in ``update``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rewards.base import Reward
from rlsum.config import Config, Objective
from rlsum.data.batch import Batch
from rlsum.models.summarizer import Scorer, Summarizer, Tokens
from rlsum.training.estimators import Credit, exchanged
from rlsum.training.parallel.processes import ONE_PROCESS, Processes
from rlsum.training.reward_losses import BestOfN, MinimumRisk, PolicyGradient, Ranking
from rlsum.training.update import MixedStep, MLEStep, RewardLoss, Rollout, Samples, Score, StepResult, score_together

Step = Callable[[int, torch.nn.Module, Batch], StepResult]  # update number, model as accelerate wraps it, batch


def training_step(
    config: Config,
    model: Summarizer,
    reward: Reward | None,
    start: Scorer | None = None,
    processes: Processes = ONE_PROCESS,
) -> Step:
    """The step of a configuration: likelihood without a reward, otherwise mixed.

    ``start`` scores as the model that the run began with; an objective with a KL penalty needs it.
    """
    objective, training, sampling = config.objective, config.training, config.samples_from
    coverage_weight = objective.coverage_weight if getattr(config.model, "coverage", False) else 0.0
    mle = MLEStep(objective.length, coverage_weight, objective.label_smoothing)
    if reward is None:
        return lambda number, wrapped, batch: mle(wrapped, batch)
    row_noise = training.row_noise
    if row_noise is None:
        row_noise = training.decode_batch is not None or processes.world_size > 1
    noise = partial(article_noise, seed=training.seed, samples=objective.samples, length=sampling.limit)
    scoring = score_each
    if training.decode_batch is not None:
        scoring = score_behind if training.reward_workers else score_together
    step = MixedStep(
        policy=model,
        reward=reward,
        gamma=lambda number: objective.gamma_at(number, training.steps),
        samples=objective.samples,
        sampling=sampling,
        rl=_reward_loss(objective),
        mle=mle,
        credit=_credit(objective, sampling.limit),
        coverage_on_samples=objective.coverage_on_samples,
        start=start,
        noise=noise if row_noise else None,
        scoring=scoring,
        score_while_drawing=processes.world_size == 1
        and training.decode_batch is None
        and objective.updates_per_sample == 1,
        control=partial(shuffled, seed=training.seed, processes=processes) if objective.control == "shuffled" else None,
        processes=processes,
    )
    return BufferedStep(step, objective.updates_per_sample)


def _reward_loss(objective: Objective) -> RewardLoss:
    if objective.kind == "ranking":
        return Ranking(objective.margin, objective.length)
    if objective.kind == "minimum-risk":
        return MinimumRisk(objective.sharpness, objective.length, objective.reward_scale)
    if objective.kind == "best-of-n":
        return BestOfN(objective.length)
    return PolicyGradient(objective.clip, objective.clip_high, objective.ratio, objective.kl, objective.kl_estimator)


def _credit(objective: Objective, max_length: int) -> Credit | None:
    if objective.kind != "mixed":
        return None
    # a run of an earlier version has no number in its configuration
    divisor = max_length if objective.divisor is None else objective.divisor
    return Credit(
        objective.estimator,
        objective.normalisation,
        divisor,
        objective.reward_scale,
        objective.skip_zero_groups,
        objective.control_advantage,
    )


class BufferedStep:
    """A mixed step that keeps its rollouts.

    ``updates`` updates in a row learn from the same rollouts. ``prepare`` makes those of all batches before the first
    loss of an update, because advantages and weights are estimated from all its samples.
    """

    def __init__(self, step: MixedStep, updates: int) -> None:
        self.step, self.updates = step, updates
        self._round = -1
        self._rollouts: dict[tuple[object, ...], Rollout] | None = None

    def prepare(self, number: int, batches: Sequence[Batch], parts: Sequence[Batch]) -> None:
        """Make the rollouts of all ``batches`` of update ``number``, decoding the same articles in ``parts``.

        A process whose share is empty gives no batches; it still takes part in gathering rewards.
        """
        self._begin(number)
        if self._rollouts is not None or self.step.gamma(number) == 0:
            return
        rollouts = self.step.rollouts(number, parts)
        if parts is not batches and batches:
            rollouts = divided(rollouts, [len(batch) for batch in batches], batches[0].pad)
        self._rollouts = dict(zip(map(_key, batches), rollouts, strict=True))

    def __call__(self, number: int, model: torch.nn.Module, batch: Batch) -> StepResult:
        """Loss of one batch in update ``number``. A batch that ``prepare`` did not see is an update of its own."""
        if self.step.gamma(number) == 0:
            return self.step(number, model, batch)
        self._begin(number)
        key, rollouts = _key(batch), self._rollouts or {}
        rollout = rollouts[key] if key in rollouts else self.step.rollouts(number, [batch])[0]
        result = self.step(number, model, batch, rollout)
        if self.updates > 1 and result.rollout is not None:
            self._rollouts = {**rollouts, key: replace(result.rollout, reward_seconds=0.0)}
        return result

    def _begin(self, number: int) -> None:
        if number // self.updates != self._round:
            self._round, self._rollouts = number // self.updates, None


def _key(batch: Batch) -> tuple[object, ...]:
    """What identifies a batch. The rows of one article may differ in references and columns alone."""
    return batch.ids, batch.sources, batch.references, json.dumps(batch.columns)


# ---- which samples share a call of the reward ---------------------------------------------------------------------


def score_each(score: Score, samples: Iterable[Samples]) -> list[Rollout]:
    """One call of the reward for each batch."""
    return [rollout for part in samples for rollout in score([part])]


def score_behind(score: Score, samples: Iterable[Samples]) -> list[Rollout]:
    """One call for each batch while the next is decoded: a thread waits for a reward that runs in other processes."""
    with ThreadPoolExecutor(1) as thread:
        scored = [thread.submit(score, [part]) for part in samples]
        return [rollout for future in scored for rollout in future.result()]


# ---- the shuffled control -----------------------------------------------------------------------------------------


def shuffled(number: int, rollouts: Sequence[Rollout], seed: int, processes: Processes = ONE_PROCESS) -> list[Rollout]:
    """The rollouts of update ``number`` after its samples, of all processes, have exchanged their rewards.

    Greedy texts exchange theirs among themselves: the baseline keeps its level, and the mean advantage of self-critical
    is what it was. The order is a function of seed and update.
    """
    gathered = processes.gather_all([(part.rewards, part.greedy_rewards) for part in rollouts])
    parts = [part for process in gathered for part in process]
    first = sum(len(process) for process in gathered[: processes.rank])
    cuts, rng = np.cumsum([len(rewards) for rewards, _ in parts])[:-1], np.random.default_rng([seed, number])
    rewards = np.split(exchanged(np.concatenate([part for part, _ in parts]), rng), cuts)
    new = [replace(rollout, rewards=rewards[first + i]) for i, rollout in enumerate(rollouts)]
    greedy = [part for _, part in parts if part is not None]
    if greedy:
        baselines = np.split(exchanged(np.concatenate(greedy), rng), cuts)
        new = [replace(rollout, greedy_rewards=baselines[first + i]) for i, rollout in enumerate(new)]
    return new


# ---- other batches of the same articles, random numbers -----------------------------------------------------------


def divided(rollouts: Sequence[Rollout], sizes: Sequence[int], pad: int) -> list[Rollout]:
    """The same articles as rollouts of ``sizes`` articles, each as wide as its longest sample."""
    rows = [size * rollouts[0].rewards.shape[1] for size in sizes]
    ids = _stacked([rollout.samples.ids for rollout in rollouts], pad).split(rows)
    log_prob = _stacked([rollout.samples.log_prob for rollout in rollouts], 0).split(rows)
    start = [rollout.start_log_prob for rollout in rollouts if rollout.start_log_prob is not None]
    start_log_prob = _stacked(start, 0).split(rows) if start else None
    numbers = {
        name: _split([getattr(rollout, name) for rollout in rollouts], sizes)
        for name in ("lengths", "rewards", "greedy_rewards", "advantages", "weights")
    }
    components = [
        (same[0], _split([one.scores for one in same], sizes))
        for same in zip(*(rollout.components for rollout in rollouts), strict=True)
    ]
    seconds = sum(rollout.reward_seconds for rollout in rollouts) / len(sizes)
    widths = [max(1, int(lengths.max())) for lengths in numbers["lengths"]]
    return [
        Rollout(
            Tokens(ids[i][:, :width], log_prob[i][:, :width]),
            **{name: parts[i] for name, parts in numbers.items()},
            start_log_prob=None if start_log_prob is None else start_log_prob[i][:, :width],
            components=[one._replace(scores=scores[i]) for one, scores in components],
            reward_seconds=seconds,
        )
        for i, width in enumerate(widths)
    ]


def _stacked(parts: Sequence[Tensor], value: float) -> Tensor:
    """(R, L) tensors as one, padded with ``value`` to the widest."""
    width = max(part.shape[1] for part in parts)
    return torch.cat([F.pad(part, (0, width - part.shape[1]), value=value) for part in parts])


def _split(parts: Sequence[np.ndarray | None], sizes: Sequence[int]) -> list:
    arrays = [part for part in parts if part is not None]
    return np.split(np.concatenate(arrays), np.cumsum(sizes)[:-1]) if arrays else [None] * len(sizes)


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
