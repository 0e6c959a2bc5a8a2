"""The tables of a verdict card. Shares are in percent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from human_eval.formatting import versus
from human_eval.report.adherence import plan_table
from human_eval.report.amounts import number, share_of_the_second
from human_eval.report.errors import error_tables
from human_eval.statistics.agreement import AGREEMENTS
from human_eval.statistics.analysis import Analysis
from human_eval.statistics.control_variate import ControlVariate
from human_eval.statistics.outcomes import Verdict
from human_eval.statistics.preference import Preference
from human_eval.statistics.ranking import SystemRanking
from rlsum.evaluation.agreement import Agreement
from rlsum.pages.table import DASH, UNDEFINED, Cell, Row, Table, p_text, p_words, text_table


def verdict_table(analysis: Analysis) -> Table:
    """One row a criterion and pair: what is claimed, and the tests of these judges and of judges like them."""
    alpha = analysis.settings.alpha
    rows = []
    for outcome in analysis.outcomes:
        half, random = outcome.half, outcome.random_judges
        share = number(half.share, outcome.points) if half.items else UNDEFINED
        preferred = outcome.preferred(alpha)
        none = "none claimed" if outcome.leaning(alpha) else "no difference detected"
        claim = Cell(preferred or none, mark=preferred is not None) if half.items else UNDEFINED
        these = _tested(outcome.these, half.p, outcome.points)
        alike = _tested(outcome.alike, random.p, outcome.points)
        counts = f"{half.items:,} / {random.judges:,}", f"{half.first:,} / {half.tied:,} / {half.second:,}"
        rows.append((outcome.criterion, versus(outcome.pair), share, claim, *these, *alike, *counts))
    second = share_of_the_second({outcome.points for outcome in analysis.outcomes})
    header = ("criterion", "first / second", second, "preferred", "these judges", "p (Holm)")
    others = ("judges like these", "p (Holm)", "items / judges", "votes: first / neither / second")
    together = "simultaneous" if len(rows) > 1 else f"{1 - alpha:.0%}"
    note = f"These judges, judges like these: the {together} interval of the {second.replace(', %', ', in percent')}."
    return text_table("Verdict", (*header, *others), rows, [note])


def _tested(verdict: Verdict, p: float, points: float) -> tuple[Cell, Cell]:
    """The interval that answers one question, and p after Holm's correction and before it."""
    if math.isnan(p):
        return Cell("no test"), Cell(UNDEFINED)
    return Cell(_range(verdict.low, verdict.high, points)), Cell(p_text(verdict.p_holm), f"raw {p_text(p)}")


def sensitivity_table(analysis: Analysis) -> Table:
    """The verdict under other choices: ties dropped, no exclusions, and the naive test."""
    rows = []
    for outcome, full in zip(analysis.outcomes, analysis.everyone or analysis.outcomes, strict=True):
        choices = (outcome.half, outcome.dropped, full.half)
        tests = [cell for row in choices for cell in (share_cell(row, outcome.points), Cell(p_text(row.p)))]
        naive = "< 0.0001" if outcome.half.naive_p < 1e-4 else p_text(outcome.half.naive_p)
        rows.append((Cell(outcome.criterion), Cell(versus(outcome.pair)), *tests, Cell(naive)))
    unit = "" if any(outcome.points for outcome in analysis.outcomes) else ", %"
    columns = (f"ties half{unit}", "p", f"ties dropped{unit}", "p", f"all judges{unit}", "p")
    header = ("criterion", "first / second", *columns)
    note = (
        "p before Holm's correction. Naive: the binomial test on pooled untied votes. It assumes independent votes, "
        "rejects equality too often and is shown for comparison only."
    )
    return text_table("Under other choices", (*header, "p, naive"), rows, [note])


def agreement_table(analysis: Analysis) -> Table:
    """One row a criterion and pair, one column a measure of agreement."""
    rows: list[Row] = []
    notes: dict[str, None] = {}  # each once
    for (criterion, pair), measures in analysis.agreement.items():
        cells = [agreement_cell(measures[name], 100 if name == "pairwise" else 1) for name in AGREEMENTS]
        rows.append((criterion, versus(pair), *cells, f"{measures['alpha'].n:,}"))
        reasons = [measure.reason for measure in measures.values() if measure.reason]
        notes |= dict.fromkeys(f"{criterion}, {' and '.join(pair)}: {reason}" for reason in reasons)
    header = ("criterion", "first / second", *(heading for heading, _ in AGREEMENTS.values()), "comparisons")
    return text_table("Do the judges agree?", header, rows, notes)


def ranking_table(criterion: str, ranking: SystemRanking) -> Table:
    """One row a system, in the order of the estimates."""
    rows = (
        (
            row.system,
            Cell(f"{row.strength:+.2f}", "" if ranking.reason else _span(row.low, row.high, "+.2f", " to ")),
            _number(100 * row.share, ".1f"),
            _span(row.rank_low, row.rank_high, ".0f", DASH) if row.rank_low < row.rank_high else f"{row.rank_low}",
        )
        for row in ranking.systems
    )
    strength, model = ("points, mean 0", "Scheffe") if ranking.points else ("log-strength", "Bradley-Terry")
    header = ("system", strength, "expected to win, %", "ranks that the tests allow")
    note = (
        "In the order of the estimates, which the tests need not support. Intervals are simultaneous and take items "
        "and judges as random. Ranks are those that the tests of these judges do not exclude."
    )
    return text_table(f"Ranking ({model}): {criterion}", header, rows, filter(None, (note, ranking.reason)))


def scores_table(analysis: Analysis) -> Table:
    """What each system got on the scale, one row a criterion, one column a system."""
    cells = {
        (row.criterion, row.system): Cell(f"{row.mean:.2f}", _span(row.low, row.high, ".2f", " to "))
        for row in analysis.scores
    }
    systems, criteria = analysis.votes.systems, dict.fromkeys(criterion for criterion, _ in cells)
    rows = ((name, *(cells.get((name, system), UNDEFINED) for system in systems)) for name in criteria)
    note = (
        "Means of ratings, of ranks (1 is the best), or of 1 for the best and -1 for the worst. Intervals take "
        "items as random. Differences are tested within the answers of each judge, not between these means."
    )
    return text_table("What each system got", ("criterion", *systems), rows, [note])


def bad_table(analysis: Analysis) -> Table:
    """How often both texts are bad, one row a criterion and pair."""
    rows = (
        (row.criterion, versus(row.pair), Cell(f"{100 * row.share:.1f}", _range(row.low, row.high, 0)), f"{row.items}")
        for row in analysis.bad
    )
    note = "Such an answer counts as no difference. Intervals take items as random."
    return text_table("Both are bad", ("criterion", "first / second", "of the answers, %", "items"), rows, [note])


def effects_table(analysis: Analysis) -> Table:
    """Votes for the left text and for the longer text, one row a criterion."""
    rows = []
    for criterion, order in analysis.order.items():
        length = analysis.length[criterion]
        rows.append((criterion, share_cell(order), p_text(order.p), share_cell(length), p_text(length.p)))
    note = (
        f"50% is no effect. {_bold(analysis)} Length is an association, not a cause: the better system may write "
        "longer texts."
    )
    header = ("criterion", f"{analysis.votes.earlier} chosen, %", "p", "longer text chosen, %", "p")
    return text_table("Sides and length", header, rows, [note])


def judges_table(analysis: Analysis) -> Table:
    """One row a judge."""
    out = {row.judge: f"left out: {row.reason}" for row in analysis.excluded}
    pairs, points = analysis.votes.pairs, analysis.votes.kind(analysis.shown).points
    rows: list[Row] = []
    for audit in analysis.judges:
        percents = (_number(100 * share, ".0f") for share in (audit.agreement, audit.left, audit.tied))
        shares = (_amount(shares_of[pair], points) for pair in pairs for shares_of in (audit.own, audit.without))
        numbers = (*percents, _number(audit.seconds, ".0f"), f"{audit.failed} of {audit.checks}", *shares)
        rows.append((Cell(audit.judge, out.get(audit.judge, "")), f"{audit.tasks:,}", *numbers))
    columns = (
        f"{analysis.shown}, {versus(pair)}: the second {votes}, {'points' if points else '%'}"
        for pair in pairs
        for votes in ("by this judge", "without this judge")
    )
    header = ("judge", "judgments", "agrees with the others, %", "left, %", "neither, %", "seconds", "checks failed")
    return text_table("Judges", (*header, *columns), rows)


def metrics_table(analysis: Analysis) -> Table:
    """How often each metric chooses as people do: one row a metric, one column a criterion."""
    columns = analysis.metrics.values()
    names = dict.fromkeys(name for metrics in columns for name in metrics)
    rows = ((Cell(name), *(_accuracy(metrics[name]) for metrics in columns)) for name in names)
    note = (
        f"50% is chance. {_bold(analysis)} Comparisons in which the mean vote is a tie are left out; a tie of the "
        "metric counts half. A judge is compared with the mean of the others, which has one judge fewer, so a judge's "
        "accuracy is lower than it would be on the metrics' terms; ties of the judge or of the others count half."
    )
    return text_table("Do metrics choose as these judges do? Accuracy, %", ("", *analysis.metrics), rows, [note])


def controls_table(analysis: Analysis) -> Table:
    """Preferences with each metric as control variate."""
    rows = (
        (
            criterion,
            versus(pair),
            metric,
            share_cell(control, analysis.votes.kind(criterion).points),
            _number(100 * (1 - control.width), "+.1f"),
            _number(100 * (control.width**-2 - 1), "+.0f"),
            Cell(_number(control.correlation, ".2f"), p_words(control.p) if control.p == control.p else ""),
            Cell(
                f"{control.judged:,} + {control.others:,}",
                f"{control.undefined:,} undefined" if control.undefined else "",
            ),
        )
        for (criterion, pair), controls in analysis.controls.items()
        for metric, control in controls.items()
    )
    second = share_of_the_second({analysis.votes.kind(criterion).points for criterion, _ in analysis.controls})
    header = ("criterion", "first / second", "metric", second, "narrower by, %")
    columns = (*header, "as with more items, %", "r", "judged + scored only")
    note = (
        "Control variates (Chaganty et al. 2018), with the metric's scores on unjudged items. No metric biases the "
        "estimate. One without correlation narrows the interval by chance only, and so does the best of many."
    )
    return text_table("With the help of metrics", columns, rows, [note])


def share_cell(estimate: Preference | ControlVariate, points: float = 0.0) -> Cell:
    """A share with its interval, or its points, marked if the interval excludes no difference."""
    if math.isnan(estimate.share):
        return Cell(UNDEFINED, estimate.reason)
    span = _range(estimate.low, estimate.high, points)
    return Cell(number(estimate.share, points), span, estimate.low >= 0.5 or estimate.high <= 0.5)


def agreement_cell(agreement: Agreement, scale: float) -> Cell:
    """An agreement with its interval."""
    digits = "z.0f" if scale == 100 else "z.2f"  # z: no minus before zero
    value, low, high = (scale * end for end in (agreement.value, agreement.low, agreement.high))
    return Cell(UNDEFINED) if math.isnan(value) else Cell(f"{value:{digits}}", _span(low, high, digits, " to "))


def _accuracy(accuracy: Preference) -> Cell:
    cell, n = share_cell(accuracy), accuracy.first + accuracy.tied + accuracy.second
    return replace(cell, detail=f"{cell.detail}; n {n:,}".lstrip("; "))


def _bold(analysis: Analysis) -> str:
    return f"Bold: the {analysis.settings.level:.0%} interval of this cell alone excludes 50%."


def _amount(share: float, points: float) -> str:
    return UNDEFINED if math.isnan(share) else number(share, points)


def _range(low: float, high: float, points: float) -> str:
    """The ends of an interval of a share, or of points."""
    if math.isnan(low):
        return "no interval"
    return f"{number(low, points)}{' to ' if points else DASH}{number(high, points)}"


def _span(low: float, high: float, digits: str, between: str) -> str:
    return "no interval" if math.isnan(low) else f"{low:{digits}}{between}{high:{digits}}"


def _number(value: float, digits: str) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:{digits}}"


def all_tables(analysis: Analysis) -> Sequence[Table]:
    """All tables except the verdict, in the order of the card, without empty ones."""
    tables = (
        plan_table(analysis),
        *error_tables(analysis),
        sensitivity_table(analysis),
        scores_table(analysis),
        bad_table(analysis),
        *(ranking_table(criterion, ranking) for criterion, ranking in analysis.rankings.items()),
        agreement_table(analysis),
        metrics_table(analysis),
        controls_table(analysis),
        effects_table(analysis),
        judges_table(analysis),
    )
    return [table for table in tables if table.rows]
