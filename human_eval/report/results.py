"""An analysis as data: results.json, which other reports and plans read, and rows for CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from human_eval.report.findings import findings, warnings
from human_eval.statistics.analysis import Analysis, Outcome
from rlsum.records import finite

FORMAT = 1


def to_json(analysis: Analysis) -> str:
    """Everything that was found, as docs/human_eval.md describes it; what is undefined is null."""
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
        "excluded": [asdict(each) for each in analysis.excluded],
        "preferences": [_outcome(each, settings.alpha) for each in analysis.outcomes],
        "preferences_all_judges": [_outcome(each, settings.alpha) for each in analysis.everyone],
        "agreement": [
            {"criterion": criterion, "pair": pair, **{name: asdict(each) for name, each in found.items()}}
            for (criterion, pair), found in analysis.agreement.items()
        ],
        "rankings": {criterion: asdict(found) for criterion, found in analysis.rankings.items()},
        "left_chosen": {criterion: asdict(found) for criterion, found in analysis.order.items()},
        "longer_chosen": {criterion: asdict(found) for criterion, found in analysis.length.items()},
        "judges": [
            {**asdict(each), "without": [[*pair, share] for pair, share in each.without.items()]}
            for each in analysis.judges
        ],
        "metrics": {
            criterion: {name: asdict(each) for name, each in found.items()}
            for criterion, found in analysis.metrics.items()
        },
        "control_variates": [
            {"criterion": criterion, "pair": pair, "metric": metric, **asdict(each)}
            for (criterion, pair), controls in analysis.controls.items()
            for metric, each in controls.items()
        ],
        "findings": findings(analysis),
        "warnings": warnings(analysis),
    }
    return json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def preference_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A criterion and pair a line, of the judges kept and of all."""
    fields = ("share", "low", "high", "p", "items", "first", "tied", "second", "naive_p", "reason")
    yield ("judges", "ties", "criterion", "first_system", "second_system", *fields, "p_holm", "preferred")
    for judges, outcomes in (("kept", analysis.outcomes), ("all", analysis.everyone)):
        for each in outcomes:
            told = (_cell(each.p_holm), each.preferred(analysis.settings.alpha) or "")
            for ties, found, end in (("half", each.half, told), ("dropped", each.dropped, ("", ""))):
                values = (_cell(getattr(found, name)) for name in fields)
                yield tuple(map(_cell, (judges, ties, each.criterion, *each.pair, *values, *end)))


def agreement_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A criterion, pair and measure a line."""
    fields = ("value", "low", "high", "n", "judgments", "reason")
    yield ("criterion", "first_system", "second_system", "measure", *fields)
    for (criterion, pair), found in analysis.agreement.items():
        for name, each in found.items():
            yield criterion, *pair, name, *(_cell(getattr(each, field)) for field in fields)


def metric_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """The accuracy of a metric on a criterion a line."""
    fields = ("share", "low", "high", "p", "items", "first", "tied", "second")
    names = ("accuracy", "low", "high", "p", "items", "wrong", "tied", "right")
    yield ("criterion", "metric", *names)
    for criterion, found in analysis.metrics.items():
        for name, each in found.items():
            yield criterion, name, *(_cell(getattr(each, field)) for field in fields)


def judge_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A judge a line."""
    fields = ("tasks", "agreement", "left", "tied", "seconds", "failed", "checks")
    out = {each.judge: each.reason for each in analysis.excluded}
    yield ("judge", *fields, "left_out")
    for each in analysis.judges:
        yield each.judge, *(_cell(getattr(each, field)) for field in fields), out.get(each.judge, "")


def vote_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A vote a line, with the systems' names; judges who were left out are marked."""
    fields = ("criterion", "item", "comparison", "judge", "task", "preference", "longer", "left", "position", "seconds")
    out = {each.judge for each in analysis.excluded}
    yield ("first_system", "second_system", *fields, "left_out")
    for row in analysis.votes.rows:
        yield *row.pair, *(_cell(getattr(row, field)) for field in fields), int(row.judge in out)


def _outcome(outcome: Outcome, alpha: float) -> dict[str, Any]:
    return {
        "criterion": outcome.criterion,
        "pair": outcome.pair,
        "preferred": outcome.preferred(alpha),
        "p_holm": outcome.p_holm,
        "ties_half": asdict(outcome.half),
        "ties_dropped": asdict(outcome.dropped),
    }


def _cell(value: Any) -> Any:
    """A value for CSV: nothing for NaN and None."""
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value
