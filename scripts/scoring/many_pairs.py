"""Measure `rlsum score` on many pairs with kills: time, memory, and whether every row is there once and correct.

    OMP_NUM_THREADS=1 python scripts/scoring/many_pairs.py articles.jsonl --vectors vectors.txt.gz

Every sentence of an article (``article`` and ``highlights``, as written by scripts/prepare_cnndm.py) is a candidate,
with one highlight after another as reference, until there are enough pairs. The command is started, killed with SIGKILL
at the numbers of rows in ``--kills``, and started again until it ends. A finished OUT is only verified. Memory and time
are those of the process and its workers.
Needs psutil (``pip install 'rlsum[bench]'``).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil

import rewards

SENTENCE_END = re.compile(r"\n|(?<= [.!?]) ")
CHECKED = 2000  # rows whose scores are compared with direct calls of the rewards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", type=Path, help="JSONL with article and highlights")
    parser.add_argument("--vectors", required=True, help="word2vec text file for WMS")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, nargs="*", default=[300_000, 700_000], help="rows written at each kill")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/scoring"), help="folder for pairs and scores")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    pairs, scored = options.out / "pairs.jsonl", options.out / "scored.jsonl"
    write_pairs(options.articles, pairs, options.pairs, options.seed)
    metrics = {"rouge-l": "rouge-l", "wms": f"wms(vectors={options.vectors}, normalize=unit)"}
    command = ["score", "--input", str(pairs), "-o", str(scored), "--metrics", ", ".join(metrics.values())]
    if not scored.exists():
        for kill in (*options.kills, None):
            run([*command, "--workers", str(options.workers)], Path(f"{scored}.scoring"), kill)
    verify(pairs, scored, {name: rewards.from_spec(spec) for name, spec in metrics.items()}, options.seed)


def write_pairs(articles: Path, out: Path, count: int, seed: int) -> None:
    """``count`` records of candidate and reference, in an order drawn from the seed."""
    rows = list(candidates(articles, count))
    if len(rows) < count:
        sys.exit(f"error: {articles} gives {len(rows):,} pairs, not {count:,}; give more articles or a lower --pairs")
    random.Random(seed).shuffle(rows)
    with out.open("w", encoding="utf-8") as file:
        for number, (candidate, reference) in enumerate(rows):
            record = {"id": f"p{number}", "candidate": candidate, "reference": reference}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def candidates(articles: Path, count: int) -> Iterator[tuple[str, str]]:
    """Pairs, no two the same: first every sentence with one highlight, then every sentence with another."""
    with articles.open(encoding="utf-8") as file:
        stories = [json.loads(line) for line in file]
    written = 0
    for turn in range(100):
        for story in stories:
            highlights = [line for line in story["highlights"].split("\n") if line.strip()]
            sentences = [text.strip() for text in SENTENCE_END.split(story["article"]) if len(text.split()) > 2]
            for place, sentence in enumerate(dict.fromkeys(sentences)):
                if written == count:
                    return
                if turn < len(highlights):
                    yield sentence, highlights[(place + turn) % len(highlights)]
                    written += 1


def run(command: list[str], journal: Path, kill: int | None) -> None:
    """One start of the command, until it ends or ``kill`` rows are in the journal; prints what it took."""
    started, peak, cpu = time.perf_counter(), 0, 0.0
    with subprocess.Popen([sys.executable, "-m", "rlsum", *command], start_new_session=True) as process:
        while process.poll() is None:
            family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            memory, times = zip(*(used(member) for member in family), strict=True)
            peak, cpu = max(peak, sum(memory)), max(cpu, sum(times))
            if kill is not None and rows_in(journal) >= kill:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.5)
    how = "killed" if process.returncode == -signal.SIGKILL else f"ended with status {process.returncode}"
    wall = time.perf_counter() - started
    print(f"{how}: {wall:.0f} seconds, {cpu:.0f} of processors, {peak / 2**20:,.0f} MiB at most", flush=True)
    if process.returncode not in (0, -signal.SIGKILL):
        sys.exit(1)


def used(process: psutil.Process) -> tuple[int, float]:
    """Memory in bytes and processor seconds, 0 of a process that has ended meanwhile."""
    try:
        times = process.cpu_times()
        return process.memory_info().rss, times.user + times.system
    except psutil.NoSuchProcess:
        return 0, 0.0


def rows_in(journal: Path) -> int:
    """About how many rows are in the journal: by its size, since it may be large, and of rows about as long."""
    if not journal.exists() or journal.stat().st_size < 10_000:
        return 0
    with journal.open("rb") as file:
        head = file.read(10_000)
    return int(journal.stat().st_size * head.count(b"\n") / len(head))


def verify(pairs: Path, scored: Path, metrics: dict[str, rewards.Reward], seed: int) -> None:
    """Every row once and in order, and a sample of the scores equal to direct calls; exits with an error if not."""
    sample, rng, count = [], random.Random(seed), 0
    total = sum(1 for _ in pairs.open("rb"))
    with pairs.open(encoding="utf-8") as asked, scored.open(encoding="utf-8") as written:
        for pair, scored_row in zip(asked, written, strict=True):
            row = json.loads(scored_row)
            if {key: row[key] for key in ("id", "candidate", "reference")} != json.loads(pair):
                sys.exit(f"error: row {count} of {scored} is not that of {pairs}")
            if rng.random() < CHECKED / total:
                sample.append(row)
            count += 1
    for name, metric in metrics.items():
        direct = metric([row["candidate"] for row in sample], [[row["reference"]] for row in sample])
        np.testing.assert_array_equal(direct, np.array([row["scores"][name] for row in sample], dtype=np.float64))
    print(f"{count:,} rows, each once and in order; {len(sample):,} of them as the rewards score them")


if __name__ == "__main__":
    main()
