"""One update, from a batch of articles to the loss, in the order of events.

The equations are in docs/concepts/one-update.md.

    rollouts   samples -> texts -> rewards -> advantages        without gradient
    loss       log-probabilities -> L_RL, L_MLE, L_cov -> loss  with gradient

Formulas are in ``estimators`` (rewards -> advantages) and ``losses`` (log-probabilities -> losses). Around this page:
``steps`` (rollouts made ahead, or shared by several updates), ``trainer`` (backward pass and optimiser) and
``parallel`` (several processes).

Shapes: B articles, k samples an article, L decoded tokens, T target tokens. Of R = B*k rows of samples, rows
i*k .. i*k+k-1 belong to article i. Padding has log-probability 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rewards.base import Reward
from rewards.scoring import Inputs, score_components
from rlsum.data.batch import Batch
from rlsum.data.vocabulary import PAD
from rlsum.models.decoding import Sampling
from rlsum.models.sampling import Drawn
from rlsum.models.summarizer import DrawsAndScores, Model, Scorer, Scores, TargetScores, Tokens
from rlsum.objective import Objective
from rlsum.records import common_columns
from rlsum.training import losses
from rlsum.training.earned import Earned
from rlsum.training.estimators import Credit
from rlsum.training.log.numbers import Field, Logged, Mean, Numbers, Rate, declare, together
from rlsum.training.losses import target_lengths
from rlsum.training.parallel.processes import ONE_PROCESS, Processes
from rlsum.training.rollout import Decoded, RewardLoss, Rollout


@dataclass(frozen=True)
class StepResult:
    """The loss of a batch (scalar, differentiable), numbers for the log, and the samples that it is of."""

    loss: Tensor
    log: Numbers
    rollout: Rollout | None = None


Rewarding = Callable[[Sequence[Decoded]], list[Rollout]]
Divide = Callable[[Sequence[Rollout]], list[Rollout]]


def in_one_call(rewarding: Rewarding, decoded: Iterable[Decoded]) -> list[Rollout]:
    """Rollouts of all batches from one call of the reward."""
    batches = list(decoded)
    return rewarding(batches) if batches else []


@dataclass(frozen=True)
class MixedStep:
    """L = gamma L_RL + (1 - gamma) L_MLE + lambda L_cov (Clark et al. 2019, equation 8; L_cov: See et al. 2017).

    policy               the model that samples, without the wrapper that accelerate puts around it
    reward               texts -> rewards
    objective            what is minimised
    steps                updates of the run
    sampling             how samples are drawn
    rl                   objective, rollout -> L_RL
    mle                  references -> L_MLE, and lambda
    credit               rewards -> advantages and weights; None: ``rl`` reads the rewards
    start                scores as the model that the run began with, for a KL penalty
    noise                batch, update number -> random numbers of the samples, see ``Model``; None: torch's
    calls                which batches share a call of the reward
    score_while_drawing  if an update has one batch and the policy can, nothing is decoded twice, see DrawsAndScores
    control              update number, its rollouts -> the same with other rewards; None: their own
    processes            that train together
    """

    policy: Model
    reward: Reward
    objective: Objective
    steps: int
    sampling: Sampling
    rl: RewardLoss
    mle: MLEStep
    credit: Credit | None = None
    start: Scorer | None = None
    noise: Callable[[Batch, int], Tensor] | None = None
    calls: Callable[[Rewarding, Iterable[Decoded]], list[Rollout]] = in_one_call
    score_while_drawing: bool = False
    control: Callable[[int, Sequence[Rollout]], list[Rollout]] | None = None
    processes: Processes = ONE_PROCESS

    @property
    def k(self) -> int:
        """Samples of an article."""
        return self.objective.samples

    def gamma(self, number: int) -> float:
        """Weight of L_RL in update ``number`` (from 0)."""
        return self.objective.gamma_at(number, self.steps)

    def __call__(self, number: int, model: Scorer, batch: Batch, rollout: Rollout | None = None) -> StepResult:
        """Loss of a batch in update ``number``. A ``rollout`` was made ahead; without one, it is made now."""
        if self.gamma(number) == 0:  # likelihood training to the bit: no samples, no random numbers
            result = self.mle(model, batch)
            return replace(result, log={**result.log, "gamma": Mean.over(0.0, len(batch))})
        if rollout is None:
            (rollout,) = self.rollouts(number, [batch])
        return self.loss(number, model, batch, rollout)

    # ---- without gradient: samples, texts, rewards, advantages ------------------------------------------------------

    def rollouts(self, number: int, batches: Sequence[Batch], divide: Divide = list) -> list[Rollout]:
        """Samples of the batches with rewards and advantages; ``divide`` puts them into other batches.

        With several processes, every process must call it.
        """
        decoded = (self.decode(number, batch, len(batches) == 1) for batch in batches)
        rollouts = self.calls(self.rewarded, decoded)
        return self.credited(divide(rollouts if self.control is None else self.control(number, rollouts)))

    def decode(self, number: int, batch: Batch, alone: bool = False) -> Decoded:
        """k samples of each article, cut after ``sampling.max_length`` tokens, and the greedy text if needed."""
        noise = None if self.noise is None else self.noise(batch, number)
        needs_greedy = self.credit is not None and self.credit.needs_greedy
        greedy_tokens: Tokens | None = None
        scored: Scores | None = None
        if alone and self.score_while_drawing and isinstance(self.policy, DrawsAndScores):
            tokens, greedy_tokens, scored = self.policy.draw_and_score(
                batch, self.k, self.sampling, noise, needs_greedy, self.reads_references(number)
            )
        elif needs_greedy:
            tokens, greedy_tokens = self.policy.self_critical(batch, self.k, self.sampling, noise)
        else:
            tokens = self.policy.sample(batch, self.k, self.sampling, noise)
        greedy_texts = [] if greedy_tokens is None else self.policy.to_text(batch, greedy_tokens)
        drawn = Drawn.all(tokens.ids, self.sampling)
        start_log_prob = None if self.start is None else self.start(batch, tokens.ids, drawn).log_prob
        return Decoded(batch, tokens, self.policy.to_text(batch, tokens), greedy_texts, start_log_prob, scored)

    def rewarded(self, decoded: Sequence[Decoded]) -> list[Rollout]:
        """Rewards from one call: all samples first, then all greedy texts, each with the data of its article."""
        texts = [(draw.texts, draw.batch, self.k) for draw in decoded]
        texts += [(draw.greedy_texts, draw.batch, 1) for draw in decoded if draw.greedy_texts]
        rows = [(text, batch, i // k) for written, batch, k in texts for i, text in enumerate(written)]
        inputs = Inputs(
            [text for text, _, _ in rows],
            [batch.references[article] for _, batch, article in rows],
            [batch.sources[article] for _, batch, article in rows],
            common_columns([batch.columns[article] for _, batch, article in rows]),
        )
        begun = time.perf_counter()
        rewards, components = score_components(self.reward, inputs)
        seconds = (time.perf_counter() - begun) / len(decoded)
        lengths = [target_lengths(draw.tokens.ids, draw.batch.pad).cpu().numpy() for draw in decoded]
        cut_off = [~np.isin(draw.tokens.ids.cpu().numpy(), draw.batch.ends).any(-1) for draw in decoded]
        count = sum(map(len, lengths))
        earned = Earned(
            rewards[:count].reshape(-1, self.k),
            np.concatenate(lengths).reshape(-1, self.k),
            rewards[count:] if len(rewards) > count else None,
            [component._replace(scores=component.scores[:count].reshape(-1, self.k)) for component in components],
            np.concatenate(cut_off).reshape(-1, self.k),
        )
        shares = earned.split([len(draw.batch) for draw in decoded])
        return [
            Rollout(draw.tokens, share, start_log_prob=draw.start_log_prob, scored=draw.scored, reward_seconds=seconds)
            for draw, share in zip(decoded, shares, strict=True)
        ]

    def credited(self, rollouts: Sequence[Rollout]) -> list[Rollout]:
        """The rollouts with advantages and weights, from all N articles of an update, of all processes, at once."""
        if self.credit is None:
            return list(rollouts)
        earned, local = self.processes.gather_lists([rollout.earned for rollout in rollouts])
        advantages, weights = self.credit(Earned.joined(earned))  # (N, k)
        cuts = np.cumsum([len(batch.rewards) for batch in earned])[:-1]
        credited = zip(rollouts, np.split(advantages, cuts)[local], np.split(weights, cuts)[local], strict=True)
        return [replace(rollout, advantages=advantage, weights=weight) for rollout, advantage, weight in credited]

    # ---- with gradient: log-probabilities, losses, log --------------------------------------------------------------

    def reads_references(self, number: int) -> bool:
        """Whether the loss of update ``number`` has a likelihood or a coverage term."""
        return self.gamma(number) < 1 or self.mle.coverage_weight > 0

    def score(self, number: int, model: Scorer, batch: Batch, ids: Tensor) -> Scores:
        """Samples (B*k, L) and references, scored in one pass of the model."""
        if not self.reads_references(number):
            return model(batch, ids, Drawn.all(ids, self.sampling)), None
        both = interleave(ids, batch.target, self.k, batch.pad)  # (B*(k+1), max(L, T))
        is_sample = torch.arange(len(both), device=both.device) % (self.k + 1) < self.k
        scored = model(batch, both, Drawn(is_sample, self.sampling))
        return scored.select(is_sample), scored.select(~is_sample)

    def loss(self, number: int, model: Scorer, batch: Batch, rollout: Rollout) -> StepResult:
        """gamma L_RL + (1 - gamma) L_MLE + lambda L_cov."""
        gamma, ids, articles = self.gamma(number), rollout.tokens.ids, len(batch)
        samples, references = rollout.scored or self.score(number, model, batch, ids)
        loss, rl_log = self.rl(self.objective, samples.log_prob, rollout)
        weighed = {"loss_rl": Mean.over(loss.item(), articles), "gamma": Mean.over(gamma, articles)}
        logs: list[Numbers] = [rl_log, weighed]
        if references is not None:
            mle, mle_log = self.mle.loss(references, batch.target, batch.pad)
            penalized = {"coverage": (references, batch.target)}
            if self.objective.coverage_on_samples:
                penalized["sample_coverage"] = (samples, ids)
            coverage, coverage_log = self.mle.coverage(penalized, batch)
            loss = gamma * loss + (1.0 - gamma) * mle + coverage
            logs += [mle_log, coverage_log]
        log = together([{"loss": Mean.over(loss.item(), articles)}, *logs, rollout.log()])
        old = samples.log_prob.detach() if rollout.old_log_prob is None else rollout.old_log_prob
        return StepResult(loss, log, replace(rollout, scored=None, old_log_prob=old))


@dataclass(frozen=True)
class MLEStep:
    """L_MLE + lambda L_cov, where L_MLE = -log p(reference | article).

    ``length`` of the objective is that of log-probability and coverage; the logged nll has no ``label_smoothing``.
    ``coverage_weight`` is lambda, 0 for a model without coverage.
    """

    objective: Objective
    coverage_weight: float = 0.0

    def __call__(self, model: Scorer, batch: Batch) -> StepResult:
        """Loss of one batch."""
        references = model(batch, batch.target)
        mle, mle_log = self.loss(references, batch.target, batch.pad)
        coverage, coverage_log = self.coverage({"coverage": (references, batch.target)}, batch)
        loss = mle + coverage
        return StepResult(loss, {"loss": Mean.over(loss.item(), len(batch)), **mle_log, **coverage_log})

    def loss(self, references: TargetScores, target: Tensor, pad: int = PAD) -> tuple[Tensor, dict[str, Logged]]:
        """L_MLE (scalar) of scored references (B, T), and numbers for the log."""
        lengths, log_prob = target_lengths(target, pad), references.log_prob
        tokens = lengths.sum().item()
        nll = Mean(-log_prob.sum().item(), tokens)
        if smoothing := self.objective.label_smoothing:
            assert references.mean_log_prob is not None, "label smoothing needs the mean over all tokens"
            log_prob = losses.smoothed(log_prob, references.mean_log_prob, smoothing)
        loss = losses.nll(log_prob, lengths, self.objective.length)
        loss_mle = Mean.over(loss.item(), len(target))
        return loss, {"nll": nll, "loss_mle": loss_mle, "tokens_per_second": Rate(tokens)}

    def coverage(
        self, penalized: Mapping[str, tuple[TargetScores, Tensor]], batch: Batch
    ) -> tuple[Tensor | float, dict[str, Logged]]:
        """lambda L_cov (scalar), the sum over ``penalized``: name in the log -> scored texts and their ids (R, T)."""
        if not self.coverage_weight:
            return 0.0, {}
        terms = {
            name: losses.coverage(scored.coverage, target_lengths(ids, batch.pad), self.objective.length)
            for name, (scored, ids) in penalized.items()
        }
        log: dict[str, Logged] = {name: Mean.over(term.item(), len(batch)) for name, term in terms.items()}
        return self.coverage_weight * sum(terms.values()), log


declare(
    Field("loss", "what is minimised: gamma L_RL + (1 - gamma) L_MLE + lambda L_cov", shown=True),
    Field("loss_rl", "L_RL, the loss of the samples, with the KL penalty"),
    Field("loss_mle", "L_MLE, the loss of the references"),
    Field("gamma", "weight of L_RL"),
    Field(
        "nll",
        "-log p of the references, in nats per token",
        "rises fast in validation: a smaller `gamma` or `learning_rate`",
        shown=True,
    ),
    Field("coverage", "L_cov of the references, not weighted; in validation, per token"),
    Field("sample_coverage", "L_cov of the samples, not weighted"),
)


def interleave(samples: Tensor, target: Tensor, k: int, pad: int = PAD) -> Tensor:
    """(B*k, L) samples and (B, T) references -> (B*(k+1), max(L, T)): each article's samples, then its reference."""
    width = max(samples.shape[1], target.shape[1])
    samples = F.pad(samples, (0, width - samples.shape[1]), value=pad).view(len(target), k, width)
    target = F.pad(target, (0, width - target.shape[1]), value=pad)
    return torch.cat([samples, target.unsqueeze(1)], 1).flatten(0, 1)
