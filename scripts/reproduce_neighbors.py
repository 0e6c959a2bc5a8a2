"""BLEU Neighbors (Ethayarajh and Sadigh 2020), every table and figure, measured beside published.

    OMP_NUM_THREADS=1 python scripts/reproduce_neighbors.py --data ../shared/data/human --out runs/neighbors

The folder holds huse/huse_summarization.jsonl, asap_sas/ and asap_aes_set3/ (their public layouts). HUSE's dialogue and
open-ended generation are not public: give them as DATA, in any form that `rlsum judgments` reads, with scores overall
in [0, 1] and one raw score a judge. Kernel values are kept in OUT/kernels, so a second run takes seconds.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from reproductions.neighbors.data import TASKS, Places
from reproductions.neighbors.report import STUDIES, Plan, run
from reproductions.neighbors.studies import Budget

from rewards.errors import RewardError
from rlsum.records import RecordError


def main() -> None:
    options = parser().parse_args()
    vectors = options.vectors or options.data.parent / "vectors" / "cnndm_word2vec_300d_30k.txt.gz"
    wmt = options.data / "wmt_da" / "wmt17_da_seg.tsv.gz"
    plan = Plan(
        places=Places(options.data, options.dialogue, options.open_ended),
        folder=options.out,
        studies=tuple(options.studies),
        tasks=tuple(options.tasks),
        encoder=None if options.encoder == "none" else options.encoder,
        baseline=options.baseline,
        baseline_texts=options.baseline_texts or f"wmt-da:{wmt}",
        vectors=vectors if options.vectors or vectors.is_file() else None,
        budget=Budget(options.pairs, options.resamples, options.seed),
    )
    try:
        run(plan, lambda line: print(line, flush=True))
    except (RecordError, RewardError) as error:
        sys.exit(f"error: {error}")
    print(f"{time.process_time():.0f} CPU seconds")


def parser() -> argparse.ArgumentParser:
    shared = Path(os.environ.get("RLSUM_SHARED", "../shared"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=shared / "data" / "human", help="folder of the public data")
    parser.add_argument("--out", type=Path, default=Path("runs/neighbors"), help="tables (CSV), figures, kernel values")
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=STUDIES)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, help="of all studies but table3")
    parser.add_argument("--dialogue", metavar="DATA", help="judgments of HUSE's dialogue task")
    parser.add_argument("--open-ended", metavar="DATA", help="judgments of HUSE's open-ended generation")
    parser.add_argument("--encoder", default="minilm", help="of the BERTScore kernel; none leaves it out")
    parser.add_argument("--baseline", type=Path, help="what BERTScore is rescaled by; made of random pairs otherwise")
    parser.add_argument("--baseline-texts", metavar="DATA", help="whose references those pairs are of (default: WMT17)")
    parser.add_argument("--vectors", type=Path, help="of the words, for WMS, SMS and S+WMS in Table 3")
    parser.add_argument("--pairs", type=int, default=Budget.pairs, help="texts a kernel compares in Table 1, at most")
    parser.add_argument("--resamples", type=int, default=Budget.resamples, help="of every interval")
    parser.add_argument("--seed", type=int, default=Budget.seed)
    return parser


if __name__ == "__main__":
    main()
