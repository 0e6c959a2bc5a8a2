"""Estimators at equal compute, from the same starts: policy gradients, ranking, minimum risk and best of n.

    python scripts/compare_estimators.py runs/demo runs/demo-2 runs/demo-3 -o runs/estimators

The folders are those of `rlsum demo`, one a seed: their likelihood models (mle) are the starts. Prints the gains over
the start and over the same start trained on by likelihood, with intervals and p-values, all seeds together and each by
itself. An estimator may have settings of its own: `--estimators grpo,ranking,ranking:objective.gamma=0.5`.

    python scripts/compare_estimators.py runs/weak-1 runs/weak-2 runs/weak-3 --drift 80

prints what each `objective.normalisation` makes of a constant advantage: the mean length of samples before and after so
many updates from each likelihood model. A reward is not involved, so every change beyond chance is a hidden force.
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
from rich.console import Console

from rlsum.compare import estimators
from rlsum.compare.report import report_blocks, write_report
from rlsum.data.batch import Batch, BatchPlan, training_lengths
from rlsum.errors import UserError
from rlsum.objective import Normalisation, Objective
from rlsum.pages.terminal import show
from rlsum.training import build, checkpoint
from rlsum.training.steps import BufferedStep, training_step

ADVANTAGE, SAMPLES, BATCH, RATE = -0.3, 4, 16, 2e-4  # of the updates of --drift
MEASURED = 100  # articles whose samples are measured


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of `rlsum demo`, one a seed")
    parser.add_argument("-o", "--out", type=Path, help="folder of the report")
    parser.add_argument("--drift", type=int, metavar="UPDATES", help="print the drift of length instead")
    parser.add_argument("--configs", type=Path, default=Path("configs/demo"))
    parser.add_argument("--estimators", default=",".join(estimators.ESTIMATORS))
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    options = parser.parse_args()
    if options.drift:
        return print_drift(options.folders, options.drift)
    if options.out is None:
        parser.error("-o: the folder of the report is missing")
    names = tuple(options.estimators.split(","))
    study = estimators.EstimatorStudy(tuple(options.folders), options.configs, names, options.jobs)
    console = Console()
    try:
        report = estimators.run(study, lambda line: console.print(line, highlight=False, markup=False, soft_wrap=True))
    except UserError as error:
        print(f"compare_estimators: {error}", file=sys.stderr)
        return 1
    show(report_blocks(report), console)
    write_report(report, options.out)
    console.print(f"{options.out / 'report.md'}, {options.out / 'index.html'}")
    return 0


def print_drift(folders: list[Path], updates: int) -> int:
    """A line for each normalisation: tokens of samples before and after, and the mean difference over the folders."""
    print(f"{'normalisation':14} " + " ".join(f"{folder.name:>14}" for folder in folders) + "     mean")
    for normalisation in get_args(Normalisation):
        lengths = np.array([drift(folder, normalisation, updates) for folder in folders])
        cells = " ".join(f"{before:6.1f} > {after:5.1f}" for before, after in lengths)
        print(f"{normalisation:14} {cells}  {np.diff(lengths).mean():+7.2f}", flush=True)
    return 0


def drift(folder: Path, normalisation: Normalisation, updates: int) -> tuple[float, float]:
    """Mean tokens of samples of a folder's likelihood model, before and after updates on a constant advantage."""
    start = checkpoint.find(folder / "mle")
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
        return float(np.concatenate([part.lengths for part in step.step.rollouts(0, list(batches))]).mean())

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
