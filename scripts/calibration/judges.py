"""Calibrate verdicts with judges as random.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.judges

Prints a Markdown table: false alarms at a nominal 5%, for two equal systems and judges with preferences of their own,
of five tests: the sign-flip test of items, Student's t of the judges' means, a bootstrap that resamples items and
judges (the pigeonhole bootstrap of Owen 2007), that of reader studies with Hillis' (2007) degrees of freedom, and the
test of `human_eval.statistics.random_judges`, whose levels in more designs `levels` has.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import t

from calibration.levels import SPREADS, TIES, vote_designs
from calibration.preference import print_table
from human_eval.planning.simulation import Assumptions, draw_judged, layout_of, sign_flip_p

COMPARED = ("100 x 3, 3", "100 x 5, 5", "100 x 3, 15", "200 x 3, 30")  # items x judges of each, people
CORRELATION = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4_000, help="simulated studies for each false alarm rate")
    parser.add_argument("--resampled", type=int, default=500, help="of which so many are resampled")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"False alarms in %, 20% ties, correlation {CORRELATION:g}, {options.draws:,} studies\n")
    head = [
        "items x judges of each, people",
        *(f"sd {spread:g}: items, judges, both resampled, Hillis, ours" for spread in SPREADS),
    ]
    rows = [row for row in vote_designs(options.seed) if row[0] in COMPARED]
    print_table(head, (false_alarms(*row, options) for row in rows))


def false_alarms(name: str, assigned: np.ndarray, options: argparse.Namespace) -> list[str]:
    layout, cells = layout_of(assigned), []
    for spread in SPREADS:
        generator = np.random.default_rng(options.seed)
        p: list[list[np.ndarray]] = [[], [], [], [], []]
        for start in range(0, options.draws, 500):
            votes = draw_judged(Assumptions(0.5, TIES, CORRELATION, spread), assigned, 500, generator)
            p[0].append(sign_flip_p(votes.mean(2), 999, generator))
            p[1].append(judges_t(votes, assigned))
            if start < options.resampled:
                p[2].append(np.array([pigeonhole(study, assigned, generator) for study in votes]))
            found = layout.estimates(votes.reshape(len(votes), -1))
            statistic = np.abs(found.mean) / np.sqrt(np.maximum(found.variance, 1e-300))
            p[3].append(2 * t.sf(statistic, found.df**2 / layout.judge_df))
            p[4].append(layout.p_values(votes.reshape(len(votes), -1)))
        cells.append(", ".join(f"{100 * (np.concatenate(each) <= 0.05 + 1e-12).mean():.1f}" for each in p))
    return [name + (" (no test)" if layout.refused else ""), *cells]


def judges_t(votes: np.ndarray, assigned: np.ndarray) -> np.ndarray:
    """P-values (b,) of Student's t over the means of the judges."""
    means = np.stack([votes[:, assigned == judge].mean(1) for judge in np.unique(assigned)], axis=1)
    error = means.std(1, ddof=1) / np.sqrt(means.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(2 * t.sf(np.abs(means.mean(1)) / error, means.shape[1] - 1), nan=1.0)


def pigeonhole(votes: np.ndarray, assigned: np.ndarray, generator: np.random.Generator, resamples: int = 299) -> float:
    """P of the percentile bootstrap that draws items and judges, for votes (items, judges an item)."""
    items, people = len(votes), int(assigned.max()) + 1
    total, number = np.zeros((items, people)), np.zeros((items, people))
    np.put_along_axis(total, assigned, votes, 1)
    np.put_along_axis(number, assigned, 1.0, 1)
    rows = generator.multinomial(items, np.full(items, 1 / items), resamples).astype(float)
    columns = generator.multinomial(people, np.full(people, 1 / people), resamples).astype(float)
    weight = ((rows @ number) * columns).sum(1)
    means = ((rows @ total) * columns).sum(1)[weight > 0]
    return min(1.0, 2 * (1 + min((means >= 0).sum(), (means <= 0).sum())) / (len(means) + 1))


if __name__ == "__main__":
    main()
