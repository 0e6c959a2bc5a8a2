"""One update, from a batch of articles to the loss, in the order of events. The equations are in docs/concepts/one-update.md.

    rollouts   sample -> texts -> rewards -> advantages         without gradient
    loss       log-probabilities -> L_RL, L_MLE, L_cov -> loss  with gradient

Formulas are in ``estimators`` (rewards -> advantages) and ``losses`` (log-probabilities -> losses). Around this page:
``steps`` (rollouts made ahead, or shared by several updates), ``trainer`` (backward pass and optimiser) and
``parallel`` (several processes).

Shapes: B articles, k samples an article, L decoded tokens, T target tokens. Of R = B*k rows of samples, rows
i*k .. i*k+k-1 belong to article i. Padding has log-probability 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rewards.base import Reward
from rewards.scoring import Component, Inputs, score_components
from rlsum.data.batch import Batch
from rlsum.data.vocabulary import PAD
from rlsum.models.decoding import Sampling
from rlsum.models.sampling import Drawn
from rlsum.models.summarizer import DrawsAndScores, Scorer, Scores, Summarizer, TargetScores, Tokens
from rlsum.records import common_columns
from rlsum.training import losses
from rlsum.training.estimators import Credit
from rlsum.training.log.numbers import Logged, Mean, Numbers, Total
from rlsum.training.losses import LengthRule, target_lengths
from rlsum.training.parallel.processes import ONE_PROCESS, Processes


@dataclass(frozen=True)
class StepResult:
    """The loss of a batch (scalar, differentiable), numbers for the log, and the samples that it is of."""

    loss: Tensor
    log: Numbers
    rollout: Rollout | None = None


@dataclass(frozen=True)
class Samples:
    """Decoded texts of a batch: k samples an article, and its greedy text where the estimator needs one."""

    batch: Batch
    tokens: Tokens  # (B*k, L)
    texts: list[str]  # B*k
    greedy_texts: list[str]  # B, or none
    start_log_prob: Tensor | None  # (B*k, L), see Rollout
    scores: Scores | None  # see Rollout


@dataclass(frozen=True)
class Rollout:
    """Samples of a batch with their rewards and advantages.

    samples         ids and log-probabilities at sampling time, (B*k, L)
    lengths         (B, k) tokens of the samples, end tokens counted
    rewards         (B, k) float64, NaN where undefined
    greedy_rewards  (B,) of the greedy texts; None unless the estimator needs them
    advantages      (B, k) float64, NaN where undefined; None for losses that read the rewards (``reward_losses``)
    weights         (B, k) float64, of the samples in the policy gradient, see ``estimators.weights``; None as above
    start_log_prob  (B*k, L) under the model that the run began with; None without a KL penalty
    old_log_prob    (B*k, W) of the samples in the first loss that reads them, so under the policy that drew them; None
                    before. Decoding has other kernels, so its log-probabilities are rounded otherwise
    scores          of samples (B*k, L) and references (B, T), if the samples were scored while they were drawn
    components      of a reward that is a weighted sum: names, weights, and scores (B, k), not weighted
    reward_seconds  that computing its rewards took
    """

    samples: Tokens
    lengths: np.ndarray
    rewards: np.ndarray
    greedy_rewards: np.ndarray | None = None
    advantages: np.ndarray | None = None
    weights: np.ndarray | None = None
    start_log_prob: Tensor | None = None
    old_log_prob: Tensor | None = None
    scores: Scores | None = None
    components: Sequence[Component] = ()
    reward_seconds: float = 0.0

    def log(self, batch: Batch) -> dict[str, Logged]:
        """Means over the samples: rewards, tokens, share without an end token, entropy a token in nats."""
        ids, ends = self.samples.ids, torch.tensor(batch.ends, device=self.samples.ids.device)
        greedy = self.greedy_rewards
        return {
            "reward": Mean.of(self.rewards),
            **{f"reward/{name}": Mean.of(scores) for name, _, scores in self.components},
            **({} if greedy is None else {"baseline_reward": Mean.of(greedy)}),
            "reward_seconds": Total(self.reward_seconds),
            "sample_length": Mean.of(self.lengths),
            "sample_cut_off": Mean((~torch.isin(ids, ends).any(-1)).sum().item(), len(ids)),
            "entropy": Mean(-self.samples.log_prob.sum().item(), self.lengths.sum()),
        }


RewardLoss = Callable[[Tensor, Rollout], tuple[Tensor, dict[str, Logged]]]  # see reward_losses
Score = Callable[[Sequence[Samples]], list[Rollout]]


def score_together(score: Score, samples: Iterable[Samples]) -> list[Rollout]:
    """All samples in one call of the reward."""
    parts = list(samples)
    return score(parts) if parts else []


@dataclass(frozen=True)
class MixedStep:
    """L = gamma L_RL + (1 - gamma) L_MLE + lambda L_cov (Clark et al. 2019, equation 8; L_cov: See et al. 2017).

    policy               the model that samples, without the wrapper that accelerate puts around it
    reward               texts -> rewards
    gamma                update number (from 0) -> weight of L_RL
    samples              k
    sampling             how samples are drawn
    rl                   rollout -> L_RL
    mle                  references -> L_MLE, and lambda
    credit               rewards -> advantages and weights; None: ``rl`` reads the rewards
    coverage_on_samples  L_cov is that of the references plus that of the samples
    start                scores as the model that the run began with, for a KL penalty
    noise                batch, update number -> random numbers of the samples, see ``Summarizer``; None: torch's
    scoring              which samples share a call of the reward
    score_while_drawing  if an update has one batch and the policy can, nothing is decoded twice, see DrawsAndScores
    control              update number, its rollouts -> the same with other rewards; None: their own
    processes            that train together
    """

    policy: Summarizer
    reward: Reward
    gamma: Callable[[int], float]
    samples: int
    sampling: Sampling
    rl: RewardLoss
    mle: MLEStep
    credit: Credit | None = None
    coverage_on_samples: bool = False
    start: Scorer | None = None
    noise: Callable[[Batch, int], Tensor] | None = None
    scoring: Callable[[Score, Iterable[Samples]], list[Rollout]] = score_together
    score_while_drawing: bool = False
    control: Callable[[int, Sequence[Rollout]], list[Rollout]] | None = None
    processes: Processes = ONE_PROCESS

    def __call__(self, number: int, model: Scorer, batch: Batch, rollout: Rollout | None = None) -> StepResult:
        """Loss of a batch in update ``number``. A ``rollout`` was made ahead; without one, it is made now."""
        if self.gamma(number) == 0:  # likelihood training to the bit: no samples, no random numbers
            return self.mle(model, batch)
        if rollout is None:
            (rollout,) = self.rollouts(number, [batch])
        return self.loss(number, model, batch, rollout)

    # ---- without gradient: samples, texts, rewards, advantages ------------------------------------------------------

    def rollouts(self, number: int, batches: Sequence[Batch]) -> list[Rollout]:
        """Samples of the batches with rewards and advantages. With several processes, every process must call it."""
        samples = (self.sample(number, batch, len(batches) == 1) for batch in batches)
        scored = self.scoring(self.score, samples)
        return self.credited(scored if self.control is None else self.control(number, scored))

    def sample(self, number: int, batch: Batch, alone: bool = False) -> Samples:
        """k samples of each article, cut after ``sampling.max_length`` tokens, and the greedy text if needed."""
        noise = None if self.noise is None else self.noise(batch, number)
        needs_greedy = self.credit is not None and self.credit.needs_greedy
        greedy: Tokens | None = None
        scores: Scores | None = None
        if alone and self.score_while_drawing and isinstance(self.policy, DrawsAndScores):
            tokens, greedy, scores = self.policy.draw_and_score(
                batch, self.samples, self.sampling, noise, needs_greedy, self.reads_references(number)
            )
        elif needs_greedy:
            tokens, greedy = self.policy.self_critical(batch, self.samples, self.sampling, noise)
        else:
            tokens = self.policy.sample(batch, self.samples, self.sampling, noise)
        greedy_texts = [] if greedy is None else self.policy.to_text(batch, greedy)
        drawn = Drawn.all(tokens.ids, self.sampling)
        start_log_prob = None if self.start is None else self.start(batch, tokens.ids, drawn).log_prob
        return Samples(batch, tokens, self.policy.to_text(batch, tokens), greedy_texts, start_log_prob, scores)

    def score(self, samples: Sequence[Samples]) -> list[Rollout]:
        """Rewards from one call: all samples first, then all greedy texts, each with the data of its article."""
        parts = [(part.texts, part.batch, self.samples) for part in samples]
        parts += [(part.greedy_texts, part.batch, 1) for part in samples if part.greedy_texts]
        inputs = Inputs(
            [text for texts, _, _ in parts for text in texts],
            [references for _, batch, k in parts for references in batch.references for _ in range(k)],
            [source for _, batch, k in parts for source in batch.sources for _ in range(k)],
            common_columns([row for _, batch, k in parts for row in batch.columns for _ in range(k)]),
        )
        begun = time.perf_counter()
        rewards, components = score_components(self.reward, inputs)
        seconds = (time.perf_counter() - begun) / len(samples)
        cuts = np.cumsum([len(texts) for texts, _, _ in parts])[:-1]
        split = np.split(rewards, cuts)
        split_components = [(one, np.split(one.scores, cuts)) for one in components]
        sample_rewards, greedy_rewards = split[: len(samples)], split[len(samples) :] or repeat(None, len(samples))
        return [
            Rollout(
                part.tokens,
                target_lengths(part.tokens.ids, part.batch.pad).cpu().numpy().reshape(-1, self.samples),
                rewards.reshape(-1, self.samples),
                greedy,
                start_log_prob=part.start_log_prob,
                scores=part.scores,
                components=[
                    one._replace(scores=scores[i].reshape(-1, self.samples)) for one, scores in split_components
                ],
                reward_seconds=seconds,
            )
            for i, (part, rewards, greedy) in enumerate(zip(samples, sample_rewards, greedy_rewards, strict=True))
        ]

    def credited(self, rollouts: Sequence[Rollout]) -> list[Rollout]:
        """The rollouts with advantages and weights, from all N articles of an update, of all processes, at once."""
        if self.credit is None:
            return list(rollouts)
        gathered = self.processes.gather_all([(part.rewards, part.greedy_rewards, part.lengths) for part in rollouts])
        parts = [part for process in gathered for part in process]
        greedy = [part for _, part, _ in parts if part is not None]
        advantages, weights = self.credit(
            np.concatenate([part for part, _, _ in parts]),  # (N, k)
            np.concatenate(greedy) if greedy else None,  # (N,)
            np.concatenate([part for _, _, part in parts]),  # (N, k)
        )
        first = sum(len(process) for process in gathered[: self.processes.rank])
        mine = slice(first, first + len(rollouts))
        cuts = np.cumsum([len(part) for part, _, _ in parts])[:-1]
        credited = zip(rollouts, np.split(advantages, cuts)[mine], np.split(weights, cuts)[mine], strict=True)
        return [replace(rollout, advantages=own, weights=weight) for rollout, own, weight in credited]

    # ---- with gradient: log-probabilities, losses, log --------------------------------------------------------------

    def reads_references(self, number: int) -> bool:
        """Whether the loss of update ``number`` has a likelihood or a coverage term."""
        return self.gamma(number) < 1 or self.mle.coverage_weight > 0

    def scores(self, number: int, model: Scorer, batch: Batch, ids: Tensor) -> Scores:
        """Scores of samples (B*k, L) and references from one pass of the model."""
        if not self.reads_references(number):
            return model(batch, ids, Drawn.all(ids, self.sampling)), None
        both = interleave(ids, batch.target, self.samples, batch.pad)  # (B*(k+1), max(L, T))
        is_sample = torch.arange(len(both), device=both.device) % (self.samples + 1) < self.samples
        scored = model(batch, both, Drawn(is_sample, self.sampling))
        return scored.select(is_sample), scored.select(~is_sample)

    def loss(self, number: int, model: Scorer, batch: Batch, rollout: Rollout) -> StepResult:
        """gamma L_RL + (1 - gamma) L_MLE + lambda L_cov."""
        gamma, ids, articles = self.gamma(number), rollout.samples.ids, len(batch)
        samples, references = rollout.scores or self.scores(number, model, batch, ids)
        loss, log = self.rl(samples.log_prob, rollout)
        log["loss_rl"] = Mean.over(loss.item(), articles)
        tokens = Total(rollout.lengths.sum())  # whose log-probabilities are computed with a gradient
        if references is not None:
            mle, mle_log = self.mle.loss(references, batch.target, batch.pad)
            loss = gamma * loss + (1.0 - gamma) * mle
            tokens = tokens.merged(mle_log["tokens"])
            log |= {**mle_log, "loss_mle": Mean.over(mle.item(), articles)}
            if self.mle.coverage_weight:
                coverage = self.mle.coverage(references, batch.target, batch.pad)
                log["coverage"] = Mean.over(coverage.item(), articles)
                if self.coverage_on_samples:
                    of_samples = self.mle.coverage(samples, ids, batch.pad)
                    log["sample_coverage"] = Mean.over(of_samples.item(), articles)
                    coverage = coverage + of_samples
                loss = loss + self.mle.coverage_weight * coverage
        log = {"loss": Mean.over(loss.item(), articles), **log, **rollout.log(batch), "tokens": tokens}
        log["gamma"] = Mean(gamma, 1)
        old = samples.log_prob.detach() if rollout.old_log_prob is None else rollout.old_log_prob
        return StepResult(loss, log, replace(rollout, scores=None, old_log_prob=old))


@dataclass(frozen=True)
class MLEStep:
    """L_MLE + lambda L_cov, where L_MLE = -log p(reference | article).

    length           the log-probability and the coverage of a text are the sum or the mean over its tokens
    coverage_weight  lambda; 0 for a model without coverage
    label_smoothing  this share of each target token is spread evenly over all tokens; the logged nll has none
    """

    length: LengthRule = "mean"
    coverage_weight: float = 0.0
    label_smoothing: float = 0.0

    def __call__(self, model: Scorer, batch: Batch) -> StepResult:
        """Loss of one batch."""
        scored = model(batch, batch.target)
        loss, log = self.loss(scored, batch.target, batch.pad)
        if self.coverage_weight:
            coverage = self.coverage(scored, batch.target, batch.pad)
            log["coverage"] = Mean.over(coverage.item(), len(batch))
            loss = loss + self.coverage_weight * coverage
        return StepResult(loss, {"loss": Mean.over(loss.item(), len(batch)), **log})

    def loss(self, scored: TargetScores, target: Tensor, pad: int = PAD) -> tuple[Tensor, dict[str, Logged]]:
        """L_MLE (scalar) of scored targets (B, T), and numbers for the log."""
        lengths, log_prob = target_lengths(target, pad), scored.log_prob
        tokens = lengths.sum().item()
        log: dict[str, Logged] = {"nll": Mean(-log_prob.sum().item(), tokens), "tokens": Total(tokens)}
        if self.label_smoothing:
            assert scored.mean_log_prob is not None, "label smoothing needs the mean over all tokens"
            log_prob = losses.smoothed(log_prob, scored.mean_log_prob, self.label_smoothing)
        return losses.nll(log_prob, lengths, self.length), log

    def coverage(self, scored: TargetScores, target: Tensor, pad: int = PAD) -> Tensor:
        """L_cov (scalar) of scored targets (R, T)."""
        return losses.coverage(scored.coverage, target_lengths(target, pad), self.length)


def interleave(samples: Tensor, target: Tensor, k: int, pad: int = PAD) -> Tensor:
    """(B*k, L) samples and (B, T) references -> (B*(k+1), max(L, T)): each article's samples, then its reference."""
    width = max(samples.shape[1], target.shape[1])
    samples = F.pad(samples, (0, width - samples.shape[1]), value=pad).view(len(target), k, width)
    target = F.pad(target, (0, width - target.shape[1]), value=pad)
    return torch.cat([samples, target.unsqueeze(1)], 1).flatten(0, 1)


def as_rows(values: np.ndarray, like: Tensor) -> Tensor:
    """(B, k) numbers of samples -> (R,) float32, on the device of ``like``."""
    return torch.as_tensor(values, dtype=torch.float32, device=like.device).flatten()
