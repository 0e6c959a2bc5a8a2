"""Estimators at equal compute: self-critical, RLOO, GRPO, Dr. GRPO and contrastive ranking, from the same starts.

    python scripts/compare_estimators.py runs/demo runs/demo-2 runs/demo-3 -o runs/estimators

The folders are those of `rlsum demo`, one a seed: their likelihood models (mle) are the starts. Prints the gains over
the start and over the same start trained on by likelihood, with intervals and p-values, all seeds together and each by
itself. An estimator may have settings of its own: `--estimators grpo,ranking,ranking:objective.gamma=0.5`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from rlsum.compare import estimators
from rlsum.compare.report import report_blocks, write_report
from rlsum.errors import UserError
from rlsum.pages.terminal import show


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of `rlsum demo`, one a seed")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder of the report")
    parser.add_argument("--configs", type=Path, default=Path("configs/demo"))
    parser.add_argument("--estimators", default=",".join(estimators.ESTIMATORS))
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    options = parser.parse_args()
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


if __name__ == "__main__":
    sys.exit(main())
