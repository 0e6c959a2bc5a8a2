"""Calibrate what an analysis says of judges: verdicts with judges as random, and one judge against the others.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.judges

Prints Markdown tables. False alarms at a nominal 5%, for two equal systems and judges with preferences of their own, of
five tests: the sign-flip test of items, Student's t of the judges' means, a bootstrap that resamples items and judges
(the pigeonhole bootstrap of Owen 2007), that of reader studies with Hillis' (2007) degrees of freedom, and the test of
`human_eval.statistics.random_judges`, whose levels in more designs `levels` has. How well judges who toss coins predict
the others, and how often length is said to be better at it. How often all simultaneous intervals hold. How often a
useless metric is said to make an interval narrower.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from scipy.stats import t

from calibration.levels import SPREADS, TIES, vote_designs
from calibration.preference import print_table
from human_eval.planning.simulation import Assumptions, dealt, draw_judged, layout_of, sign_flip_p
from human_eval.statistics.analysis import AnalysisSettings, outcomes
from human_eval.statistics.control_variate import control_variate
from human_eval.statistics.metrics import JUDGE, length_lead, metric_agreements
from human_eval.statistics.preference import item_means
from human_eval.statistics.votes import Vote, Votes
from rlsum.evaluation.statistics import holm

COMPARED = ("100 x 3, 3", "100 x 5, 5", "100 x 3, 15", "200 x 3, 30")  # items x judges of each, people
CORRELATION = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4_000, help="simulated studies for each false alarm rate")
    parser.add_argument("--resampled", type=int, default=500, help="of which so many are resampled")
    parser.add_argument("--studies", type=int, default=200, help="whole studies analysed for the other tables")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"False alarms in %, 20% ties, correlation {CORRELATION:g}, {options.draws:,} studies\n")
    head = [
        "items x judges of each, people",
        *(f"sd {spread:g}: items, judges, both resampled, Hillis, ours" for spread in SPREADS),
    ]
    rows = [row for row in vote_designs(options.seed) if row[0] in COMPARED]
    print_table(head, (false_alarms(*row, options) for row in rows))
    print(f"\nJudges who toss coins, {options.studies:,} studies\n")
    sizes = [(items, judges) for items in (30, 100) for judges in (3, 5)]
    head = ["items x judges", "a judge's accuracy", "the same, ties of the others dropped", "length said to be better"]
    print_table(head, (coins(*size, options) for size in sizes))
    print(f"\nAll intervals of a study hold, {options.studies:,} studies\n")
    print_table(["criteria", "these judges", "judges like these"], (held(count, options) for count in (1, 4, 8)))
    print(f"\nA useless metric is said to help, 50 items x 3 judges, {options.studies:,} studies\n")
    print_table(["metrics", "the narrowest interval", "ours"], (helped(count, options) for count in (1, 4, 12)))


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


def coins(items: int, judges: int, options: argparse.Namespace) -> list[str]:
    generator = np.random.default_rng(options.seed)
    accuracy, dropped, better = [], [], 0
    for _ in range(options.studies):
        votes, longer = generator.choice([-1, 1], (items, judges)), generator.choice([-1, 1], items)
        rows = rows_of(votes, longer)
        accuracy.append(metric_agreements(rows, None, resamples=1)[JUDGE].share)
        others = np.sign(votes.sum(1, keepdims=True) - votes)
        of_items = item_means(np.where(others == 0, np.nan, votes * others))
        dropped.append((1 + of_items.mean()) / 2)
        lead = length_lead(rows, resamples=499)
        better += lead.p <= 0.05 and lead.lead > 0
    shares = (np.mean(accuracy), np.mean(dropped), better / options.studies)
    return [f"{items} x {judges}", *(f"{100 * share:.1f}%" for share in shares)]


def held(criteria: int, options: argparse.Namespace) -> list[str]:
    """How often the simultaneous intervals of all criteria of a study hold; half of them with a preference of 62%."""
    generator, settings = np.random.default_rng(options.seed), AnalysisSettings(resamples=1_999)
    truths = [0.5 if number % 2 else 0.5 + 0.12 * 0.8 for number in range(criteria)]
    assigned, hits = dealt(60, 3, 3), np.zeros(2)
    for _ in range(options.studies):
        rows: list[Vote] = []
        for number, truth in enumerate(truths):
            assumed = Assumptions(0.5 + (truth - 0.5) / 0.8, 0.2, 0.3)
            rows += rows_of(draw_judged(assumed, assigned, 1, generator)[0], assigned=assigned, criterion=f"c{number}")
        votes = Votes("", tuple(f"c{number}" for number in range(criteria)), (("a", "b"),), tuple(rows))
        found = list(zip(outcomes(votes, settings), truths, strict=True))
        for question, name in enumerate(("these", "alike")):
            ends = [(getattr(row, name).low, getattr(row, name).high, truth) for row, truth in found]
            hits[question] += all(low - 1e-9 <= truth <= high + 1e-9 for low, high, truth in ends)
    return [str(criteria), *(f"{100 * share:.1f}%" for share in hits / options.studies)]


def helped(metrics: int, options: argparse.Namespace) -> list[str]:
    """How often the narrowest interval is narrower by .5%, and how often a correlation is shown (Holm, 5%)."""
    generator, narrower, shown = np.random.default_rng(options.seed), 0, 0
    for _ in range(options.studies):
        means, scores = generator.choice([-1, -1 / 3, 1 / 3, 1], 50), generator.normal(size=(metrics, 500))
        found = [control_variate(means, row[:50], row[50:], resamples=1_000) for row in scores]
        narrower += min(each.width for each in found) < 0.995
        shown += bool((holm([each.p for each in found]) <= 0.05).any())
    return [str(metrics), *(f"{100 * count / options.studies:.1f}%" for count in (narrower, shown))]


def rows_of(
    votes: np.ndarray, longer: np.ndarray | None = None, assigned: np.ndarray | None = None, criterion: str = "c0"
) -> list[Vote]:
    """Votes of a matrix (items, judges)."""
    rows = []
    for item, judge in product(*map(range, votes.shape)):
        who = judge if assigned is None else assigned[item, judge]
        name, length = f"i{item:03d}", 0 if longer is None else int(longer[item])
        rows.append(
            Vote(criterion, ("a", "b"), name, name, f"j{who:02d}", f"{item}-{who}", int(votes[item, judge]), length)
        )
    return rows


if __name__ == "__main__":
    main()
