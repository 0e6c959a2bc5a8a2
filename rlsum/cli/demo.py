"""``rlsum demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[Path, typer.Option(help="Folder of all files; finished parts are kept.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(help="Seed of the stories and of the training.")] = 1,
    rewards: Annotated[str, typer.Option(help="Rewards to train on, separated by commas.")] = "rouge-l,sms",
    shuffled: Annotated[
        bool, typer.Option(help="Permute each reward within its batch: a control that should show no gain.")
    ] = False,
    configs: Annotated[
        Path | None,
        typer.Option(help="Folder of mle.yaml, none.yaml and one file for each reward. Default: the installed ones."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Trainings at a time.")] = 2,
) -> None:
    """Simulate news stories, pretrain on them, train on rewards, and test whether the rewards helped.

    Prints the tables and writes FOLDER/report/index.html and its pictures; with --shuffled, FOLDER/report-shuffled.

    **Examples**

    rlsum demo

    rlsum demo --seed 2 --folder runs/demo-2 --rewards rouge-l,wms,sms,s+wms,twmd
    """
    import os
    import time

    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for this process and its trainings; see rlsum.compare.variants
    from importlib import resources

    from rich.console import Console

    from rlsum.compare.demo import DemoSettings, run
    from rlsum.compare.report import report_blocks, write_report
    from rlsum.pages.terminal import show

    console = Console()
    started = time.perf_counter()
    names = tuple(name.strip() for name in rewards.split(","))
    configs = configs or Path(str(resources.files("rlsum") / "configs" / "demo"))
    settings = DemoSettings(configs, folder, seed, names, shuffled, jobs)
    report = run(settings, lambda line: console.print(line, highlight=False, markup=False, soft_wrap=True))
    show(report_blocks(report), console)
    page = write_report(report, folder / ("report-shuffled" if shuffled else "report"))
    console.print(f"\n{(time.perf_counter() - started) / 60:.1f} minutes; report: {page}", highlight=False)
