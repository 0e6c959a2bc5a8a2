"""Reproduce the findings of Ethayarajh and Sadigh (2020), BLEU Neighbors, on the public data.

    OMP_NUM_THREADS=1 python scripts/reproduce.py neighbors --data ../shared/data/human --out runs/neighbors

The data folder has huse/huse_summarization.jsonl and asap_sas/ in their public layouts. The dialogue and open-ended
tasks of HUSE are not public. Kernel values are cached in OUT/kernels, so that a second run takes seconds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from reproductions.neighbors import data, findings, results
from reproductions.neighbors.kernels import AS_PRINTED, BLEU, LEXICAL, Kernel, Matrices, bertscore
from reproductions.neighbors.studies import Budget, compare_kernels, cross, sizes, topics
from reproductions.reproduction import Reproduction, run
from rewards import from_spec, load
from rlsum.judgments.registry import load as judgments

STUDIES = ("table1", "table2", "figure4", "table3")
BASELINE_PAIRS = 2_000


def main(arguments: Sequence[str]) -> None:
    options = parser().parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    makers = studies(options)
    for name in options.studies:
        if name in makers:
            run(name, makers[name], options.out)
    print(f"{time.process_time():.0f} CPU seconds")


def studies(options: argparse.Namespace) -> dict[str, Callable[[], Reproduction]]:
    """The tables and figures for which there are data, by name."""
    tasks = data.find_tasks(options.data, say)
    short = [task for task in tasks if task.name != data.ALL_ESSAYS]
    matrices, budget = Matrices(options.out / "kernels", say), Budget(options.resamples, options.seed)

    def table1() -> Reproduction:
        kernels = (*LEXICAL, *bertscore_of(options))
        scored = [compare_kernels(task, kernels, matrices, budget) for task in short]
        claims = findings.coverage_claims(scored) + findings.annotator_claims(scored)
        return results.kernels_table(scored, kernels, claims)

    def table2() -> Reproduction:
        crossings = list(cross(short, BLEU, matrices, budget))
        return results.cross_table(crossings, findings.cross_claims(crossings))

    def figure4() -> Reproduction:
        points = [point for task in tasks for point in sizes(task, BLEU, matrices, budget)]
        return results.sizes_table(points, findings.size_claims(points))

    def table3() -> Reproduction:
        sources = [data.training_essays(options.data, topic) for topic in data.TOPICS]
        tested = [task.tested for task in tasks if task.name != data.SUMMARIES]
        scored = {
            kernel.name: [topics(essays, sources, kernel, matrices, budget) for essays in tested]
            for kernel in (BLEU, AS_PRINTED)
        }
        return results.topics_table(scored, findings.topic_claims(scored[BLEU.name]))

    made = {"table1": table1, "table2": table2, "figure4": figure4} if tasks else {}
    return made | ({"table3": table3} if data.ESSAYS in [task.name for task in tasks] else {})


def bertscore_of(options: argparse.Namespace) -> list[Kernel]:
    """The BERTScore kernel, with a rescaling baseline from random pairs of references; none without an encoder."""
    if options.encoder == "none":
        say("skipped: BERTScore as a kernel: no encoder given")
        return []
    from rewards.embedding.rescaling import add_baseline, measure_baseline

    path = options.out / f"baseline-{Path(options.encoder).name}.json"
    if not path.exists():
        rows = judgments(f"wmt-da:{options.data / 'wmt_da' / 'wmt17_da_seg.tsv.gz'}").rows
        texts = [text for text in dict.fromkeys(text for row in rows for text in row.references) if text.strip()]
        add_baseline(path, measure_baseline(load("bertscore", encoder=options.encoder), texts, BASELINE_PAIRS))
    kernel = bertscore(options.encoder, path)
    say(f"BERTScore on {options.encoder}: {from_spec(kernel.spec).signature}")
    return [kernel]


def say(line: str) -> None:
    print(line, flush=True)


def parser() -> argparse.ArgumentParser:
    shared = Path(os.environ.get("RLSUM_SHARED", "../shared"))
    parser = argparse.ArgumentParser(
        "reproduce.py neighbors", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=shared / "data" / "human", help="folder of the public data")
    parser.add_argument("--out", type=Path, default=Path("runs/neighbors"), help="tables, figure, kernel values")
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=STUDIES)
    parser.add_argument("--encoder", default="minilm", help="encoder of the BERTScore kernel, or none")
    parser.add_argument("--resamples", type=int, default=Budget.resamples, help="resamples per interval")
    parser.add_argument("--seed", type=int, default=Budget.seed)
    return parser
