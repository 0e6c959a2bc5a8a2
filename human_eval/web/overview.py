"""The state of a running study: progress, agreement, times, checks. It names no system and no winner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from human_eval.collection.responses import Response
from human_eval.collection.store import Loan
from human_eval.report.findings import findings, warnings
from human_eval.statistics.analysis import AnalysisSettings, analyse
from human_eval.statistics.exclusion import ExclusionRules, excluded
from human_eval.statistics.unblind import unblind
from human_eval.study import Answer, Study, StudyKey
from rlsum.evaluation.agreement import Agreement, krippendorff_alpha

RESAMPLES = 500  # for the intervals of agreement
VERDICT_RESAMPLES = 2_000


@dataclass(frozen=True)
class Times:
    """Seconds an item: median and quartiles of ``n`` responses; NaN without responses."""

    n: int
    low: float
    median: float
    high: float


@dataclass(frozen=True)
class JudgeRow:
    """One judge. ``failed`` of ``checks`` checks, None without the key; ``failing``: the analysis would exclude them.

    ``away``: the loan has expired, so another judge may take over.
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
class StudyOverview:
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
    study: Study, responses: Sequence[Response], loans: Sequence[Loan], now: float, key: StudyKey | None = None
) -> StudyOverview:
    """The state of a study at ``now`` (seconds since 1970). Only the ``key`` distinguishes checks from other tasks."""
    by_judge: dict[str, list[Response]] = defaultdict(list)
    for response in responses:
        by_judge[response.judge].append(response)
    answered = {response.task for response in responses}
    loan_of = {loan.judge: loan for loan in loans}
    checks = _checks(study, responses, key) if key else {}
    rows = []
    for judge in sorted(by_judge.keys() | loan_of.keys()):
        done, loan = by_judge[judge], loan_of.get(judge)
        still_open = [task for task in study.booklets[loan.booklet] if task.id not in answered] if loan else []
        away = bool(loan and still_open and loan.until <= now)
        shown, failed, failing = checks.get(judge, (None, None, False))
        rows.append(JudgeRow(judge, len(done), len(done) + len(still_open), _times(done), shown, failed, failing, away))
    return StudyOverview(
        done=len(responses),
        total=len(study.tasks),
        booklets=len(study.booklets),
        lent=len(loans),
        comments=sum(bool(response.comment) for response in responses),
        times=_times(responses),
        agreement=_agreement(study, responses, key),
        judges=rows,
    )


def verdict(study: Study, responses: Sequence[Response], key: StudyKey) -> tuple[list[str], list[str]]:
    """The findings and warnings of the analysis so far."""
    analysis = analyse(unblind(study, key, responses), AnalysisSettings(resamples=VERDICT_RESAMPLES))
    return findings(analysis), warnings(analysis)


def _times(responses: Sequence[Response]) -> Times:
    if not responses:
        return Times(0, np.nan, np.nan, np.nan)
    low, median, high = np.percentile([response.seconds or 0.0 for response in responses], (25, 50, 75))
    return Times(len(responses), float(low), float(median), float(high))


def _checks(study: Study, responses: Sequence[Response], key: StudyKey) -> dict[str, tuple[int, int, bool]]:
    """Judge -> checks answered, checks failed, and whether the rules of the analysis exclude the judge."""
    votes = unblind(study, key, responses)
    failing = {row.judge for row in excluded(votes, ExclusionRules())}
    counts = {}
    for judge in {response.judge for response in responses}:
        checks = [check for check in votes.checks if check.judge == judge]
        counts[judge] = len(checks), sum(check.failed for check in checks), judge in failing
    return counts


def _agreement(study: Study, responses: Sequence[Response], key: StudyKey | None) -> dict[str, Agreement]:
    """Question -> alpha over pairs of texts, on whichever sides they were. Checks and repeats do not count.

    Without the key, pairs of equal texts are known as checks; a shuffled text has one judge and cannot count.
    """
    pairs: dict[tuple[str, ...], dict[str, Response]] = defaultdict(dict)
    for response in responses:
        task = study.by_id[response.task]
        if task.left != task.right and (key is None or key.tasks[response.task].kind == "pair"):
            pairs[task.item, *sorted((task.left, task.right))].setdefault(response.judge, response)
    shared = {pair: list(judged.values()) for pair, judged in pairs.items() if len(judged) > 1}
    if not shared:
        none = Agreement(np.nan, np.nan, np.nan, 0, 0, "no two judges have answered the same item yet")
        return {criterion.question: none for criterion in study.criteria}
    agreement = {}
    for criterion in study.criteria:
        matrix = np.full((len(shared), max(map(len, shared.values()))), np.nan)
        for row, (pair, judged) in enumerate(shared.items()):
            for column, response in enumerate(judged):
                side = 1 if study.by_id[response.task].left == pair[1] else -1
                matrix[row, column] = side * Answer(response.answers[criterion.id]).vote
        items = [pair[0] for pair in shared]
        agreement[criterion.question] = krippendorff_alpha(matrix, scale="nominal", inputs=items, resamples=RESAMPLES)
    return agreement
