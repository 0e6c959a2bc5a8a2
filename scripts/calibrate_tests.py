"""Calibrate the tests between two metrics: false alarms and power on simulated data.

    OMP_NUM_THREADS=1 python scripts/calibrate_tests.py --picture docs/pictures/power.png

Prints two Markdown tables: how often each test rejects for two equally good metrics at the 5% level, and how often it
detects a real difference, which is also drawn.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from simulated_metrics import DRAWS, GAINS, NULLS, POWERS, RejectionRates, power, rejections

from rlsum.pages.curves import Curve, Panel, picture
from rlsum.pages.pictures import COLOURS

TESTS = {"Williams": "williams", "permutation of rows": "permutation", "permutation of inputs": "clustered"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=DRAWS, help="simulated data sets for each false alarm rate")
    parser.add_argument("--power-draws", type=int, default=2_000, help="and for each point of a power curve")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path, help="where to write the power curves (.png)")
    options = parser.parse_args()
    print(f"False alarms at 5%, two-tailed, {options.draws:,} draws\n")
    print_table(
        ["world", *TESTS],
        ([world.name, *shares(rejections(world, options.draws, seed=options.seed))] for world in NULLS),
    )
    curves = {world.name: power(world, GAINS, options.power_draws, seed=options.seed) for world in POWERS}
    print(f"\nPower at 5%, two-tailed, {options.power_draws:,} draws; r = .5 + gain against .5\n")
    points = ([f"{name}; gain {each.world.gain}", *shares(each)] for name, found in curves.items() for each in found)
    print_table(["world", *TESTS], points)
    if options.picture:
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        options.picture.write_bytes(picture("power", "Power", "", [panel(*curve) for curve in curves.items()]).light)


def shares(found: RejectionRates) -> list[str]:
    return [f"{100 * getattr(found, key):.1f}%" for key in TESTS.values()]


def print_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


def panel(name: str, found: Sequence[RejectionRates]) -> Panel:
    gains = np.array([each.world.gain for each in found])
    kept = {test: key for test, key in TESTS.items() if found[0].world.rows > 1 or key != "clustered"}
    lines = (
        Curve(test, colour, gains, np.array([getattr(each, key) for each in found]))
        for (test, key), colour in zip(kept.items(), COLOURS, strict=False)
    )
    nominal = Curve("5%", COLOURS[-1], gains, np.full(len(gains), 0.05), dashed=True)
    return Panel(name, (*lines, nominal), across="gain in r")


if __name__ == "__main__":
    main()
