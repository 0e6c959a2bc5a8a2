"""An analysis as data: results.json, which `plan --pilot` reads, and rows of CSV files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import Any

from human_eval.report.adherence import adherence
from human_eval.report.findings import findings, headline
from human_eval.report.warnings import warnings
from human_eval.statistics.analysis import Analysis
from human_eval.statistics.outcomes import Outcome
from human_eval.study import Pair
from rlsum.records import finite

FORMAT = 1


def to_json(analysis: Analysis) -> str:
    """results.json, as docs/concepts/studies.md describes it; undefined values are null."""
    votes, settings = analysis.votes, analysis.settings
    data = {
        "format": FORMAT,
        "title": votes.title,
        "systems": votes.systems,
        "criteria": votes.criteria,
        "settings": asdict(settings),
        "judges_kept": len({row.judge for row in analysis.kept.rows}),
        "equal_texts": len(votes.same),
        "naming_tasks": votes.naming,
        "training": asdict(votes.training) if votes.training else None,
        "excluded": [asdict(row) for row in analysis.excluded],
        "preferences": [_outcome(outcome, settings.alpha) for outcome in analysis.outcomes],
        "judges_with_few_checks": analysis.unchecked,
        "depends_on": [[row.criterion, row.pair, row.decided_by] for row in analysis.outcomes],
        "preferences_all_judges": [_outcome(outcome, settings.alpha) for outcome in analysis.everyone],
        "agreement": [
            {"criterion": criterion, "pair": pair, **{name: asdict(value) for name, value in measures.items()}}
            for (criterion, pair), measures in analysis.agreement.items()
        ],
        "rankings": {criterion: asdict(ranking) for criterion, ranking in analysis.rankings.items()},
        "scores": [asdict(row) for row in analysis.scores],
        "both_bad": [asdict(row) for row in analysis.bad],
        "left_chosen": {criterion: asdict(effect) for criterion, effect in analysis.order.items()},
        "longer_chosen": {criterion: asdict(effect) for criterion, effect in analysis.length.items()},
        "judges": [
            {**asdict(audit), "own": _by_pair(audit.own), "without": _by_pair(audit.without)}
            for audit in analysis.judges
        ],
        "metrics": {
            criterion: {name: asdict(accuracy) for name, accuracy in metrics.items()}
            for criterion, metrics in analysis.metrics.items()
        },
        "length_leads": {criterion: asdict(lead) for criterion, lead in analysis.leads.items()},
        "control_variates": [
            {"criterion": criterion, "pair": pair, "metric": metric, **asdict(control)}
            for (criterion, pair), controls in analysis.controls.items()
            for metric, control in controls.items()
        ],
        "errors": asdict(analysis.errors) if analysis.errors else None,
        "plan": [asdict(line) for line in adherence(analysis)],
        "verdict": headline(analysis),
        "findings": findings(analysis),
        "warnings": warnings(analysis),
    }
    return json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def preference_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A row for each criterion and pair, with and without excluded judges, with ties as half votes and dropped."""
    fields = ("share", "low", "high", "p", "items", "first", "tied", "second", "naive_p", "reason")
    values, verdict = attrgetter(*fields), attrgetter("p_holm", "low", "high")
    columns = ("p_holm", "low_simultaneous", "high_simultaneous", "preferred")
    alike = tuple(f"{name}_judges_like_these" for name in columns)
    yield ("judges", "ties", "criterion", "first_system", "second_system", *fields, *columns, *alike)
    for judges, outcomes in (("kept", analysis.outcomes), ("all", analysis.everyone)):
        for outcome in outcomes:
            where, alpha = (outcome.criterion, *outcome.pair), analysis.settings.alpha
            these = (*verdict(outcome.these), outcome.preferred(alpha))
            others = (*verdict(outcome.alike), outcome.preferred_by_others(alpha))
            yield judges, "half", *where, *values(outcome.half), *these, *others
            yield judges, "dropped", *where, *values(outcome.dropped), *8 * (None,)


def agreement_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A row for each criterion, pair and measure of agreement."""
    fields = ("value", "low", "high", "n", "judgments", "reason")
    yield ("criterion", "first_system", "second_system", "measure", *fields)
    for (criterion, pair), measures in analysis.agreement.items():
        for name, agreement in measures.items():
            yield criterion, *pair, name, *attrgetter(*fields)(agreement)


def metric_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A row for each criterion and metric."""
    values = attrgetter("share", "low", "high", "p", "items", "first", "tied", "second")
    yield ("criterion", "metric", "accuracy", "low", "high", "p", "items", "wrong", "tied", "right")
    for criterion, metrics in analysis.metrics.items():
        for name, accuracy in metrics.items():
            yield criterion, name, *values(accuracy)


def judge_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A row for each judge."""
    fields = ("judge", "tasks", "agreement", "left", "tied", "seconds", "failed", "checks")
    reasons = {row.judge: row.reason for row in analysis.excluded}
    yield (*fields, "left_out")
    for audit in analysis.judges:
        yield *attrgetter(*fields)(audit), reasons.get(audit.judge)


def vote_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A row for each vote, with the names of the systems; ``left_out`` marks excluded judges."""
    fields = ("criterion", "item", "comparison", "judge", "task", "preference", "longer", "left", "position", "seconds")
    excluded = {row.judge for row in analysis.excluded}
    yield ("first_system", "second_system", *fields, "left_out")
    for vote in analysis.votes.rows:
        yield *vote.pair, *attrgetter(*fields)(vote), int(vote.judge in excluded)


def _by_pair(shares: Mapping[Pair, float]) -> list[list[Any]]:
    return [[*pair, share] for pair, share in shares.items()]


def _outcome(outcome: Outcome, alpha: float) -> dict[str, Any]:
    return {
        "criterion": outcome.criterion,
        "pair": outcome.pair,
        "points": outcome.points,
        "preferred": outcome.preferred(alpha),
        "p_holm": outcome.p_holm,
        "low": outcome.these.low,
        "high": outcome.these.high,
        "judges_like_these": {
            "preferred": outcome.preferred_by_others(alpha),
            **asdict(outcome.alike),
            "unadjusted": asdict(outcome.random_judges),
        },
        "ties_half": asdict(outcome.half),
        "ties_dropped": asdict(outcome.dropped),
    }
