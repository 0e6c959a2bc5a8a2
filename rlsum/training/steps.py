"""One training step's loss: by likelihood, or mixed with what rewards of samples teach. No optimiser in here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.data.vocabulary import PAD
from rlsum.models.summarizer import Scorer, Summarizer, TargetScores
from rlsum.training import losses
from rlsum.training.objectives import PolicyGradient, Ranking
from rlsum.training.rollout import Drawn, Rollout, draw, rewarded

if TYPE_CHECKING:
    from rewards.base import Reward


@dataclass(frozen=True)
class StepResult:
    """The loss to minimise (scalar, differentiable), and numbers for the log."""

    loss: Tensor
    log: Mapping[str, float]


@dataclass(frozen=True)
class MLEStep:
    """-log p(reference | article), with the coverage penalty where the model has coverage.

    ``label_smoothing`` is the share of a target that all tokens have evenly; what is logged as nll has none.
    """

    length: losses.LengthRule = "mean"
    coverage_weight: float = 1.0
    label_smoothing: float = 0.0

    def __call__(self, model: Scorer, batch: Batch) -> StepResult:
        """Loss of one batch."""
        loss, log = self.loss(model(batch, batch.target), batch.target, batch.pad)
        return StepResult(loss, {"loss": loss.item(), **log})

    def loss(self, scored: TargetScores, target: Tensor, pad: int = PAD) -> tuple[Tensor, dict[str, float]]:
        """Loss of targets (B, T) that have been scored."""
        lengths = losses.target_lengths(target, pad)
        nll = losses.nll(self._smoothed(scored), lengths, self.length)
        coverage = losses.coverage(scored.coverage, lengths, self.length)
        per_token = -scored.log_prob.sum().item() / lengths.sum().item()
        log = {"nll": per_token, "tokens": lengths.sum().item()}
        if coverage.requires_grad and self.coverage_weight:
            log["coverage"] = coverage.item()
            nll = nll + self.coverage_weight * coverage
        return nll, log

    def _smoothed(self, scored: TargetScores) -> Tensor:
        if self.label_smoothing == 0:
            return scored.log_prob
        assert scored.mean_log_prob is not None, "labels are smoothed with the mean over all tokens"
        return losses.smoothed(scored.log_prob, scored.mean_log_prob, self.label_smoothing)


@dataclass(frozen=True)
class MixedStep:
    """gamma L_reward + (1 - gamma) L_MLE (Clark et al. 2019, equation 8).

    Samples, and greedy decodings where they are the baseline, come out of one decoding without gradient; samples and
    references are then scored in one pass with gradient, and ``learn`` makes L_reward of the samples' part.
    ``start`` scores as the model that the run began with; ``noise`` is what the samples of a batch are drawn with.
    """

    reward: Reward
    gamma: float
    samples: int
    max_length: int
    mle: MLEStep
    learn: PolicyGradient | Ranking
    start: Scorer | None = None
    noise: Callable[[Batch], Tensor] | None = None

    def __call__(self, model: Scorer, decoder: Summarizer, batch: Batch) -> StepResult:
        """Loss of one batch. ``decoder`` is the model itself, free of any wrapper that accelerate put around it."""
        return self.loss(model, batch, lambda: self.roll_out(decoder, batch))

    def roll_out(self, decoder: Summarizer, batch: Batch) -> Rollout:
        """Samples of a batch, rewarded."""
        return rewarded([self.draw(decoder, batch)], self.reward)[0]

    def draw(self, decoder: Summarizer, batch: Batch) -> Drawn:
        """Samples of a batch."""
        return draw(
            decoder,
            batch,
            samples=self.samples,
            max_length=self.max_length,
            greedy=self.learn.needs_greedy,
            start=self.start,
            noise=None if self.noise is None else self.noise(batch),
        )

    def loss(self, model: Scorer, batch: Batch, sampled: Callable[[], Rollout]) -> StepResult:
        """Loss of one batch, learnt from its samples, which ``sampled`` brings."""
        if self.gamma == 0:  # exactly likelihood training: nothing is sampled that would not count
            return self.mle(model, batch)
        rollout = sampled()
        loss, log = self._mixed(model, batch, rollout)
        return StepResult(loss, {"loss": loss.item(), **log, **rollout.log(batch), "gamma": self.gamma})

    def _mixed(self, model: Scorer, batch: Batch, rollout: Rollout) -> tuple[Tensor, dict[str, float]]:
        ids = rollout.samples.ids
        if self.gamma == 1:  # the references would not count: they are not scored
            rl, log = self.learn(model(batch, ids).log_prob, rollout, batch.pad)
            return rl, {**log, "loss_rl": rl.item(), "tokens": losses.target_lengths(ids, batch.pad).sum().item()}
        both = interleave(ids, batch.target, self.samples, batch.pad)
        scored = model(batch, both)
        is_sample = torch.arange(len(both), device=both.device) % (self.samples + 1) < self.samples
        rl, log = self.learn(scored.log_prob[is_sample], rollout, batch.pad)
        mle, mle_log = self.mle.loss(scored.select(~is_sample), both[~is_sample], batch.pad)
        return losses.mixed(rl, mle, self.gamma), {**mle_log, **log, "loss_rl": rl.item(), "loss_mle": mle.item()}


def interleave(samples: Tensor, target: Tensor, k: int, pad: int = PAD) -> Tensor:
    """(B*k, L) samples and (B, T) references -> (B*(k+1), max): each article's samples, then its reference."""
    width = max(samples.shape[1], target.shape[1])
    samples = F.pad(samples, (0, width - samples.shape[1]), value=pad).view(len(target), k, width)
    target = F.pad(target, (0, width - target.shape[1]), value=pad)
    return torch.cat([samples, target.unsqueeze(1)], 1).flatten(0, 1)
