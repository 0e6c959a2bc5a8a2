"""How much of a policy gradient is signal: the mean cosine between gradients of independent updates, at one model.

    python scripts/measure_signal.py configs/demo/rouge-l.yaml --init runs/demo/mle --updates 24
    python scripts/measure_signal.py configs/demo/rouge-l.yaml --init runs/demo/mle sampling.temperature=0.5

The gradient of an update is the expected gradient g plus noise. The noise of two updates is independent, so their
cosine is about c = |g|^2 / (|g|^2 + noise^2), the share of signal. The mean of n updates has a share of about
n c / (1 + (n - 1) c): one half after 1 / c updates. This tells whether a budget of updates can teach anything, before
it is spent, and which estimator, temperature or batch gives more signal for its seconds.

Only the loss of the reward counts there (gamma is 1, without coverage), and weights stay as they are. Printed are the
mean over all pairs with a jackknife standard error, of all weights and of each part of the model alone; 1 / c; and the
CPU seconds of an update. A part with little signal moves as far as the others under Adam, and mostly by noise.

The first line compares what the reward and the likelihood contribute to an update: the mean norms of the gradients of
gamma L_RL and of (1 - gamma) L_MLE. Where the reward's is the smaller, most of an update is likelihood, and most of
that is noise, too: raise objective.reward_scale, or take an estimator that divides by the standard deviation.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from itertools import groupby
from pathlib import Path

import numpy as np
import torch

from rlsum import config as configs
from rlsum.training.build import trainer as trainer_of
from rlsum.training.trainer import Trainer

FIXED = (
    "objective.gamma=1",
    "objective.gamma_end=null",
    "objective.coverage_weight=0",
    "objective.updates_per_sample=1",  # every update draws samples of its own articles
    "training.tracker=null",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path, help="configuration of a run with a reward")
    parser.add_argument("overrides", nargs="*", help="section.key=value")
    parser.add_argument("--init", type=Path, required=True, help="the run or checkpoint whose gradients are measured")
    parser.add_argument("--updates", type=int, default=24, help="independent updates, 3 or more")
    options = parser.parse_intermixed_args()
    if options.updates < 3:
        parser.error(f"--updates={options.updates}: must be 3 or more, for a standard error")
    with tempfile.TemporaryDirectory() as folder:
        config = configs.load(options.config, [*options.overrides, *FIXED, f"run={folder}/run"])
        if not config.objective.rewarded:
            parser.error(f"{options.config}: objective.kind={config.objective.kind} has no reward to measure")
        gradients, likelihood, seconds = measure(trainer_of(config, options.init), options.updates)
    gamma = configs.load(options.config, options.overrides).objective.gamma
    reward = torch.cat(list(gradients.values()), 1).norm(dim=1).mean().item()
    print(f"norms of gradients: reward {gamma * reward:.3g}, likelihood {(1 - gamma) * likelihood:.3g}")
    print(f"{np.mean(seconds):.2f} CPU s an update")
    print_share("all weights", torch.cat(list(gradients.values()), 1))
    for name, rows in gradients.items():
        print_share(name, rows)


def print_share(name: str, gradients: torch.Tensor) -> None:
    cosine, error = share_of_signal(gradients)
    needed = f"{1 / cosine:.0f} updates until signal equals noise" if cosine > 2 * error else "not above 0"
    print(f"{name:20} {gradients.shape[1]:>12,} weights  share of signal {cosine:7.4f} +- {error:.4f}  {needed}")


def measure(trainer: Trainer, updates: int) -> tuple[dict[str, torch.Tensor], float, list[float]]:
    """Gradients of updates on different articles.

    Of L_RL: (updates, weights) float32 by part of the model. Of L_MLE: their mean norm. CPU seconds of each L_RL.
    """
    training, gradients, seconds = trainer.config.training, defaultdict(list), []
    likelihood = 0.0
    trainer.model.train()
    with trainer.held:
        for number in range(updates):
            started = time.process_time()
            torch.manual_seed(training.seed * updates + number)
            rows = trainer.plan.at(number)
            chunks = [rows[i : i + training.batch_size] for i in range(0, len(rows), training.batch_size)]
            batches = [trainer.model.collate(trainer.train_rows[chunk]) for chunk in chunks]
            with trainer.accelerator.autocast():
                rollouts = trainer.step.prepare(number, batches, batches)  # type: ignore[attr-defined]
            for batch, rollout in zip(batches, rollouts, strict=True):
                with trainer.accelerator.autocast():
                    loss = trainer.step(number, trainer.model, batch, rollout).loss
                (loss * len(batch) / len(rows)).backward()
            seconds.append(time.process_time() - started)
            for name, weights in groupby(trainer.model.named_parameters(), lambda named: named[0].partition(".")[0]):
                gradients[name].append(torch.cat([_gradient(weight) for _, weight in weights]))
            trainer.model.zero_grad()
            for batch in batches:
                loss = trainer.step.step.mle(trainer.model, batch).loss  # type: ignore[attr-defined]
                (loss * len(batch) / len(rows)).backward()
            whole = torch.cat([_gradient(weight) for weight in trainer.model.parameters()])
            likelihood += whole.norm().item() / updates
            trainer.model.zero_grad()
    return {name: torch.stack(rows) for name, rows in gradients.items()}, likelihood, seconds


def _gradient(weight: torch.Tensor) -> torch.Tensor:
    return (torch.zeros_like(weight) if weight.grad is None else weight.grad).flatten().float()


def share_of_signal(gradients: torch.Tensor) -> tuple[float, float]:
    """Mean cosine of all pairs of rows (n, weights), and its jackknife standard error. Rows of zeros count 0."""
    unit = torch.nn.functional.normalize(gradients.double(), dim=-1)
    cosines = (unit @ unit.T).numpy()
    np.fill_diagonal(cosines, 0.0)
    n, total = len(cosines), cosines.sum()
    left_out = (total - 2 * cosines.sum(0)) / ((n - 1) * (n - 2))
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return float(total / (n * (n - 1))), float(error)


if __name__ == "__main__":
    main()
