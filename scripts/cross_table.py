"""Every training reward by every metric: rows trained, columns evaluated, with intervals.

    python scripts/cross_table.py --seed 1 --folder runs/demo

Six cells start from the same likelihood model and get equally many updates: without reward, and with ROUGE-L, WMS, SMS,
S+WMS and TWMD. Runs that are there already (of `rlsum demo` with the same folder and seed) are not trained again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from rlsum.compare import demo
from rlsum.compare.report import report_blocks, write_report
from rlsum.pages.terminal import show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configs", type=Path, default=Path("configs/demo"))
    parser.add_argument("--folder", type=Path, default=Path("runs/demo"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rewards", default="rouge-l,wms,sms,s+wms,twmd")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    options = parser.parse_args()

    console = Console()
    rewards = tuple(options.rewards.split(","))
    settings = demo.DemoSettings(options.configs, options.folder, options.seed, rewards, jobs=options.jobs)
    report = demo.run(settings, lambda line: console.print(line, highlight=False, markup=False, soft_wrap=True))
    show(report_blocks(report), console)
    folder = options.folder / "cross-table"
    write_report(report, folder)
    console.print(f"{folder / 'report.md'}, {folder / 'index.html'}")


if __name__ == "__main__":
    main()
