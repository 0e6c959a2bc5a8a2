"""How often the test of judges like these rejects for two equal systems, in every simulated design of a study.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.levels

Prints a Markdown table of rejections in % at a nominal 5%, for votes and graded answers, 20% ties. A row is a design:
items x judges of each, people. A column is a standard deviation of the judges' own shares. A cell has a rate for each
correlation within items. Then the rates outside 4 to 6%, without those of designs for which an analysis gives no p.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np

from calibration.preference import print_table
from human_eval.planning.graded import draw_graded
from human_eval.planning.simulation import Assumptions, blocks, dealt, draw_judged, layout_of
from human_eval.votes.votes import Floats
from rlsum.evaluation.rows import Ints

CORRELATIONS, SPREADS, TIES = (0.0, 0.3, 0.5), (0.0, 0.05, 0.1, 0.2), 0.2
# Items, judges of each, people; a multiple of the judges of an item.
EVEN = (
    (30, 3, 3), (100, 3, 3), (10, 5, 5), (10, 10, 10), (20, 5, 5), (20, 10, 10), (20, 2, 10), (30, 5, 5), (100, 5, 5),
    (60, 1, 5), (60, 1, 10), (60, 2, 10), (60, 3, 6), (100, 3, 9), (30, 10, 10), (100, 3, 15), (200, 2, 30),
    (200, 3, 30),
)  # fmt: skip
UNEVEN = ((60, 3, 10), (100, 2, 8), (60, 1, 10), (100, 3, 20))  # judge k of n has a share proportional to k
KINDS = (("pair", 2), ("strength", 2), ("likert-5", 2), ("likert-7", 4), ("ranking", 4), ("best-worst", 4))
DESIGNS = ((30, 3, 6), (60, 1, 10), (100, 3, 15), (100, 5, 5))  # of graded answers
LOWEST, HIGHEST = 4.0, 6.0
NO_P = " (no p)"

Draw = Callable[..., Floats]  # votes (draws, items, judges of each), as `draw_judged` draws them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000, help="simulated studies for each rate")
    parser.add_argument("--design", default="", metavar="TEXT", help="only designs so named: votes, uneven, ranking")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    error = 100 * np.sqrt(0.05 * 0.95 / options.draws)
    print(f"Rejections in %, {options.draws:,} studies a rate, standard error {error:.2f}\n")
    measured: list[tuple[str, float, float, float]] = []  # design, spread, correlation, rate

    def row(name: str, assigned: Ints, draw: Draw) -> list[str]:
        cells = []
        for spread in SPREADS:
            rates = []
            for rho in CORRELATIONS:
                assumed = Assumptions(0.5, TIES, rho, spread)
                rates.append(100 * rejections(assumed, assigned, draw, draws=options.draws, seed=options.seed))
                if NO_P not in name:
                    measured.append((name, spread, rho, rates[-1]))
            cells.append(", ".join(f"{rate:.2f}" for rate in rates))
        return [name, *cells]

    rows = (row(*design) for design in designs(options.seed) if options.design in design[0])
    print_table(["design", *(f"sd {spread:g}" for spread in SPREADS)], rows)
    outside = [entry for entry in measured if not LOWEST <= entry[-1] <= HIGHEST]
    print(f"\n{len(outside)} of {len(measured)} rates are outside {LOWEST:g} to {HIGHEST:g}%\n")
    print_table(["design", "sd", "correlation", "%"], ([name, *(f"{n:g}" for n in rest)] for name, *rest in outside))


def rejections(
    assumptions: Assumptions, assigned: Ints, draw: Draw = draw_judged, *, draws: int = 2_000, seed: int = 0
) -> float:
    """The share of simulated studies in which the test of judges like these (see `RandomJudges`) rejects equality.

    ``assigned`` as in `draw_judged`; also of so few judges or items that an analysis refuses the test.
    """
    layout, generator, rejected = layout_of(assigned), np.random.default_rng(seed), 0
    for studies in blocks(draws, assigned.size):
        votes = draw(assumptions, assigned=assigned, draws=studies, generator=generator)
        rejected += int((layout.p_values(votes.reshape(len(votes), -1)) <= 0.05 + 1e-12).sum())
    return rejected / draws


def designs(seed: int) -> Iterator[tuple[str, Ints, Draw]]:
    """Name, assignment (items, judges of each) and votes of each design."""
    for name, assigned in vote_designs(seed):
        yield f"votes, {name}{NO_P if layout_of(assigned).refused else ''}", assigned, draw_judged
    for (answers, texts), design in product(KINDS, DESIGNS):
        draw = partial(draw_graded, answers=answers, texts=texts)
        yield f"{answers}, {texts}, {named(*design)}", of_even(*design), draw


def vote_designs(seed: int) -> list[tuple[str, Ints]]:
    """Name and assignment (items, judges of each) of the even designs and of the uneven ones."""
    rows = [(named(*design), of_even(*design)) for design in EVEN]
    generator = np.random.default_rng(seed)
    for items, judges, people in UNEVEN:
        loads = np.arange(1, people + 1) / sum(range(people + 1))
        assigned = [generator.choice(people, judges, replace=False, p=loads) for _ in range(items)]
        rows.append((f"{named(items, judges, people)} uneven", np.array(assigned)))
    return rows


def named(items: int, judges: int, people: int) -> str:
    return f"{items} x {judges}, {people}"


def of_even(items: int, judges: int, people: int) -> Ints:
    return dealt(items, judges, people // judges)


if __name__ == "__main__":
    main()
