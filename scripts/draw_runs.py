"""Draw the curves of training runs as PNG: likelihood, validation, rewards.

python scripts/draw_runs.py runs/compare/cnndm/runs/sms-1 runs/compare/cnndm/runs/none-1 --metrics rouge-l --out .
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rlsum.compare.folder import read_metrics
from rlsum.compare.report.training_curves import draw_runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder of a training run")
    parser.add_argument("--metrics", default="rouge-l", help="validation scores to draw, separated by commas")
    parser.add_argument("--start", help="name of the run that the others start from; drawn in separate panels")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder of the pictures")
    parser.add_argument("--prefix", default="", help="prefix of the file names")
    options = parser.parse_args()

    pictures = draw_runs(
        {run.name: [read_metrics(run)] for run in options.runs}, options.metrics.split(","), options.start
    )
    options.out.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        path = options.out / f"{options.prefix}{picture.name}.png"
        path.write_bytes(picture.light)
        print(f"{path}: {picture.title}")


if __name__ == "__main__":
    main()
