"""Graded answers: false alarms of these judges' test, and the power of the test of judges like these.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.graded

Prints Markdown tables. False alarms of the sign-flip test of items in % at a nominal 5%, for two equal systems. Power
where 60% of those who see a difference prefer the second system. `levels` has the false alarms of the other test.
"""

from __future__ import annotations

import argparse
from itertools import product

from calibration.preference import print_table
from human_eval.planning.graded import points_of, rejections_graded
from human_eval.planning.simulation import Assumptions, dealt

KINDS = (("pair", 2), ("strength", 2), ("likert-5", 2), ("likert-7", 4), ("ranking", 4), ("best-worst", 4))
DESIGNS = ((30, 3, 6), (60, 1, 10), (100, 3, 15), (100, 5, 5))  # items, judges of each, people
Design = tuple[int, int, int]
SPREADS, CORRELATIONS = (0.0, 0.1, 0.2), (0.0, 0.3)
TIES = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4_000, help="simulated studies for each rate")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cases = list(product(CORRELATIONS, SPREADS))
    print(f"False alarms, these judges, {options.draws:,} studies; columns: correlation, sd of judges\n")
    head = ["answers, systems at once", "items x judges of each, people", *(f"{rho:g}, {sd:g}" for rho, sd in cases)]
    print_table(head, (rates(*kind, design, options) for kind in KINDS for design in DESIGNS))
    print("\nPower of judges like these, correlation .3, sd .1; ties 20% where answers have them\n")
    heads = [f"{items} x {judges}, {people}" for items, judges, people in DESIGNS[2:]]
    print_table(["answers, systems at once", *heads, "points"], (power(*kind, options) for kind in KINDS))


def rates(answers: str, texts: int, design: Design, options: argparse.Namespace) -> list[str]:
    items, judges, people = design
    found = []
    for rho, sd in product(CORRELATIONS, SPREADS):
        assumed, assigned = Assumptions(0.5, TIES, rho, sd), dealt(items, judges, people // judges)
        rate = rejections_graded(assumed, answers, texts, assigned, alike=False, draws=options.draws, seed=options.seed)
        found.append(rate)
    return [f"{answers}, {texts}", f"{items} x {judges}, {people}", *(f"{100 * rate:.1f}" for rate in found)]


def power(answers: str, texts: int, options: argparse.Namespace) -> list[str]:
    assumed, cells = Assumptions(0.6, TIES, 0.3, 0.1), []
    for items, judges, people in DESIGNS[2:]:
        assigned = dealt(items, judges, people // judges)
        found = rejections_graded(assumed, answers, texts, assigned, alike=True, draws=options.draws, seed=options.seed)
        cells.append(f"{100 * found:.0f}%")
    points = points_of(assumed, answers, texts, seed=options.seed)
    return [f"{answers}, {texts}", *cells, f"{points:.2f}" if points else ""]


if __name__ == "__main__":
    main()
