"""The tables of a verdict card, built once for every form it takes. Shares are in percent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from human_eval.formatting import versus
from human_eval.statistics.analysis import Analysis, Outcome
from human_eval.statistics.preference import Preference
from human_eval.statistics.ranking import Ranking
from rlsum.evaluation.agreement import Agreement
from rlsum.pages.table import DASH, UNDEFINED, Cell, Table, p_text

AGREEMENTS = {
    "alpha": "Krippendorff's alpha (ordinal)",
    "kappa": "Fleiss' kappa",
    "pairwise": "pairs of judges who agree, %",
    "correlation": "correlation within items",
}


def verdict_table(analysis: Analysis) -> Table:
    """One row a criterion and pair: who is preferred, by how much, how surely."""
    alpha = analysis.settings.alpha
    rows = tuple(
        (
            Cell(each.criterion),
            Cell(versus(each.pair)),
            Cell(_verdict(each, alpha), mark=each.preferred(alpha) is not None),
            share_cell(each.half),
            Cell(p_text(each.p_holm), f"raw {p_text(each.half.p)}"),
            Cell(f"{each.half.items:,}"),
            Cell(f"{each.half.first:,} / {each.half.tied:,} / {each.half.second:,}"),
        )
        for each in analysis.outcomes
    )
    header = ("criterion", "first / second", "preferred", "share of the second, %", "p (Holm)", "items")
    return Table("Verdict", (*header, "votes: first / neither / second"), rows)


def sensitivity_table(analysis: Analysis) -> Table:
    """The same under other choices: ties dropped, nobody left out, and the naive test that nobody should make."""
    everyone = analysis.everyone or analysis.outcomes
    rows = tuple(
        (
            Cell(each.criterion),
            Cell(versus(each.pair)),
            share_cell(each.half),
            Cell(p_text(each.half.p)),
            share_cell(each.dropped),
            Cell(p_text(each.dropped.p)),
            share_cell(full.half),
            Cell(p_text(full.half.p)),
            Cell("< 0.0001" if each.half.naive_p < 1e-4 else p_text(each.half.naive_p)),
        )
        for each, full in zip(analysis.outcomes, everyone, strict=True)
    )
    header = ("criterion", "first / second", "ties half, %", "p", "ties dropped, %", "p", "all judges, %", "p")
    notes = (
        "p before Holm's correction. Naive: the binomial test on pooled untied votes, as if votes on one item were "
        "independent; it calls equal systems different too often and is shown for comparison only.",
    )
    return Table("Under other choices", (*header, "p, naive"), rows, notes)


def agreement_table(analysis: Analysis) -> Table:
    """Criteria and pairs against measures of agreement."""
    rows = tuple(
        (
            Cell(criterion),
            Cell(versus(pair)),
            *(agreement_cell(found[name], 100 if name == "pairwise" else 1) for name in AGREEMENTS),
            Cell(f"{found['alpha'].n:,}"),
        )
        for (criterion, pair), found in analysis.agreement.items()
    )
    notes = dict.fromkeys(
        f"{criterion}, {' and '.join(pair)}: {each.reason}"
        for (criterion, pair), found in analysis.agreement.items()
        for each in found.values()
        if each.reason
    )
    header = ("criterion", "first / second", *AGREEMENTS.values(), "comparisons")
    return Table("Do the judges agree?", header, rows, tuple(notes))


def ranking_table(criterion: str, ranking: Ranking) -> Table:
    """Systems from strongest to weakest."""
    rows = tuple(
        (
            Cell(each.system),
            Cell(f"{each.strength:+.2f}", _span(each.low, each.high, "+.2f", " to ")),
            Cell(f"{100 * each.share:.1f}"),
            Cell("" if math.isnan(each.rank_low) else _span(each.rank_low, each.rank_high, ".0f", DASH)),
        )
        for each in ranking.systems
    )
    header = ("system", "log-strength", "expected to win, %", "rank, 95%")
    return Table(f"Ranking (Bradley-Terry): {criterion}", header, rows, (ranking.reason,) if ranking.reason else ())


def effects_table(analysis: Analysis) -> Table:
    """The left text and the longer text, by criterion."""
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
    note = "50% is no effect. The better system may be the longer one: the right half is an association, not a cause."
    header = ("criterion", "text on the left chosen, %", "p", "longer text chosen, %", "p")
    return Table("Sides and length", header, rows, (note,))


def judges_table(analysis: Analysis) -> Table:
    """Every judge against the rest."""
    out = {each.judge: each.reason for each in analysis.excluded}
    pairs = analysis.votes.pairs
    rows = tuple(
        (
            Cell(each.judge, f"left out: {out[each.judge]}" if each.judge in out else ""),
            Cell(f"{each.tasks:,}"),
            Cell(_number(100 * each.agreement, ".0f")),
            Cell(_number(100 * each.left, ".0f")),
            Cell(_number(100 * each.tied, ".0f")),
            Cell(_number(each.seconds, ".0f")),
            Cell(f"{each.failed} of {each.checks}"),
            *(Cell(_number(100 * each.without[pair], ".1f")) for pair in pairs),
        )
        for each in analysis.judges
    )
    shares = tuple(f"{analysis.shown}: {pair[1]} without this judge, %" for pair in pairs)
    header = ("judge", "judgments", "agrees with the rest, %", "left, %", "neither, %", "seconds", "checks failed")
    return Table("Judges", (*header, *shares), rows)


def metrics_table(analysis: Analysis) -> Table:
    """Names against criteria: how often each chooses as people do."""
    criteria = list(analysis.metrics)
    names = list(dict.fromkeys(name for found in analysis.metrics.values() for name in found))
    rows = tuple(
        (Cell(name), *(_accuracy(analysis.metrics[criterion][name]) for criterion in criteria)) for name in names
    )
    notes = (
        "50% is chance. Comparisons on which the mean vote is a tie are left out; a metric's tie counts half. A judge "
        "is held against the mean of the others, one judge fewer than the metrics are.",
    )
    return Table("Do metrics choose as people do? Accuracy, %", ("", *criteria), rows, notes)


def controls_table(analysis: Analysis) -> Table:
    """Preferences with the help of each metric."""
    rows = tuple(
        (
            Cell(criterion),
            Cell(versus(pair)),
            Cell(metric),
            Cell(UNDEFINED, each.reason) if each.reason else _share(each.share, each.low, each.high),
            Cell(_number(100 * (1 - each.width), "+.1f")),
            Cell(_number(100 * (each.width**-2 - 1), "+.0f")),
            Cell(_number(each.correlation, ".2f")),
            Cell(f"{each.judged:,} + {each.others:,}", f"{each.undefined:,} undefined" if each.undefined else ""),
        )
        for (criterion, pair), controls in analysis.controls.items()
        for metric, each in controls.items()
    )
    header = (
        "criterion",
        "first / second",
        "metric",
        "share of the second, %",
        "narrower by, %",
        "as with more items, %",
    )
    notes = (
        "Control variates (Chaganty et al. 2018): the judged items' luck in a metric, known from the items that were "
        "scored only, is taken out. No metric can bias this; a useless one does not narrow it.",
    )
    return Table("With the help of metrics", (*header, "r", "judged + scored only"), rows, notes)


def share_cell(found: Preference) -> Cell:
    """A share with its interval, marked where that excludes one half."""
    if math.isnan(found.share):
        return Cell(UNDEFINED, found.reason)
    return _share(found.share, found.low, found.high)


def agreement_cell(found: Agreement, scale: float) -> Cell:
    """An agreement with its interval."""
    if math.isnan(found.value):
        return Cell(UNDEFINED)
    digits = ".0f" if scale == 100 else ".2f"
    return Cell(f"{scale * found.value:{digits}}", _span(scale * found.low, scale * found.high, digits, " to "))


def _share(share: float, low: float, high: float) -> Cell:
    return Cell(f"{100 * share:.1f}", _span(100 * low, 100 * high, ".1f", DASH), low > 0.5 or high < 0.5)


def _accuracy(found: Preference) -> Cell:
    cell = share_cell(found)
    return Cell(cell.text, f"{cell.detail}; n {found.first + found.tied + found.second:,}".lstrip("; "), cell.mark)


def _verdict(outcome: Outcome, alpha: float) -> str:
    if math.isnan(outcome.half.share):
        return UNDEFINED
    return outcome.preferred(alpha) or "no difference detected"


def _span(low: float, high: float, digits: str, between: str) -> str:
    return "no interval" if math.isnan(low) else f"{low:{digits}}{between}{high:{digits}}"


def _number(value: float, digits: str) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:{digits}}"


def all_tables(analysis: Analysis) -> Sequence[Table]:
    """Every table but the verdict, in the order of the card; those without rows are left out."""
    found = (
        sensitivity_table(analysis),
        *(ranking_table(criterion, ranking) for criterion, ranking in analysis.rankings.items()),
        agreement_table(analysis),
        metrics_table(analysis),
        controls_table(analysis),
        effects_table(analysis),
        judges_table(analysis),
    )
    return [table for table in found if table.rows]
