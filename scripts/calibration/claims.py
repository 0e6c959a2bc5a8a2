"""How often a card of equal systems carries a claim: each kind of claim, and all of a card together.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.claims

Prints a Markdown table, in % of simulated studies, at a nominal 5%: no system is better than another, but judges may
have preferences of their own, or one of them always prefers the first system. A claim about these judges that vanishes
without one judge is told as such on the card and does not count. *Strengths*: an interval of a ranking excludes 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.random import Generator

from calibration.preference import print_table
from human_eval.answers import KINDS, LETTERS
from human_eval.marks import CATEGORIES, Mark
from human_eval.statistics.analysis import AnalysisSettings, decides, outcomes
from human_eval.statistics.errors import errors
from human_eval.statistics.ranking import ranked
from human_eval.statistics.votes import MarkedText, Vote, Votes
from human_eval.study import ERRORS

ALPHA, EACH = 0.05, 3  # judges of an item
SYSTEMS = {"pair": 2, "strength": 2, "likert-5": 3, "best-worst": 4, "ranking": 3, ERRORS: 2}
CRITERIA = ("coherence", "focus", "overall")
CROWDS = ("alike", "own preferences", "one dominant")
CLAIMS = ("these judges", "judges like these", "errors", "strengths")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--items", type=int, default=30)
    parser.add_argument("--judges", type=int, nargs="+", default=[5, 10, 15])
    parser.add_argument("--kinds", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print_table(("answers", "judges", "crowd", *CLAIMS, "all but strengths"), rows(options))


def rows(options: argparse.Namespace) -> Iterator[list[str]]:
    settings = AnalysisSettings(resamples=499)
    for kind, judges, crowd in product(options.kinds, options.judges, CROWDS):
        generator, counts = np.random.default_rng(options.seed), np.zeros(len(CLAIMS) + 1)
        for _ in range(options.studies):
            made = claims(study(kind, options.items, judges, crowd, generator), settings)
            counts += [*(name in made for name in CLAIMS), bool(made - {"strengths"})]
        yield [kind, str(judges), crowd, *(f"{100 * count / options.studies:.1f}" for count in counts)]


def claims(votes: Votes, settings: AnalysisSettings) -> set[str]:
    """The claims of a card that no judge alone decides."""
    found = outcomes(votes, settings)
    kept = [row.preferred(ALPHA) for row in found]
    for judge in votes.judges if any(kept) else ():
        without = outcomes(votes.without([judge]), settings)
        rows = zip(kept, found, without, strict=True)
        kept = [None if decides(row, other, ALPHA) else one for one, row, other in rows]
    others = [row.preferred_by_others(ALPHA) for row, one in zip(found, kept, strict=True) if one]
    made = {"these judges"} if any(kept) else set()
    made |= {"judges like these"} if any(others) else set()
    if votes.categories:
        voted = {row.pair: row.p_holm if one else 1.0 for row, one in zip(found, kept, strict=True)}
        differences = errors(votes.marked, votes.categories, votes.pairs, voted=voted, resamples=1).differences
        made |= {"errors"} if any(row.p_holm <= ALPHA for row in differences) else set()
    level = 1 - ALPHA / len(votes.criteria)
    rankings = [
        ranked(votes.of(name), votes.systems, votes.kind(name).points, level=level)
        for name in votes.criteria
        if len(votes.systems) > 2
    ]
    strengths = [row for ranking in rankings for row in ranking.systems]
    return made | ({"strengths"} if any(row.low > 0 or row.high < 0 for row in strengths) else set())


def study(kind: str, items: int, judges: int, crowd: str, generator: Generator) -> Votes:
    """The votes of a study, each item by `EACH` of the ``judges``."""
    systems = SYSTEMS[kind]
    names = tuple(LETTERS[:systems].lower())
    criteria = (ERRORS,) if kind == ERRORS else CRITERIA
    own = generator.normal(0, 0.4 if crowd == "own preferences" else 0, (judges, systems))
    if crowd == "one dominant":
        own[0, 0] = 10
    found: list[Vote] = []
    marked: list[MarkedText] = []
    for item in range(items):
        text = generator.normal(0, 0.5, systems)
        for judge in generator.choice(judges, EACH, replace=False):
            shared = text + own[judge] + generator.normal(0, 0.5, systems)
            for criterion in criteria:
                worth = shared + generator.normal(size=systems)
                if kind == ERRORS:
                    numbers = generator.poisson(np.exp(0.5 - 0.7 * np.clip(worth, -3, 3)))
                    marked += summaries(item, judge, names, numbers, generator)
                    preference = {(0, 1): float(np.sign(numbers[0] - numbers[1]))}
                else:
                    answer = answered(kind, worth)
                    sides = combinations(range(systems), 2)
                    preference = {pair: KINDS[kind].vote(answer, systems, *pair) for pair in sides}
                found += [
                    Vote(
                        criterion, (names[i], names[j]), str(item), str(item), f"j{judge}", f"{item}-{judge}", value, 0
                    )
                    for (i, j), value in preference.items()
                ]
    kinds = {} if kind == ERRORS else dict.fromkeys(criteria, KINDS[kind])
    categories = CATEGORIES if kind == ERRORS else ()
    pairs = tuple(combinations(names, 2))
    return Votes("", criteria, pairs, tuple(found), kinds=kinds, marked=tuple(marked), categories=categories)


def answered(kind: str, worth: np.ndarray) -> str:
    """What a judge answers to whom texts are ``worth`` so much."""
    if kind == "pair":
        return "none" if abs(worth[1] - worth[0]) < 0.4 else ("left", "right")[int(worth[1] > worth[0])]
    if kind == "strength":
        side = "right" if worth[1] > worth[0] else "left"
        size = abs(worth[1] - worth[0])
        return "none" if size < 0.4 else side if size < 1.5 else f"much-{side}"
    if kind == "likert-5":
        return " ".join(str(int(np.clip(np.round(3 + value), 1, 5))) for value in worth)
    if kind == "best-worst":
        return f"{LETTERS[worth.argmax()]} {LETTERS[worth.argmin()]}"
    return " ".join(str(1 + int((worth > value).sum())) for value in worth)


def summaries(
    item: int, judge: int, names: tuple[str, ...], numbers: np.ndarray, generator: Generator
) -> list[MarkedText]:
    """Summaries of 20 words with so many marked errors of random kinds."""
    text = " ".join(["word"] * 20)
    return [
        MarkedText(
            str(item), f"j{judge}", f"{item}-{judge}", name, text,
            tuple(Mark(place, 5 * n, 5 * n + 4, CATEGORIES[generator.integers(4)].id) for n in range(min(20, number))),
        )
        for place, (name, number) in enumerate(zip(names, numbers, strict=True))
    ]  # fmt: skip


if __name__ == "__main__":
    main()
