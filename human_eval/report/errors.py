"""Marked errors in sentences, tables and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from human_eval.formatting import versus
from human_eval.statistics.analysis import Analysis
from human_eval.statistics.errors import ALL, ErrorDifference, Errors, Estimate
from rlsum.pages.table import DASH, UNDEFINED, Cell, Table, p_text, p_words, text_table

UNIT = "errors per 100 words"


def error_findings(analysis: Analysis) -> Iterator[str]:
    """Which system has fewer errors, one sentence a pair."""
    for row in analysis.errors.differences if analysis.errors else ():
        if row.category == ALL:
            yield f"errors: {_difference(row, analysis.settings.alpha)}"


def error_tables(analysis: Analysis) -> list[Table]:
    """Rates, differences and agreement; empty without marked errors."""
    errors, settings = analysis.errors, analysis.settings
    return [_rates(errors, settings.level), _differences(errors, settings.alpha), _agreement(errors)] if errors else []


def error_rows(analysis: Analysis) -> Iterator[Sequence[Any]]:
    """A row for each rate and each difference."""
    fields = ("value", "low", "high", "p", "items", "judges", "reason")
    yield ("what", "first_system", "second_system", "category", *fields, "p_holm")
    if analysis.errors is None:
        return
    for rate in analysis.errors.rates:
        for what, estimate in ((UNIT, rate.rate), ("share of summaries with any", rate.share)):
            yield what, rate.system, None, rate.category, *asdict(estimate).values(), None
    for row in analysis.errors.differences:
        yield f"difference in {UNIT}", *row.pair, row.category, *asdict(row.difference).values(), row.p_holm


def _difference(row: ErrorDifference, alpha: float) -> str:
    first, second = row.pair
    gap = row.difference
    if math.isnan(gap.value):
        return f"no result for {first} and {second} ({gap.reason})"
    more, fewer = (second, first) if gap.value > 0 else (first, second)
    size = f"{abs(gap.value):.2f} {UNIT}"
    if math.isnan(row.p_holm):
        return f"{fewer} has {size} fewer than {more}; untested: {gap.reason}"
    low, high = sorted((abs(gap.low), abs(gap.high))) if gap.low * gap.high > 0 else (gap.low, gap.high)
    test = f"{p_words(row.p_holm)} after Holm, {gap.items} items, {gap.judges} judges, both random"
    if row.p_holm > alpha:
        return f"no difference between {first} and {second} is detected ({second} has {gap.value:+.2f} {UNIT}; {test})"
    return f"{fewer} has {size} fewer than {more} ({low:.2f} to {high:.2f}; {test})"


def _rates(errors: Errors, level: float) -> Table:
    systems = list(dict.fromkeys(row.system for row in errors.rates))
    by_name = {(row.category, row.system): row for row in errors.rates}
    header = ("error", *(f"{system}: {what}" for system in systems for what in ("per 100 words", "% of summaries")))
    rows = []
    for category in dict.fromkeys(row.category for row in errors.rates):
        both = [(by_name[category, system].rate, by_name[category, system].share) for system in systems]
        cells = (cell for rate, share in both for cell in (_cell(rate, 1), _cell(share, 100)))
        rows.append((Cell(category), *cells))
    reasons = dict.fromkeys(f"No interval: {row.rate.reason}." for row in errors.rates if row.rate.reason)
    note = f"Means over summaries with equal weight for items; {level:.0%} intervals take items and judges as random."
    return text_table("Errors that judges marked", header, rows, (note, *reasons))


def _differences(errors: Errors, alpha: float) -> Table:
    rows = []
    for row in errors.differences:
        difference = _cell(row.difference, 1, sign="+", mark=row.p_holm <= alpha)
        rows.append((row.category, versus(row.pair), difference, p_text(row.p_holm)))
    note = (
        "Of the two summaries that a judge saw together; items and judges as random. Holm's correction over pairs for "
        "all errors, and over pairs and categories for the others. All errors are claimed only where the votes on "
        "errors differ, and one kind only where all errors do. Bold: detected."
    )
    header = ("error", "first / second", "per 100 words, second minus first", "p (Holm)")
    return text_table("Which system has more errors?", header, rows, [note])


def _agreement(errors: Errors) -> Table:
    rows = []
    for name, agreement in errors.agreement.items():
        value = UNDEFINED if math.isnan(agreement.value) else f"{agreement.value:.2f}"
        rows.append((name, Cell(value, agreement.reason or _span(agreement.low, agreement.high)), f"{agreement.n:,}"))
    note = "F1 of marked characters, over pairs of judges (n: summaries); Krippendorff's alpha of words (n: words)."
    return text_table("Do the judges mark the same words?", ("", "agreement", "n"), rows, [note])


def _cell(estimate: Estimate, scale: float, sign: str = "", mark: bool = False) -> Cell:
    if math.isnan(estimate.value):
        return Cell(UNDEFINED)
    span = "" if math.isnan(estimate.low) else _span(scale * estimate.low, scale * estimate.high)
    return Cell(f"{scale * estimate.value:{sign}.2f}", span, mark)


def _span(low: float, high: float) -> str:
    if math.isnan(low):
        return "no interval"
    return f"{low:.2f}{DASH if low >= 0 else ' to '}{high:.2f}"
