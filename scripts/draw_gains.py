"""Draw what some rewards of a finished comparison gained over the start, a panel a reward.

python scripts/draw_gains.py compare/samsum --rewards rouge-l,sms --metrics rouge-l,rouge-1,rouge-2,sms --out gains.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rlsum.compare.cells import cells_of
from rlsum.compare.config import load
from rlsum.compare.folder import Folder
from rlsum.compare.report.gains import gains_beside
from rlsum.compare.results import gather


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparison", type=Path, help="its configuration")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="as `rlsum compare` takes them")
    parser.add_argument("--rewards", required=True, help="rewards of the comparison, separated by commas")
    parser.add_argument("--metrics", required=True, help="metrics, separated by commas")
    parser.add_argument("--out", type=Path, required=True, help="PNG file")
    options = parser.parse_args()

    comparison = load(options.comparison, options.overrides)
    results = gather(Folder(comparison), cells_of(comparison), next(iter(comparison.decoding)))
    picture = gains_beside(results, options.rewards.split(","), options.metrics.split(","))
    options.out.write_bytes(picture.light)


if __name__ == "__main__":
    main()
