"""One training step's loss: by likelihood, or by the self-critical mixed objective. No optimiser in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum import estimators, losses
from rlsum.data.batch import Batch
from rlsum.data.vocabulary import PAD
from rlsum.models.summarizer import Scored, Scorer, Summarizer, Tokens

if TYPE_CHECKING:
    from rewards.base import Reward


@dataclass(frozen=True)
class StepResult:
    """The loss to minimise (scalar, differentiable), and numbers for the log."""

    loss: Tensor
    log: Mapping[str, float]


@dataclass(frozen=True)
class MLEStep:
    """-log p(reference | article), with the coverage penalty where the model has coverage."""

    length: losses.LengthRule = "mean"
    coverage_weight: float = 1.0

    def __call__(self, model: Scorer, batch: Batch) -> StepResult:
        """Loss of one batch."""
        loss, log = self.loss(model(batch, batch.target), batch.target, batch.pad)
        return StepResult(loss, {"loss": loss.item(), **log})

    def loss(self, scored: Scored, target: Tensor, pad: int = PAD) -> tuple[Tensor, dict[str, float]]:
        """Loss of targets (B, T) that have been scored."""
        lengths = target_lengths(target, pad)
        nll = losses.nll(scored.log_prob, lengths, self.length)
        coverage = losses.coverage(scored.coverage, lengths, self.length)
        per_token = -scored.log_prob.sum().item() / lengths.sum().item()
        log = {"nll": per_token, "tokens": lengths.sum().item()}
        if coverage.requires_grad and self.coverage_weight:
            log["coverage"] = coverage.item()
            nll = nll + self.coverage_weight * coverage
        return nll, log


@dataclass(frozen=True)
class MixedStep:
    """gamma L_RL + (1 - gamma) L_MLE with the greedy decoding as baseline (FORMULAS: Clark et al. 2019, section 5).

    Samples and greedy decodings come out of one decoding without gradient; samples and references are then scored in
    one pass with gradient.
    """

    reward: Reward
    gamma: float
    reward_scale: float
    samples: int
    max_length: int
    mle: MLEStep

    def __call__(self, model: Scorer, decoder: Summarizer, batch: Batch) -> StepResult:
        """Loss of one batch. ``decoder`` is the model itself, free of any wrapper that accelerate put around it."""
        if self.gamma == 0:  # exactly likelihood training: nothing is sampled that would not count
            return self.mle(model, batch)
        samples, greedy = decoder.self_critical(batch, self.samples, self.max_length)
        sample_rewards, greedy_rewards = self._score(decoder, batch, samples, greedy)
        advantage = estimators.self_critical(sample_rewards, greedy_rewards, self.reward_scale)
        loss, log = self._loss(model, batch, samples.ids, advantage)
        return StepResult(
            loss,
            {
                "loss": loss.item(),
                **log,
                **_reward_log(sample_rewards, greedy_rewards, advantage),
                **_sample_log(samples.ids, batch),
                "gamma": self.gamma,
            },
        )

    def _score(
        self, decoder: Summarizer, batch: Batch, samples: Tokens, greedy: Tokens
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rewards of the samples (B, k) and of the greedy decodings (B,), from one call of the reward."""
        texts = decoder.to_text(batch, samples) + decoder.to_text(batch, greedy)
        size, k = len(batch), self.samples
        rows = [i // k for i in range(size * k)] + list(range(size))
        values = self.reward(texts, [batch.references[i] for i in rows], [batch.sources[i] for i in rows])
        return values[: size * k].reshape(size, k), values[size * k :]

    def _loss(
        self, model: Scorer, batch: Batch, sample_ids: Tensor, advantage: np.ndarray
    ) -> tuple[Tensor, dict[str, float]]:
        weight = torch.as_tensor(advantage, dtype=torch.float32, device=sample_ids.device).flatten()
        if self.gamma == 1:  # the references would not count: they are not scored
            rl = self._policy_gradient(model(batch, sample_ids), sample_ids, weight, batch.pad)
            return rl, {"loss_rl": rl.item(), "tokens": target_lengths(sample_ids, batch.pad).sum().item()}
        both = interleave(sample_ids, batch.target, self.samples, batch.pad)
        scored = model(batch, both)
        is_sample = torch.arange(len(both), device=both.device) % (self.samples + 1) < self.samples
        rl = self._policy_gradient(_rows(scored, is_sample), both[is_sample], weight, batch.pad)
        mle, log = self.mle.loss(_rows(scored, ~is_sample), both[~is_sample], batch.pad)
        return losses.mixed(rl, mle, self.gamma), {**log, "loss_rl": rl.item(), "loss_mle": mle.item()}

    def _policy_gradient(self, scored: Scored, sample_ids: Tensor, advantage: Tensor, pad: int) -> Tensor:
        return losses.policy_gradient(scored.log_prob, target_lengths(sample_ids, pad), advantage, self.mle.length)


def _rows(scored: Scored, rows: Tensor) -> Scored:
    return Scored(scored.log_prob[rows], scored.coverage[rows])


def interleave(samples: Tensor, target: Tensor, k: int, pad: int = PAD) -> Tensor:
    """(B*k, L) samples and (B, T) references -> (B*(k+1), max): each article's samples, then its reference."""
    width = max(samples.shape[1], target.shape[1])
    samples = F.pad(samples, (0, width - samples.shape[1]), value=pad).view(len(target), k, width)
    target = F.pad(target, (0, width - target.shape[1]), value=pad)
    return torch.cat([samples, target.unsqueeze(1)], 1).flatten(0, 1)


def target_lengths(target: Tensor, pad: int = PAD) -> Tensor:
    """(R, T) ids -> (R,) number of tokens, the end token counted."""
    return (target != pad).sum(-1)


def _reward_log(samples: np.ndarray, greedy: np.ndarray, advantage: np.ndarray) -> dict[str, float]:
    defined = np.isfinite(advantage)
    return {
        "reward": mean_defined(samples),
        "baseline_reward": mean_defined(greedy),
        "advantage_std": float(np.std(advantage[defined])) if defined.any() else float("nan"),
        "undefined_rewards": float((~defined).mean()),
        "zero_advantage": float((advantage[defined] == 0).mean()) if defined.any() else float("nan"),
    }


def _sample_log(ids: Tensor, batch: Batch) -> dict[str, float]:
    lengths, ends = target_lengths(ids, batch.pad).float(), torch.tensor(batch.ends, device=ids.device)
    return {
        "sample_length": lengths.mean().item(),
        "sample_cut_off": 1.0 - torch.isin(ids, ends).any(-1).float().mean().item(),
    }


def mean_defined(values: Sequence[float] | np.ndarray) -> float:
    """Mean of the values that are defined; NaN where none is."""
    array = np.asarray(values, dtype=np.float64)
    return float(np.nanmean(array)) if (~np.isnan(array)).any() else float("nan")
