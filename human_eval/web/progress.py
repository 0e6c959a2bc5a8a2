"""How far each judge of a running study is: tasks, time, checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from human_eval.collection.responses import Response
from human_eval.collection.store import Loan
from human_eval.study import Study
from human_eval.votes.exclusion import ExclusionRules, excluded
from human_eval.votes.votes import Votes


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


def judge_rows(
    study: Study,
    responses: Sequence[Response],
    loans: Sequence[Loan],
    answered: set[tuple[str, str]],
    votes: Votes | None,
    rules: ExclusionRules,
    now: float,
) -> list[JudgeRow]:
    """A row for each judge with responses or a loan, by name, at ``now`` (seconds since 1970).

    ``answered``: judge and task of what need not be answered again. ``votes``: of ``responses``; None where checks are
    not known from other tasks.
    """
    by_judge: dict[str, list[Response]] = defaultdict(list)
    for response in responses:
        by_judge[response.judge].append(response)
    loan_of = {loan.judge: loan for loan in loans}
    failing = {row.judge: row.reason for row in excluded(votes, rules)} if votes else {}
    rows = []
    for judge in sorted(by_judge.keys() | loan_of.keys()):
        done, loan = by_judge[judge], loan_of.get(judge)
        still_open = study.open(loan.booklet, judge, answered) if loan else ()
        stage = "left" if loan is None else "finished" if not still_open else "away" if loan.until <= now else "judging"
        checks = [check.failed for check in votes.checks if check.judge == judge] if votes else []
        rows.append(
            JudgeRow(
                judge=judge,
                done=len(done),
                total=len(done) + len(still_open),
                seconds=quartiles(done)[1],
                checks=len(checks),
                failed=sum(checks),
                failing=failing.get(judge, ""),
                few=bool(done and votes and votes.checks and stage != "judging" and len(checks) < rules.min_checks),
                stage=stage,
            )
        )
    return rows


def quartiles(responses: Sequence[Response]) -> tuple[float, float, float]:
    """The quartiles of the seconds; NaN without responses."""
    seconds = [response.seconds or 0.0 for response in responses] or [np.nan]
    low, median, high = np.percentile(seconds, (25, 50, 75))
    return float(low), float(median), float(high)
