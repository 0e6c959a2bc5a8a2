"""CPU seconds and memory of one update: likelihood, self-critical, mixed; ours beside other implementations.

    OMP_NUM_THREADS=1 python scripts/speed/benchmark_step.py
    OMP_NUM_THREADS=1 python scripts/speed/benchmark_step.py --against OLDER --peer atulkum=CLONE

Eight articles of 400 source and 100 target tokens, vocabulary 50,000, hidden 256, embedding 128; "small" is 150/60
tokens, 10,000 words, hidden 128, coverage and four samples an article. Nothing stops early. ``OLDER`` is another
checkout of this repository, ``CLONE`` one of rohithreddy024/Text-Summarizer-Pytorch or atulkum/pointer_summarizer. Each
implementation has a process of its own for every case (timed_updates.py). They take turns, one update each, so
that what else the machine does disturbs all of them alike. Printed are medians over the rounds, and in brackets the
median over the rounds of the ratio to ours.

The reward of the updates is ROUGE-L.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from timed_updates import CASES, PEERS

OURS = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="rounds")
    parser.add_argument("--cases", default=";".join(CASES), help="names of cases, separated by semicolons")
    parser.add_argument("--against", type=Path, action="append", default=[], help="another checkout of this repository")
    parser.add_argument("--peer", action="append", default=[], help="NAME=FOLDER, a clone of a peer's repository")
    options = parser.parse_args()
    cases = options.cases.split(";")
    if unknown := [name for name in cases if name not in CASES]:
        parser.error(f"--cases={';'.join(unknown)}: no such case; choose from {'; '.join(CASES)}")
    peers = [peer.partition("=") for peer in options.peer]
    if unknown := [name for name, _, folder in peers if name not in PEERS or not Path(folder, "data_util").is_dir()]:
        parser.error(f"--peer={unknown[0]}: NAME=FOLDER is needed, with one of {', '.join(PEERS)} and its clone")
    processes = {"ours": Process("rlsum", OURS)}
    processes |= {folder.name: Process("rlsum", folder.resolve()) for folder in options.against}
    processes |= {name: Process(name, Path(folder).resolve()) for name, _, folder in peers}
    seconds = rounds(processes, cases, options.repeats)
    print_table(processes, cases, seconds)


class Process:
    """An implementation, in a process of its own, which ``restart`` begins."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.process: subprocess.Popen[str] | None = None
        self.peak = 0.0  # GiB, in any case

    def restart(self) -> None:
        """End the process, if any, and begin another."""
        if self.process:
            self.process.communicate()
        kind, folder = self.kind, self.folder
        path = os.pathsep.join([str(folder)] * (kind == "rlsum") + [os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, str(Path(__file__).with_name("timed_updates.py")), kind, str(folder)]
        pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)

    def seconds(self, case: str) -> float | None:
        """CPU seconds of an update; None for a case that the implementation does not have."""
        assert self.process
        assert self.process.stdin
        assert self.process.stdout
        print(case, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{' '.join(map(str, self.process.args))}: ended with {self.process.wait()}")  # type: ignore
        self.peak = max(self.peak, json.loads(answer)["peak"])
        return json.loads(answer)["seconds"]


def rounds(processes: dict[str, Process], cases: list[str], repeats: int) -> dict[tuple[str, str], list[float]]:
    """Seconds of each implementation and case, a number a round. Cases that it does not have are missing."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for case in cases:
        for process in processes.values():
            process.restart()
        for _ in range(repeats):
            for name, process in processes.items():
                if (value := process.seconds(case)) is not None:
                    seconds.setdefault((name, case), []).append(value)
    return seconds


def print_table(processes: dict[str, Process], cases: list[str], seconds: dict[tuple[str, str], list[float]]) -> None:
    print("| CPU seconds an update |" + "".join(f" {name} |" for name in processes))
    print("| :-- |" + " --: |" * len(processes))
    for case in cases:
        cells, ours = [], seconds["ours", case]
        for name in processes:
            values = seconds.get((name, case))
            ratio = statistics.median(value / our_value for value, our_value in zip(values or ours, ours, strict=True))
            cell = f"{statistics.median(values):.2f}" if values else ""
            cells.append(f"{cell} ({ratio:.2f})" if values and name != "ours" else cell)
        print(f"| {case} | {' | '.join(cells)} |")
    print(f"| peak memory, GiB | {' | '.join(f'{process.peak:.2f}' for process in processes.values())} |")


if __name__ == "__main__":
    main()
