"""Whom the attention checks of a study exclude, against the rates that `rlsum human-eval build` states.

    OMP_NUM_THREADS=1 PYTHONPATH=scripts python -m calibration.checks

Simulated judges answer the default checks of a built study, and the default rule of `analyse` excludes some. Prints a
Markdown table with the stated and the simulated rate in %. Kept: who clicks at random, always says no difference,
always chooses the left. Excluded: who errs in 5% and in 10% of the checks.
"""

from __future__ import annotations

import argparse
import random

from calibration.preference import print_table
from human_eval.answers import LEFT, NONE, RIGHT
from human_eval.collection.responses import Response
from human_eval.criteria import DEFAULT, StudyWording, instructions
from human_eval.design.build import build
from human_eval.design.checks import error_rates
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align
from human_eval.study import Study, StudyKey, TaskKey
from human_eval.votes.exclusion import ExclusionRules, excluded
from human_eval.votes.unblind import unblind
from rlsum.records import Output
from rlsum.simulation.stories import stories

ITEMS = 60
DESIGN = StudyDesign(items=ITEMS, judges=3, booklet=3, identical=2, shuffled=3)  # 60 booklets, the default checks
ERRORS = {"errs in 5%": 0.05, "errs in 10%": 0.1}  # who is excluded; of the others, who is kept
SAME = {"always no difference": NONE, "always left": LEFT}  # answers at which nothing is random
KINDS = ("random clicks", *SAME, *ERRORS)
WRONG = {LEFT: RIGHT, RIGHT: LEFT, NONE: LEFT}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=6_000, help="simulated judges for each rate")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"Stated, simulated in %; {options.judges:,} judges a rate\n")
    print_table(["criteria", *KINDS], (rates(criteria, options) for criteria in (1, 2, 4)))


def rates(criteria: int, options: argparse.Namespace) -> list[str]:
    study, key = small_study(criteria)
    expected = error_rates(DESIGN.checks, [asked.kind for asked in study.criteria], 2)
    stated = (expected.random, expected.none, expected.left, expected.careful, expected.hasty)
    cells = []
    for kind, share in zip(KINDS, stated, strict=True):
        rng = random.Random(f"{options.seed} {kind}")
        rounds = 1 if kind in SAME else options.judges // len(study.booklets)
        out = sum(excluded_of(study, key, kind, rng) for _ in range(rounds)) / (rounds * len(study.booklets))
        cells.append(f"{100 * share:.2f}, {100 * (out if kind in ERRORS else 1 - out):.2f}")
    return [str(criteria), *cells]


def small_study(criteria: int) -> tuple[Study, StudyKey]:
    """A study of two systems with the first ``criteria`` of the default."""
    outputs = []
    for story in stories(1, "test", 2 * ITEMS):
        article, reference = "\n".join(story.article), "\n".join(story.highlights)
        for system, text in (("reference", reference), ("lead", "\n".join(story.article[:3]))):
            outputs.append((f"{system}.jsonl", Output(story.id, article, (reference,), text, system)))
    asked = DEFAULT[:criteria]
    return build(align(outputs), DESIGN, StudyWording(instructions=instructions(asked), criteria=asked), seed=1)


def excluded_of(study: Study, key: StudyKey, kind: str, rng: random.Random) -> int:
    """How many are excluded if a judge of this kind answers the checks of each booklet."""
    responses = []
    for number, booklet in enumerate(study.booklets):
        for task in booklet:
            if (secret := key.tasks[task.id]).kind != "pair":
                chosen = answers(kind, secret, len(study.criteria), rng)
                by_criterion = dict(zip(study.asked, chosen, strict=True))
                responses.append(Response(study.id, task.id, f"judge {number}", by_criterion))
    return len(excluded(unblind(study, key, responses), ExclusionRules()))


def answers(kind: str, secret: TaskKey, criteria: int, rng: random.Random) -> list[str]:
    """A judge's answers to the criteria of a check."""
    if kind == "random clicks":
        return [rng.choice((LEFT, NONE, RIGHT)) for _ in range(criteria)]
    if kind in ERRORS:
        assert secret.expected
        wrong = rng.random() < ERRORS[kind]
        return [WRONG[secret.expected] if wrong else secret.expected] * criteria
    return [SAME[kind]] * criteria


if __name__ == "__main__":
    main()
