"""The tables of a verdict card. Shares are in percent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from human_eval.formatting import versus
from human_eval.statistics.analysis import Analysis, Outcome
from human_eval.statistics.preference import Preference
from human_eval.statistics.ranking import SystemRanking
from rlsum.evaluation.agreement import Agreement
from rlsum.pages.table import DASH, UNDEFINED, Cell, Table, p_text

AGREEMENTS = {
    "alpha": "Krippendorff's alpha (ordinal)",
    "kappa": "Fleiss' kappa",
    "pairwise": "pairs of judges who agree, %",
    "correlation": "correlation within items",
}


def verdict_table(analysis: Analysis) -> Table:
    """One row a criterion and pair: the preferred system, its share with interval, and p."""
    alpha = analysis.settings.alpha
    rows = tuple(
        (
            Cell(outcome.criterion),
            Cell(versus(outcome.pair)),
            Cell(_verdict(outcome, alpha), mark=outcome.preferred(alpha) is not None),
            share_cell(outcome.half),
            Cell(p_text(outcome.p_holm), f"raw {p_text(outcome.half.p)}"),
            Cell(f"{outcome.half.items:,}"),
            Cell(f"{outcome.half.first:,} / {outcome.half.tied:,} / {outcome.half.second:,}"),
        )
        for outcome in analysis.outcomes
    )
    header = ("criterion", "first / second", "preferred", "share of the second, %", "p (Holm)", "items")
    return Table("Verdict", (*header, "votes: first / neither / second"), rows)


def sensitivity_table(analysis: Analysis) -> Table:
    """The verdict under other choices: ties dropped, no exclusions, and the naive test."""
    without_exclusions = analysis.everyone or analysis.outcomes
    rows = tuple(
        (
            Cell(outcome.criterion),
            Cell(versus(outcome.pair)),
            share_cell(outcome.half),
            Cell(p_text(outcome.half.p)),
            share_cell(outcome.dropped),
            Cell(p_text(outcome.dropped.p)),
            share_cell(full.half),
            Cell(p_text(full.half.p)),
            Cell("< 0.0001" if outcome.half.naive_p < 1e-4 else p_text(outcome.half.naive_p)),
        )
        for outcome, full in zip(analysis.outcomes, without_exclusions, strict=True)
    )
    header = ("criterion", "first / second", "ties half, %", "p", "ties dropped, %", "p", "all judges, %", "p")
    notes = (
        "p before Holm's correction. Naive: the binomial test on pooled untied votes. It assumes independent votes, "
        "rejects equality too often and is shown for comparison only.",
    )
    return Table("Under other choices", (*header, "p, naive"), rows, notes)


def agreement_table(analysis: Analysis) -> Table:
    """One row a criterion and pair, one column a measure of agreement."""
    rows = tuple(
        (
            Cell(criterion),
            Cell(versus(pair)),
            *(agreement_cell(measures[name], 100 if name == "pairwise" else 1) for name in AGREEMENTS),
            Cell(f"{measures['alpha'].n:,}"),
        )
        for (criterion, pair), measures in analysis.agreement.items()
    )
    notes = dict.fromkeys(
        f"{criterion}, {' and '.join(pair)}: {measure.reason}"
        for (criterion, pair), measures in analysis.agreement.items()
        for measure in measures.values()
        if measure.reason
    )
    header = ("criterion", "first / second", *AGREEMENTS.values(), "comparisons")
    return Table("Do the judges agree?", header, rows, tuple(notes))


def ranking_table(criterion: str, ranking: SystemRanking) -> Table:
    """One row a system, from strongest to weakest."""
    rows = tuple(
        (
            Cell(row.system),
            Cell(f"{row.strength:+.2f}", _span(row.low, row.high, "+.2f", " to ")),
            Cell(f"{100 * row.share:.1f}"),
            Cell("" if math.isnan(row.rank_low) else _span(row.rank_low, row.rank_high, ".0f", DASH)),
        )
        for row in ranking.systems
    )
    header = ("system", "log-strength", "expected to win, %", "rank, 95%")
    return Table(f"Ranking (Bradley-Terry): {criterion}", header, rows, (ranking.reason,) if ranking.reason else ())


def effects_table(analysis: Analysis) -> Table:
    """Votes for the left text and for the longer text, one row a criterion."""
    rows = tuple(
        (
            Cell(criterion),
            share_cell(order),
            Cell(p_text(order.p)),
            share_cell(analysis.length[criterion]),
            Cell(p_text(analysis.length[criterion].p)),
        )
        for criterion, order in analysis.order.items()
    )
    note = "50% is no effect. Length is an association, not a cause: the better system may write longer texts."
    header = ("criterion", "text on the left chosen, %", "p", "longer text chosen, %", "p")
    return Table("Sides and length", header, rows, (note,))


def judges_table(analysis: Analysis) -> Table:
    """One row a judge."""
    out = {row.judge: row.reason for row in analysis.excluded}
    pairs = analysis.votes.pairs
    rows = tuple(
        (
            Cell(audit.judge, f"left out: {out[audit.judge]}" if audit.judge in out else ""),
            Cell(f"{audit.tasks:,}"),
            Cell(_number(100 * audit.agreement, ".0f")),
            Cell(_number(100 * audit.left, ".0f")),
            Cell(_number(100 * audit.tied, ".0f")),
            Cell(_number(audit.seconds, ".0f")),
            Cell(f"{audit.failed} of {audit.checks}"),
            *(Cell(_number(100 * audit.without[pair], ".1f")) for pair in pairs),
        )
        for audit in analysis.judges
    )
    shares = tuple(f"{analysis.shown}, {versus(pair)}: the second without this judge, %" for pair in pairs)
    header = ("judge", "judgments", "agrees with the others, %", "left, %", "neither, %", "seconds", "checks failed")
    return Table("Judges", (*header, *shares), rows)


def metrics_table(analysis: Analysis) -> Table:
    """How often each metric chooses as people do: one row a metric, one column a criterion."""
    criteria = list(analysis.metrics)
    names = list(dict.fromkeys(name for metrics in analysis.metrics.values() for name in metrics))
    rows = tuple(
        (Cell(name), *(_accuracy(analysis.metrics[criterion][name]) for criterion in criteria)) for name in names
    )
    notes = (
        "50% is chance. Comparisons in which the mean vote is a tie are left out; a tie of the metric counts half. A "
        "judge is compared with the mean of the others, which has one judge fewer.",
    )
    return Table("Do metrics choose as people do? Accuracy, %", ("", *criteria), rows, notes)


def controls_table(analysis: Analysis) -> Table:
    """Preferences with each metric as control variate."""
    rows = tuple(
        (
            Cell(criterion),
            Cell(versus(pair)),
            Cell(metric),
            Cell(UNDEFINED, control.reason) if control.reason else _share(control.share, control.low, control.high),
            Cell(_number(100 * (1 - control.width), "+.1f")),
            Cell(_number(100 * (control.width**-2 - 1), "+.0f")),
            Cell(_number(control.correlation, ".2f")),
            Cell(f"{control.judged:,} + {control.others:,}", _undefined(control.undefined)),
        )
        for (criterion, pair), controls in analysis.controls.items()
        for metric, control in controls.items()
    )
    header = ("criterion", "first / second", "metric", "share of the second, %", "narrower by, %")
    columns = (*header, "as with more items, %", "r", "judged + scored only")
    notes = (
        "Control variates (Chaganty et al. 2018), with the metric's scores on unjudged items. No metric biases the "
        "estimate; an uninformative one does not narrow the interval.",
    )
    return Table("With the help of metrics", columns, rows, notes)


def share_cell(preference: Preference) -> Cell:
    """A share with its interval, marked if the interval excludes one half."""
    if math.isnan(preference.share):
        return Cell(UNDEFINED, preference.reason)
    return _share(preference.share, preference.low, preference.high)


def agreement_cell(agreement: Agreement, scale: float) -> Cell:
    """An agreement with its interval."""
    if math.isnan(agreement.value):
        return Cell(UNDEFINED)
    digits = "z.0f" if scale == 100 else "z.2f"  # z: no minus before zero
    return Cell(
        f"{scale * agreement.value:{digits}}", _span(scale * agreement.low, scale * agreement.high, digits, " to ")
    )


def _share(share: float, low: float, high: float) -> Cell:
    return Cell(f"{100 * share:.1f}", _span(100 * low, 100 * high, ".1f", DASH), low > 0.5 or high < 0.5)


def _accuracy(accuracy: Preference) -> Cell:
    cell = share_cell(accuracy)
    return Cell(
        cell.text, f"{cell.detail}; n {accuracy.first + accuracy.tied + accuracy.second:,}".lstrip("; "), cell.mark
    )


def _verdict(outcome: Outcome, alpha: float) -> str:
    if math.isnan(outcome.half.share):
        return UNDEFINED
    return outcome.preferred(alpha) or "no difference detected"


def _undefined(items: int) -> str:
    return f"{items:,} undefined" if items else ""


def _span(low: float, high: float, digits: str, between: str) -> str:
    return "no interval" if math.isnan(low) else f"{low:{digits}}{between}{high:{digits}}"


def _number(value: float, digits: str) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:{digits}}"


def all_tables(analysis: Analysis) -> Sequence[Table]:
    """All tables except the verdict, in the order of the card, without empty ones."""
    tables = (
        sensitivity_table(analysis),
        *(ranking_table(criterion, ranking) for criterion, ranking in analysis.rankings.items()),
        agreement_table(analysis),
        metrics_table(analysis),
        controls_table(analysis),
        effects_table(analysis),
        judges_table(analysis),
    )
    return [table for table in tables if table.rows]
