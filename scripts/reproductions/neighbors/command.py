"""Reproduce every table and figure of Ethayarajh and Sadigh (2020), BLEU Neighbors, with the published numbers.

    OMP_NUM_THREADS=1 python scripts/reproduce.py neighbors --data ../shared/data/human --out runs/neighbors

The data folder has huse/huse_summarization.jsonl, asap_sas/ and asap_aes_set3/ in their public layouts. The dialogue
and open-ended tasks of HUSE are not public: give them as DATA in any form that `rlsum data judgments` reads, with
scores overall in [0, 1] and one raw score per judge. Kernel values are cached in OUT/kernels, so that a second run
takes seconds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from reproductions.neighbors.data import TASKS, DataPaths
from reproductions.neighbors.report import STUDIES, ReproductionPlan, run_all
from reproductions.neighbors.studies import Budget


def main(arguments: Sequence[str]) -> None:
    options = parser().parse_args(arguments)
    vectors = options.vectors or options.data.parent / "vectors" / "cnndm_word2vec_300d_30k.txt.gz"
    wmt = options.data / "wmt_da" / "wmt17_da_seg.tsv.gz"
    plan = ReproductionPlan(
        paths=DataPaths(options.data, options.dialogue, options.open_ended),
        folder=options.out,
        studies=tuple(options.studies),
        tasks=tuple(options.tasks),
        encoder=None if options.encoder == "none" else options.encoder,
        baseline=options.baseline,
        baseline_texts=options.baseline_texts or f"wmt-da:{wmt}",
        vectors=vectors if options.vectors or vectors.is_file() else None,
        budget=Budget(options.pairs, options.resamples, options.seed),
    )
    run_all(plan, lambda line: print(line, flush=True))
    print(f"{time.process_time():.0f} CPU seconds")


def parser() -> argparse.ArgumentParser:
    shared = Path(os.environ.get("RLSUM_SHARED", "../shared"))
    parser = argparse.ArgumentParser(
        "reproduce.py neighbors", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=shared / "data" / "human", help="folder of the public data")
    parser.add_argument("--out", type=Path, default=Path("runs/neighbors"), help="tables (CSV), figures, kernel values")
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=STUDIES)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, help="tasks of all studies except table3")
    parser.add_argument("--dialogue", metavar="DATA", help="judgments of HUSE's dialogue task")
    parser.add_argument("--open-ended", metavar="DATA", help="judgments of HUSE's open-ended generation")
    parser.add_argument("--encoder", default="minilm", help="encoder of the BERTScore kernel, or none")
    parser.add_argument("--baseline", type=Path, help="rescaling baseline of BERTScore (default: from random pairs)")
    parser.add_argument("--baseline-texts", metavar="DATA", help="judgments with references for it (default: WMT17)")
    parser.add_argument("--vectors", type=Path, help="word vectors for WMS, SMS and S+WMS in table3")
    parser.add_argument("--pairs", type=int, default=Budget.pairs, help="maximum pairs of texts per kernel in table1")
    parser.add_argument("--resamples", type=int, default=Budget.resamples, help="resamples per interval")
    parser.add_argument("--seed", type=int, default=Budget.seed)
    return parser
