"""Reproduce the tables, figures and findings of a paper, with the published numbers where they are available.

    OMP_NUM_THREADS=1 python scripts/reproduce.py twmd all --data ../shared/data/human --out runs/twmd
    python scripts/reproduce.py movers --help

twmd: Chen et al. (2020). movers: Clark et al. (2019). neighbors: Ethayarajh and Sadigh (2020). rescaling: BERTScore's
rescaling, Zhang et al. (2020). `reproduce.py PAPER --help` has the options of a paper.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from rewards.errors import RewardError
from rlsum.errors import RecordError, UserError

PAPERS = {
    "twmd": "reproductions.twmd.command",
    "movers": "reproductions.movers.command",
    "neighbors": "reproductions.neighbors.command",
    "rescaling": "reproductions.rescaling",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("options", nargs=argparse.REMAINDER, help="of the paper")
    parsed = parser.parse_args(arguments)
    try:
        importlib.import_module(PAPERS[parsed.paper]).main(parsed.options)
    except (UserError, RecordError, RewardError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
