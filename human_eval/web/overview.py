"""The state of a running study: progress, agreement, times, checks. It names no system and no winner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import numpy as np

from human_eval.collection.people import Person
from human_eval.collection.responses import Response
from human_eval.collection.store import ResponseStore
from human_eval.formatting import counted
from human_eval.report.findings import findings
from human_eval.report.warnings import warnings
from human_eval.statistics.agreement import agreements
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings
from human_eval.study import Study, StudyKey
from human_eval.votes.exclusion import ExclusionRules, excluded
from human_eval.votes.unblind import unblind
from rlsum.errors import UserError
from rlsum.evaluation.agreement import Agreement

BARRED_FOR = {  # reasons that say themselves what to do -> why
    "screened out": "by an answer about themselves",
    "not qualified": "failed the training round",
    "withdrew": "answers deleted",
}


@dataclass(frozen=True)
class JudgeRow:
    """One judge. ``seconds``: median per item. ``failed`` of ``checks`` checks; ``failing``: why the analysis would
    exclude them; ``few``: they answered fewer checks than it needs for that.

    ``stage``: finished, judging, away (the loan has expired, so another judge may take over) or left.
    """

    judge: str
    done: int
    total: int
    seconds: float
    checks: int
    failed: int
    failing: str
    few: bool
    stage: str


def overview(
    study: Study,
    store: ResponseStore,
    now: float,
    key: StudyKey | None = None,
    settings: AnalysisSettings | None = None,
) -> dict[str, Any]:
    """The state of a study at ``now`` (seconds since 1970), by name. Only the ``key`` tells checks from other tasks.

    ``responses``, ``people``: what is stored. ``rows``: see `people_rows`. ``agreement``: question -> share of pairs of
    judges with the same answer. ``seconds``: the quartiles of the times per item.
    """
    responses, people = store.responses(), store.people.all()
    failed = {person.judge for person in people if person.barred == "failed checks"}  # their tasks are open again
    by_judge: dict[str, list[Response]] = defaultdict(list)
    for response in responses:
        by_judge[response.judge].append(response)
    answered = {(response.judge, response.task) for response in responses if response.judge not in failed}
    loan_of = {loan.judge: loan for loan in store.loans()}
    votes = unblind(study, key, responses) if key else None
    rules = settings.rules if settings else ExclusionRules()
    failing = {row.judge: row.reason for row in excluded(votes, rules)} if votes else {}
    rows = []
    for judge in sorted(by_judge.keys() | loan_of.keys()):
        done, loan = by_judge[judge], loan_of.get(judge)
        still_open = study.open(loan.booklet, judge, answered) if loan else ()
        stage = "left" if loan is None else "finished" if not still_open else "away" if loan.until <= now else "judging"
        checks = [check.failed for check in votes.checks if check.judge == judge] if votes else []
        numbers = len(done), len(done) + len(still_open), _quartiles(done)[1], len(checks), sum(checks)
        few = bool(done and votes and votes.checks and stage != "judging" and len(checks) < rules.min_checks)
        rows.append(JudgeRow(judge, *numbers, failing.get(judge, ""), few, stage))
    return {
        "done": len({task for _, task in answered}),
        "total": len(study.tasks),
        "booklets": len(study.booklets),
        "lent": len(loan_of),
        "comments": sum(bool(response.comment) for response in responses),
        "seconds": _quartiles(responses),
        "agreement": _agreement(study, [row for row in responses if row.judge not in failing], key),
        "judges": rows,
        "responses": responses,
        "people": people,
        "rows": people_rows(study, responses, rows, people, closed=store.state() == "closed", checked=key is not None),
    }


def fails(study: Study, key: StudyKey, responses: Sequence[Response], settings: AnalysisSettings | None) -> bool:
    """Whether the judge who gave these ``responses`` failed so many checks that the analysis will exclude them, however
    the rest of their booklet goes: who looked after each check would exclude more careful judges than `build` states.
    """
    rules = settings.rules if settings else ExclusionRules()
    made = unblind(study, key, responses).checks
    booklets = {study.by_id[response.task].booklet for response in responses}
    total = sum(key.tasks[task.id].kind != "pair" for booklet in booklets for task in study.booklets[booklet])
    return len(made) >= rules.min_checks and sum(check.failed for check in made) > rules.allowed(total)


def to_pay(person: Person, row: JudgeRow | None, closed: bool, checked: bool) -> tuple[str, str]:
    """What to do with the submission of a panel's participant, and why. Who asks for it decides.

    ``closed``: the study is, so nobody goes on. ``checked``: it is known which tasks are checks.
    """
    saved = f"{row.done} of {row.total} saved" if row and row.total > row.done else f"{row.done} saved" if row else ""
    if person.barred in BARRED_FOR:
        return person.barred, BARRED_FOR[person.barred]
    if row and ((row.failing and row.stage != "judging") or person.barred == "failed checks"):
        return "reject, or pay in part", f"{row.failing or person.barred}; {saved}"
    if row is None:
        no_place = "came, did not begin" if person.enrolled is None else "began, has no place"
        return "nothing", no_place if person.joined is None else "began, saved nothing, was inactive"
    if row.stage == "finished":
        few = f"; only {counted(row.checks, 'check')}" if row.few else ""
        return "approve", saved + (few or "; failed checks unknown without --key" * (not checked))
    if row.stage == "left":
        return "pay in part", f"{saved}, then {person.barred or 'inactive'}"
    if closed:
        return "pay in part" if row.done else "nothing", f"{saved}, then the study closed"
    return "wait", "; ".join(filter(None, (saved, row.failing, "inactive" * (row.stage == "away"))))


def people_rows(
    study: Study,
    responses: Sequence[Response],
    rows: Sequence[JudgeRow],
    people: Sequence[Person],
    *,
    closed: bool,
    checked: bool,
) -> list[dict[str, Any]]:
    """A row for each person, by name of column; what they told about themselves comes last. Further as `to_pay`."""
    row_of, tables = {row.judge: row for row in rows}, []
    for person in people:
        mine = [response for response in responses if response.judge == person.judge]
        action, reason = to_pay(person, row_of.get(person.judge), closed, checked)
        times = {name: _time(getattr(person, name)) for name in ("enrolled", "joined", "seen")}
        tables.append(
            {
                "judge": person.judge,
                "booklet": "" if person.booklet is None else person.booklet + 1,
                "answered": len(mine),
                "comments": sum(bool(response.comment) for response in mine),
                "device": person.device,
                "barred": person.barred,
                "to do": action,
                "why": reason,
                "session": person.session,
                "panel_study": person.panel_study,
                **times,
                **{asked.id: person.about.get(asked.id, "") for asked in study.enrolment.questions},
            }
        )
    return tables


def _time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def verdict(
    study: Study, responses: Sequence[Response], key: StudyKey, settings: AnalysisSettings | None = None
) -> tuple[list[str], list[str]]:
    """The findings and warnings that `rlsum human-eval analyse` gives; why there are none if it cannot be made."""
    try:
        analysis = analyse(unblind(study, key, responses), settings or AnalysisSettings())
    except UserError as error:  # such as: all judges are excluded
        return [f"No verdict: {error}."], []
    return findings(analysis), warnings(analysis)


def _quartiles(responses: Sequence[Response]) -> tuple[float, float, float]:
    """The quartiles of the seconds; NaN without responses."""
    seconds = [response.seconds or 0.0 for response in responses] or [np.nan]
    low, median, high = np.percentile(seconds, (25, 50, 75))
    return float(low), float(median), float(high)


def _agreement(study: Study, responses: Sequence[Response], key: StudyKey | None) -> dict[str, Agreement]:
    """Question -> pairwise agreement on the pairs of texts that `analyse` counts, as `analyse` computes it.

    Unlike the other measures it does not depend on which text is called the first, so it needs no names of systems.
    Without the key, pairs of equal texts are known as checks; a shuffled text has one judge and cannot count.
    """
    pairs: dict[tuple[str, ...], dict[str, tuple[Response, int, int]]] = defaultdict(dict)
    for response in responses:
        task = study.by_id[response.task]
        if key is None or key.tasks[response.task].kind == "pair":
            for first, second in permutations(range(len(task.texts)), 2):
                if task.texts[first] < task.texts[second]:
                    pair = task.item, task.texts[first], task.texts[second]
                    pairs[pair].setdefault(response.judge, (response, first, second))
    names = key.items if key else {}
    in_order = sorted(pairs, key=lambda pair: names.get(pair[0], pair[0]))  # as in `analyse`, for the same intervals
    shared = {pair: list(pairs[pair].values()) for pair in in_order}
    shared = {pair: judged for pair, judged in shared.items() if len(judged) > 1}
    if not shared:
        none = Agreement(np.nan, np.nan, np.nan, 0, 0, "no comparison has two judges yet, excluded ones not counted")
        return {criterion.question: none for criterion in study.criteria}
    agreement = {}
    for criterion in study.criteria:
        matrix = np.full((len(shared), max(map(len, shared.values()))), np.nan)
        for row, judged in enumerate(shared.values()):
            for column, (response, *places) in enumerate(judged):
                texts = len(study.by_id[response.task].texts)
                matrix[row, column] = criterion.kind.vote(response.answers[criterion.id], texts, *places)
        items = [pair[0] for pair in shared]
        agreement[criterion.question] = agreements(matrix, items=items)["pairwise"]
    return agreement
