"""What the one who runs a study may see while it runs: progress, agreement, time, checks; no system, no direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from human_eval.collection.store import Loan, Recorded, judgments
from human_eval.report.findings import findings, warnings
from human_eval.statistics.analysis import Settings, analyse
from human_eval.statistics.exclusion import Rules, excluded
from human_eval.statistics.unblind import unblind
from human_eval.study import Answer, Key, Study
from rlsum.evaluation.agreement import Agreement, krippendorff_alpha

RESAMPLES = 500  # of the intervals of agreement
VERDICT_RESAMPLES = 2_000

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
    """One judge. ``failed`` of ``checks`` checks, None without the key; ``failing``: the analysis would leave them out.

    ``away``: silent for so long that another judge may take over.
    """

    judge: str
    done: int
    total: int
    times: Times
    checks: int | None
    failed: int | None
    failing: bool
    away: bool


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
    checks = _checks(study, answers, key) if key else {}
    rows = []
    for judge in sorted(by_judge.keys() | until.keys()):
        own, loan = by_judge[judge], until.get(judge)
        still_open = [t for t in study.booklets[loan.booklet] if t.id not in answered] if loan else []
        away = bool(loan and still_open and loan.until <= now)
        asked, failed, failing = checks.get(judge, (None, None, False))
        total = len(own) + len(still_open)
        rows.append(JudgeRow(judge, len(own), total, _times(own), asked, failed, failing, away))
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


def verdict(study: Study, answers: Sequence[Recorded], key: Key) -> tuple[list[str], list[str]]:
    """What the analysis says so far, and what to be careful about."""
    found = analyse(unblind(study, key, judgments(study, answers)), Settings(resamples=VERDICT_RESAMPLES))
    return findings(found), warnings(found)


def _checks(study: Study, answers: Sequence[Recorded], key: Key) -> dict[str, tuple[int, int, bool]]:
    """Judge -> checks answered, checks failed, and whether that is too many by the rules of the analysis."""
    votes = unblind(study, key, judgments(study, answers))
    failing = {each.judge for each in excluded(votes, Rules())}
    found = {}
    for judge in {each.judge for each in answers}:
        own = [check for check in votes.checks if check.judge == judge]
        found[judge] = len(own), sum(check.failed for check in own), judge in failing
    return found


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
