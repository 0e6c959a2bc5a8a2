"""``rlsum demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[Path, typer.Option(help="Where everything goes; finished parts found there are kept.")] = Path(
        "runs/demo"
    ),
    seed: Annotated[int, typer.Option(help="Of the stories and of the training.")] = 1,
    rewards: Annotated[str, typer.Option(help="Rewards to train on, separated by commas.")] = "rouge-l,sms",
    shuffled: Annotated[bool, typer.Option(help="Permute each reward within its batch: no gain may remain.")] = False,
    configs: Annotated[Path, typer.Option(help="Folder of mle.yaml, none.yaml and a file a reward.")] = Path(
        "configs/demo"
    ),
    jobs: Annotated[int, typer.Option(min=1, help="Trainings at a time.")] = 2,
) -> None:
    """Simulate news stories, pretrain on them, train on rewards, and see whether it helped.

    Prints the tables and writes FOLDER/report/index.html and its pictures; with --shuffled, FOLDER/report-shuffled.

    **Examples**

    rlsum demo

    rlsum demo --seed 2 --folder runs/demo-2 --rewards rouge-l,wms,sms,s+wms,twmd
    """
    import os
    import time

    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for this process and its trainings; see rlsum.compare.cells
    from rich.console import Console

    from rlsum.compare import demo as demos
    from rlsum.compare.report import report_blocks, write_report
    from rlsum.pages.terminal import show

    console = Console()
    started = time.perf_counter()
    plan = demos.Plan(configs, folder, seed, tuple(name.strip() for name in rewards.split(",")), shuffled, jobs)

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    report = demos.run(plan, say)
    show(report_blocks(report), console)
    page = write_report(report, folder / ("report-shuffled" if shuffled else "report"))
    console.print(f"\n{(time.perf_counter() - started) / 60:.1f} minutes; the page is {page}", highlight=False)
