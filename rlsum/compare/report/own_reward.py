"""Whether training on a reward helped by the reward itself: its tests, their verdict, its words in table and text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlsum.compare.cells import NONE, START
from rlsum.compare.report.tables import gain_cell
from rlsum.compare.results import Contrast, Results, System, compare
from rlsum.evaluation.statistics import ALPHA
from rlsum.evaluation.trained.verdicts import Verdict, verdicts
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table, joined, p_text, p_words


@dataclass(frozen=True)
class OwnReward:
    """A trained system on its own reward: its tests against start and control, and what they say together."""

    tests: tuple[Contrast, ...]
    verdict: Verdict

    @property
    def decisive(self) -> Contrast:
        """The test that decides."""
        return self.tests[self.verdict.decisive]

    def words(self, margin: float | None) -> str:
        """The verdict in words; "no worse" with its margin, in points."""
        word = self.verdict.word
        return f"loses less than {(margin or 0) * SCALE:g} points" if word == "no worse" else word


def opponents(results: Results) -> list[System]:
    """What a trained system must be better than: the start and continued likelihood, where they have scores."""
    return [results.systems[name] for name in (START, NONE) if name in results.systems]


def own_reward(results: Results, margin: float | None = None) -> dict[str, OwnReward]:
    """System -> its tests against start and control on its own reward; those of all systems are one family, in which
    those count that failed, are not finished or were taken out.
    """
    tests_of: dict[str, tuple[Contrast, ...]] = {}
    for system in results.trained:
        reward = system.reward
        if reward in system.metrics and (others := [row for row in opponents(results) if reward in row.metrics]):
            tests_of[system.name] = tuple(compare(system, row, str(reward)) for row in others)
    judged = [[test.judged for test in tests] for tests in tests_of.values()]
    judgments = verdicts(judged, margin=margin, family=results.family)
    return {name: OwnReward(tests, verdict) for (name, tests), verdict in zip(tests_of.items(), judgments, strict=True)}


def verdict_table(results: Results, margin: float | None = None) -> Table:
    """Each trained system on its own reward, against the start and against continued likelihood."""
    rows, others = [], opponents(results)
    for name, outcome in own_reward(results, margin).items():
        tests = {test.other: test for test in outcome.tests}
        gains = [
            cell
            for test in (tests.get(opponent.name) for opponent in others)
            for cell in (gain_cell(test), Cell(UNDEFINED if test is None else p_text(test.difference.p)))
        ]
        detail = outcome.decisive.partial if np.isnan(outcome.verdict.p) else f"Holm p {p_text(outcome.verdict.p)}"
        word = Cell(outcome.words(margin), detail, mark=outcome.verdict.word in ("better", "worse"))
        rows.append((Cell(results.systems[name].title), Cell(outcome.decisive.metric), *gains, word))
    header = (
        "system",
        "trained on",
        *(name for opponent in others for name in (f"gain over {opponent.title}", "p")),
        "verdict",
    )
    note = (
        f"Each system on the reward that it was trained on, x {SCALE}, paired by seed and article. Better: above "
        f"{joined([opponent.title for opponent in others])}, p <= {ALPHA} after Holm's correction for all rewards; "
        "worse: below one of them, corrected for all tests of the table. Bold: such a verdict; p beside a gain is not "
        "corrected."
    )
    single_seed = "With one seed a p-value is about these models: it allows no verdict about what they were trained on."
    ruled_out = f"A loss of {(margin or 0) * SCALE:g} points or more is ruled out: one-sided, Holm's correction, too."
    notes = (note, *([single_seed] if len(results.seeds) < 2 else []), *([ruled_out] if margin is not None else []))
    return Table("Did the reward help?", header, tuple(rows), notes)


def helped(results: Results, outcome: OwnReward, margin: float | None) -> str:
    """What the decisive test of a system's own reward says, to follow its name."""
    decisive, difference = outcome.decisive, outcome.decisive.difference
    opponent = results.systems[decisive.other].title
    gain = f"{difference.mean * SCALE:+.2f} on {decisive.metric} over {opponent}"
    if outcome.verdict.word != "no verdict":
        words = {"better": "helped", "worse": "did harm", "no difference shown": "is not shown to help"}
        word = words.get(outcome.verdict.word, outcome.words(margin))
        return f"{word} by its own measure: {gain} ({p_words(outcome.verdict.p)}, Holm)"
    lacking = next(
        (f"{test.partial} against {results.systems[test.other].title}" for test in outcome.tests if test.partial), ""
    )
    if np.isnan(difference.mean):
        return f"has no verdict: on {decisive.metric} no article has a score of both it and {opponent}"
    if lacking:
        return f"has no verdict ({lacking}; so far {gain})"
    if difference.seeds > 1:
        return f"has no verdict: {gain}, and too few articles for a test"
    ran = "higher" if difference.mean > 0 else "lower" if difference.mean < 0 else "no higher"
    return f"has no verdict from one seed: this run scored {ran} ({gain}); another seed may differ"
