"""What the one who runs a study may see while it runs: progress, agreement, time, checks; no system, no direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from human_eval.checks import passed
from human_eval.store import Loan, Recorded
from human_eval.study import Answer, Key, Study
from rlsum.evaluation.agreement import Agreement, krippendorff_alpha

CHECKS = 2  # with fewer, nothing is said of a judge
RESAMPLES = 500

_VALUES: dict[Answer, float] = {"left": -1.0, "none": 0.0, "right": 1.0}


@dataclass(frozen=True)
class Times:
    """Seconds an item: the median and the quartiles of ``n`` answers; NaN where there are none."""

    n: int
    low: float
    median: float
    high: float


@dataclass(frozen=True)
class JudgeRow:
    """One judge. ``failed`` of ``checks`` checks, None without the key; ``away``: another judge may take over."""

    judge: str
    done: int
    total: int
    times: Times
    checks: int | None
    failed: int | None
    away: bool

    @property
    def failing(self) -> bool:
        """Whether the judge failed more than half of the checks."""
        return (
            self.checks is not None
            and self.failed is not None
            and self.checks >= CHECKS
            and 2 * self.failed > self.checks
        )


@dataclass(frozen=True)
class Overview:
    """The state of a study in numbers. ``agreement``: question -> Krippendorff's alpha."""

    done: int
    total: int
    booklets: int
    lent: int
    comments: int
    times: Times
    agreement: dict[str, Agreement]
    judges: list[JudgeRow]


def overview(
    study: Study, answers: Sequence[Recorded], loans: Sequence[Loan], now: float, key: Key | None = None
) -> Overview:
    """The state of a study at ``now`` (seconds since 1970); checks are told from other tasks only with the ``key``."""
    by_judge: dict[str, list[Recorded]] = defaultdict(list)
    for each in answers:
        by_judge[each.judge].append(each)
    answered = {each.task for each in answers}
    until = {loan.judge: loan for loan in loans}
    rows = []
    for judge in sorted(by_judge.keys() | until.keys()):
        own, loan = by_judge[judge], until.get(judge)
        still_open = [t for t in study.booklets[loan.booklet] if t.id not in answered] if loan else []
        checks, failed = _checks(own, key) if key else (None, None)
        away = bool(loan and still_open and loan.until <= now)
        rows.append(JudgeRow(judge, len(own), len(own) + len(still_open), _times(own), checks, failed, away))
    return Overview(
        done=len(answers),
        total=len(study.tasks),
        booklets=len(study.booklets),
        lent=len(loans),
        comments=sum(bool(each.comment) for each in answers),
        times=_times(answers),
        agreement=_agreement(study, answers, key),
        judges=rows,
    )


def _times(answers: Sequence[Recorded]) -> Times:
    if not answers:
        return Times(0, np.nan, np.nan, np.nan)
    low, median, high = np.percentile([each.seconds for each in answers], (25, 50, 75))
    return Times(len(answers), float(low), float(median), float(high))


def _checks(answers: Sequence[Recorded], key: Key) -> tuple[int, int]:
    """How many checks a judge answered, and how many of them not as one who reads would."""
    given = {each.task: each.answers for each in answers}
    found = []
    for each in answers:
        secret = key.tasks[each.task]
        found.append(passed(secret, each.answers, given.get(secret.repeats) if secret.repeats else None))
    return sum(result is not None for result in found), sum(result is False for result in found)


def _agreement(study: Study, answers: Sequence[Recorded], key: Key | None) -> dict[str, Agreement]:
    """Alpha of each question over pairs of texts, whichever stood left; a judge's second look at a pair is left out.

    Pairs of equal texts are checks, and so is what the key says; what only one judge saw counts for nothing anyway.
    """
    pairs: dict[tuple[str, ...], dict[str, Recorded]] = defaultdict(dict)
    for each in answers:
        task = study.by_id[each.task]
        if task.left != task.right and (key is None or key.tasks[each.task].kind == "pair"):
            pairs[task.item, *sorted((task.left, task.right))].setdefault(each.judge, each)
    shared = {pair: list(seen.values()) for pair, seen in pairs.items() if len(seen) > 1}
    if not shared:
        none = Agreement(np.nan, np.nan, np.nan, 0, 0, "no two judges have answered the same item yet")
        return {criterion.question: none for criterion in study.criteria}
    found = {}
    for criterion in study.criteria:
        matrix = np.full((len(shared), max(map(len, shared.values()))), np.nan)
        for row, (pair, seen) in enumerate(shared.items()):
            for column, each in enumerate(seen):
                side = 1 if study.by_id[each.task].left == pair[1] else -1
                matrix[row, column] = side * _VALUES[each.answers[criterion.id]]
        items = [pair[0] for pair in shared]
        found[criterion.question] = krippendorff_alpha(matrix, scale="nominal", inputs=items, resamples=RESAMPLES)
    return found
