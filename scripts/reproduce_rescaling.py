"""Reproduce BERTScore rescaling: random and judged pairs, and the cosines of two sentences, before and after.

    OMP_NUM_THREADS=1 python scripts/reproduce_rescaling.py --wmt17 ../shared/data/human/wmt_da/wmt17_da_seg.tsv.gz

Prints the baseline, with the published one if there is one; writes CSV, Markdown and PNG.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reproductions.reproduction import print_reproduction, write
from reproductions.rescaling import rescaling
from reproductions.twmd.pairs import pairs_of

from rewards.errors import RewardError
from rlsum.errors import UserError
from rlsum.judgments.registry import load
from rlsum.records import RecordError

HUMAN = Path("../shared/data/human")
EXAMPLE = ("the mayor opened the new bridge on monday .", "a bridge was opened by the city's mayor yesterday .")


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    try:
        pairs = pairs_of(load(f"wmt-da:{options.wmt17}"), "WMT17", options.limit)
        reproduction = rescaling(
            pairs,
            options.pairs,
            tuple(options.example),
            options.encoder,
            options.layer,
            options.baselines,
            options.seed,
        )
        print_reproduction(reproduction)
        print(", ".join(str(path) for path in write(reproduction, options.out)))
    except (UserError, RecordError, RewardError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wmt17", type=Path, default=HUMAN / "wmt_da/wmt17_da_seg.tsv.gz", metavar="PATH")
    parser.add_argument(
        "--baselines",
        type=Path,
        default=HUMAN / "bertscore_rescale_baseline/bert_score/rescale_baseline/en",
        metavar="FOLDER",
        help="bert-score's published baselines for English",
    )
    parser.add_argument("--out", type=Path, default=Path("runs/rescaling"), help="folder for CSV, Markdown and PNG")
    parser.add_argument("--encoder", default="minilm", help="minilm, a directory, or a hub name")
    parser.add_argument("--layer", help="default: 10 of 12, 19 of 24, otherwise at 5/6 of the depth")
    parser.add_argument("--pairs", type=int, default=10_000, help="random pairs of references for the baseline")
    parser.add_argument("--example", nargs=2, default=EXAMPLE, metavar=("CANDIDATE", "REFERENCE"))
    parser.add_argument("--limit", type=int, metavar="N", help="use only the first N pairs of each group, for a trial")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
