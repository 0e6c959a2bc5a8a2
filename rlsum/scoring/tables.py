"""Tables of systems: scores (always times 100), properties of summaries in their units, differences of systems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from rlsum.evaluation.statistics import Interval
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table, difference_cell, interval_cell, p_text
from rlsum.scoring.comparison import OF_CORPUS, PairedDifference, Resampling
from rlsum.scoring.properties import PROPERTIES

UNKNOWN = Interval(math.nan, math.nan, math.nan, 0)  # a property that a row scored by an earlier version lacks


def metric_table(
    rows: Mapping[str, Mapping[str, Interval]],
    missing: Mapping[str, str],
    caption: str,
    notes: Iterable[str] = (),
    headings: Mapping[str, str] | None = None,
    corpus: Mapping[str, Mapping[str, float]] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Table:
    """Systems x metrics; ``missing`` maps metric -> why its column is empty.

    ``headings`` maps metric -> the heading of its column, by default its name. ``corpus`` maps system -> metric -> the
    value of all its outputs together, in a column of its own. ``sizes``: system -> the number of its outputs; a mean of
    fewer says so.
    """
    names, counts = headings or {}, sizes or {}
    corpus_metrics = list(dict.fromkeys(name for values in (corpus or {}).values() for name in values))
    metrics = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = tuple(
        (
            Cell(system),
            *(interval_cell(row[name], SCALE, 2, of=counts.get(system)) for name in metrics),
            *(_corpus_cell((corpus or {})[system][name]) for name in corpus_metrics),
            *(Cell("not computed") for _ in missing),
        )
        for system, row in rows.items()
    )
    reasons = tuple(f"{name}: {reason}" for name, reason in missing.items())
    header = (*metrics, *corpus_metrics, *missing)
    suffixes = (*("" for _ in metrics), *(OF_CORPUS for _ in corpus_metrics), *("" for _ in missing))
    titles = (names.get(name, name) + suffix for name, suffix in zip(header, suffixes, strict=True))
    return Table(caption, ("system", *titles), cells, (*notes, *reasons))


def property_table(
    rows: Mapping[str, Mapping[str, Interval]],
    caption: str,
    notes: Iterable[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> Table:
    """Systems x properties in their units, with intervals; notes describe the properties. ``sizes`` as above."""
    counts = sizes or {}
    shown = [PROPERTIES[name] for name in dict.fromkeys(name for row in rows.values() for name in row)]
    cells = tuple(
        (
            Cell(system),
            *(
                interval_cell(row.get(measure.name, UNKNOWN), measure.scale, measure.digits, of=counts.get(system))
                for measure in shown
            ),
        )
        for system, row in rows.items()
    )
    described = "; ".join(f"{measure.title}: {measure.description}" for measure in shown if measure.description)
    legend = (f"{described}.",) if described else ()
    return Table(caption, ("system", *(measure.label for measure in shown)), cells, (*legend, *notes))


def difference_table(
    comparisons: Sequence[PairedDifference], resampling: Resampling, caption: str, notes: Iterable[str] = ()
) -> Table:
    """One row a comparison: difference with interval, p, Holm-adjusted p, and the number of items."""
    cells = tuple(
        (
            Cell(item.system),
            Cell(item.metric),
            comparison_cell(item, resampling.alpha),
            Cell(p_text(item.p)),
            Cell(p_text(item.p_holm)),
            Cell(f"{item.interval.n:,}"),
        )
        for item in comparisons
    )
    header = ("system", "metric", f"difference x {SCALE}", "p", "p (Holm)", "items")
    legend = f"Bold: different, p (Holm) at most {resampling.alpha}; the interval is not corrected."
    return Table(caption, header, cells, (legend, *notes))


def comparison_cell(comparison: PairedDifference, alpha: float) -> Cell:
    """A signed difference with its interval, marked where a test of level ``alpha`` shows that the two differ."""
    mean, low, high, _ = comparison.interval
    few = "too few items for an interval" if math.isnan(low) and not math.isnan(mean) else ""
    few = "no interval" if comparison.metric.endswith(OF_CORPUS) else few
    return difference_cell(mean, low, high, mark=comparison.p_holm <= alpha, note=few)


def _corpus_cell(value: float) -> Cell:
    return Cell(UNDEFINED if math.isnan(value) else f"{value * SCALE:.2f}", "one value")
