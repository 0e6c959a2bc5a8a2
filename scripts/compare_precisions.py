"""Compare half precision with float32: tokens per second, memory, hours and loss of one training.

    python scripts/compare_precisions.py configs/cnndm/mle.yaml -o runs/precisions --updates 500
    python scripts/compare_precisions.py configs/demo/mle.yaml -o runs/precisions --updates 200

Trains the configuration for some updates in each precision, with the same seed and articles, and prints a table in
Markdown. fp16 needs a GPU and is otherwise marked as missing. A folder with runs is refused.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from rlsum import config as configs
from rlsum.errors import UserError

PRECISIONS = {"no": "float32", "bf16": "bf16", "fp16": "fp16"}
LAST = 5  # lines of the log that the last training loss is a mean of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path, help="of `rlsum train`")
    parser.add_argument("overrides", nargs="*", help="key=value, as for `rlsum train`")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--init", type=Path, help="as for `rlsum train`")
    options = parser.parse_args()
    try:
        planned = configs.load(options.config, [*options.overrides, f"run={options.out}"]).training.steps
    except UserError as error:
        parser.error(str(error))
    runs = {name: options.out / name for name in PRECISIONS if name != "fp16" or torch.cuda.is_available()}
    for run in runs.values():
        if run.exists():
            parser.error(f"--out {options.out}: has a run {run.name} already; choose another folder")
    for name, run in runs.items():
        train(options, name, run)
    rows = {name: summary(run, planned) for name, run in runs.items()}
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU, {torch.get_num_threads()} threads"
    print(f"\n{options.config}, {options.updates} updates, {device}\n")
    print(f"| precision | tokens/s | memory, GiB | hours for {planned:,} updates | training nll | validation nll |")
    print("| :-- | --: | --: | --: | --: | --: |")
    for name, label in PRECISIONS.items():
        print(f"| {label} | {rows.get(name, 'needs a GPU | | | |')} |")


def train(options: argparse.Namespace, precision: str, run: Path) -> None:
    """One training in a process of its own, so that its memory is its own."""
    start = ["--init", str(options.init)] if options.init is not None else []
    changes = [f"run={run}", f"training.mixed_precision='{precision}'", f"training.steps={options.updates}"]
    changes += [f"training.validate_every={options.updates}", "training.log_every=10"]
    command = [sys.executable, "-m", "rlsum", "train", str(options.config), *options.overrides, *changes, *start]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit(f"stopped: {' '.join(command)}")


def summary(run: Path, planned: int) -> str:
    """A run's cells. The first line of the log holds what is only done once, and is left out of the speed."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    logged: list[dict[str, Any]] = [row for row in rows if row["kind"] == "train"]
    speed, pace = (
        statistics.median(row[name] for row in logged[1:] or logged)
        for name in ("tokens_per_second", "updates_per_second")
    )
    loss = statistics.mean(row["nll"] for row in logged[-LAST:])
    valid = next(row["nll"] for row in reversed(rows) if row["kind"] == "valid")
    return f"{speed:,.0f} | {logged[-1]['memory_gib']:.2f} | {planned / pace / 3600:.2f} | {loss:.4f} | {valid:.4f}"


if __name__ == "__main__":
    main()
