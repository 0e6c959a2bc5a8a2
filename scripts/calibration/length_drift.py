"""What each `objective.normalisation` makes of a constant advantage: the mean length of samples before and after.

    python scripts/calibration/length_drift.py runs/weak-1/mle runs/weak-2/mle runs/weak-3/mle --updates 80

A run a likelihood model. A reward is not involved, so every change beyond chance is a hidden force of the loss.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import torch

from rlsum.data.batch import Batch, BatchPlan, training_lengths
from rlsum.objective import Normalisation, Objective
from rlsum.training import build, checkpoint
from rlsum.training.steps import BufferedStep, training_step

ADVANTAGE, SAMPLES, BATCH, RATE = -0.3, 4, 16, 2e-4
MEASURED = 100  # articles whose samples are measured


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="runs of likelihood models, one a seed")
    parser.add_argument("--updates", type=int, default=80)
    options = parser.parse_args()
    names = [run.parent.name for run in options.runs]
    print(f"{'normalisation':14} " + " ".join(f"{name:>14}" for name in names) + "     mean")
    for normalisation in get_args(Normalisation):
        lengths = np.array([drift(run, normalisation, options.updates) for run in options.runs])
        cells = " ".join(f"{before:6.1f} > {after:5.1f}" for before, after in lengths)
        print(f"{normalisation:14} {cells}  {np.diff(lengths).mean():+7.2f}", flush=True)
    return 0


def drift(run: Path, normalisation: Normalisation, updates: int) -> tuple[float, float]:
    """Mean tokens of samples of a run's model, before and after updates on a constant advantage."""
    start = checkpoint.find(run)
    objective = Objective(
        kind="mixed",
        reward="none",
        gamma=1.0,
        samples=SAMPLES,
        estimator="reinforce++",  # decodes no greedy texts
        normalisation=normalisation,
        control="constant",
        control_advantage=ADVANTAGE,
    )
    config = replace(start.config, objective=objective)
    model = build.load_model(start)
    step = training_step(config, model, lambda texts, *_: np.zeros(len(texts)))  # type: ignore[arg-type]
    assert isinstance(step, BufferedStep)
    rows = {
        part: model.read(build.corpus(config, part).rows, config.data.max_source, config.data.max_target)
        for part in ("train", "valid")
    }
    torch.manual_seed(config.training.seed)
    count = min(MEASURED, len(rows["valid"]))
    measured = [model.collate(rows["valid"][i : i + BATCH]) for i in range(0, count, BATCH)]

    def length(batches: Iterable[Batch]) -> float:
        return float(
            np.concatenate([rollout.earned.lengths for rollout in step.step.rollouts(0, list(batches))]).mean()
        )

    before = length(measured)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    plan = BatchPlan(training_lengths(rows["train"]), BATCH, config.training.seed)
    for number in range(updates):
        batch = model.collate(rows["train"][plan.at(number)])
        optimizer.zero_grad()
        step(number, model, batch).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.training.clip)
        optimizer.step()
    return before, length(measured)


if __name__ == "__main__":
    sys.exit(main())
