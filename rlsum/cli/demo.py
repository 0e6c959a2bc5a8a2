"""``rlsum demo``."""

from __future__ import annotations

import json
import time
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from rlsum import api
from rlsum.cli.compare import show_compared
from rlsum.cli.options import chosen


def demo(
    folder: Annotated[Path, typer.Option(help="Folder of all files; finished parts are kept.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(help="Seed of the stories and of the training.")] = 1,
    rewards: Annotated[str, typer.Option(help="Rewards to train on, separated by commas.")] = "rouge-l,sms",
    shuffled: Annotated[
        bool, typer.Option(help="Also train with each reward shuffled: a control that should show no gain.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Trainings at a time.")] = 2,
) -> None:
    """Simulate news stories, pretrain on them, train on rewards, and test whether the rewards helped.

    The comparison compare/demo with one seed and few rewards. Prints the tables and writes
    FOLDER/report/index.html and its pictures.

    **Examples**

    rlsum demo

    rlsum demo --seed 2 --folder runs/demo-2 --rewards rouge-l,wms,sms,s+wms,twmd
    """
    from rlsum.compare import config as configs

    started = time.perf_counter()
    settings = {
        "folder": str(folder),
        "seeds": [seed],
        "simulate.seed": seed,
        "controls": ["none", "shuffled"] if shuffled else ["none"],
    }
    overrides = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
    config = Path(str(resources.files("rlsum") / "configs" / "compare" / "demo.yaml"))
    comparison = configs.load(config, overrides)
    names = chosen("--rewards", rewards, tuple(comparison.rewards))
    show_compared(api.compare(configs.trained_on(comparison, names), jobs=jobs, timed=False))
    typer.echo(f"{(time.perf_counter() - started) / 60:.1f} minutes")
