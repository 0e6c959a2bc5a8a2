"""Seconds and memory of the starts of a training on a synthetic corpus: first, a new run, a resume.

    python scripts/speed/measure_starts.py FOLDER --rows 300000 --processes 1 --num-proc 2

Words are drawn by Zipf's law; articles have ``--words`` of them on average, summaries a ninth. FOLDER gets the
corpus, the cache of `datasets` and the runs of a tiny model, which end after an update. Memory is the largest of one
process that is no file (RssAnon): pages of the cached corpus are the disk's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

KNOWN = 80_000
SECTIONS = {
    "model": {"hidden": 16, "embedding": 16},
    "vocabulary": {"size": 10_000},
    "decoding": {"max_length": 5},
    "training": {"steps": 1, "batch_size": 8, "validate_decoded": 1, "validate_every": 1, "log_every": 1},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--words", type=int, default=400)
    parser.add_argument("--processes", type=int, default=1, help="of the training")
    parser.add_argument("--num-proc", type=int, default=1, help="that read and tokenise")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder, names = options.folder, (f"{options.rows}x{options.words}-train.jsonl", "valid.jsonl")
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in zip(names, (options.rows, 100), strict=True):
        if not (folder / name).is_file():
            write(folder / name, rows, options.words, options.seed)
    train, valid = (str(folder.resolve() / name) for name in names)
    data = {"train": train, "valid": valid, "num_proc": options.num_proc}
    (folder / "starts.yaml").write_text(json.dumps({"data": data, **SECTIONS, "run": "unnamed"}))
    print(f"{options.rows:,} rows, {options.processes} processes, num_proc={options.num_proc}")
    run = folder / f"run-{time.time_ns()}"
    starts = {
        "first": [str(folder / "starts.yaml"), f"run={run}-first"],
        "new": [str(folder / "starts.yaml"), f"run={run}"],
        "resume": ["--resume", str(run), "training.steps=2"],
    }
    for name, arguments in starts.items():
        seconds, cpu, memory = measured(arguments, options.processes, folder / "cache")
        print(f"{name:7} {seconds:7.1f} s, {cpu:7.1f} CPU s, {memory:6.0f} MiB a process", flush=True)


def write(path: Path, rows: int, words: int, seed: int) -> None:
    """A corpus of rows with id, article and highlights."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 10, KNOWN)
    known = np.array(["".join(map(chr, rng.integers(97, 123, size))) for size in sizes])
    chances = np.cumsum(1 / np.arange(1, KNOWN + 1))
    with path.open("w") as file:
        for row in range(rows):
            article, summary = rng.integers(words // 2, words * 3 // 2), rng.integers(words // 16, words // 6)
            places = np.searchsorted(chances, rng.random(article + summary) * chances[-1])
            drawn = known[places.clip(max=KNOWN - 1)].tolist()
            sentences = (" ".join(drawn[start : min(start + 25, article)]) for start in range(0, article, 25))
            fields = {"article": "\n".join(sentences), "highlights": " ".join(drawn[article:])}
            file.write(json.dumps({"id": f"row-{row}", **fields}) + "\n")


def measured(arguments: list[str], processes: int, cache: Path) -> tuple[float, float, float]:
    """Seconds, CPU seconds, and the most memory (MiB) of one process, of a training."""
    launch = [
        "accelerate.commands.launch",
        "--multi_gpu",
        "--num_processes",
        str(processes),
        "--main_process_port",
        "0",
    ]
    before = [*launch, "-m"] if processes > 1 else []
    environment = {**os.environ, "HF_DATASETS_CACHE": str(cache), "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    begun, cpu = time.perf_counter(), os.times()
    command = [sys.executable, "-m", *before, "rlsum", "train", *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as child:
        most = 0.0
        while child.poll() is None:
            most = max(most, *(anonymous(pid) for pid in family(child.pid)), 0.0)
            time.sleep(0.05)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    spent = os.times()
    used = spent.children_user + spent.children_system - cpu.children_user - cpu.children_system
    return time.perf_counter() - begun, used, most


def family(root: int) -> list[int]:
    """A process and all that it has started."""
    parents = {int(entry.name): parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    members = [root]
    for member in members:
        members += [pid for pid, above in parents.items() if above == member]
    return members


def parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def anonymous(pid: int) -> float:
    """MiB of a process that are no file's pages; 0 for one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


if __name__ == "__main__":
    main()
