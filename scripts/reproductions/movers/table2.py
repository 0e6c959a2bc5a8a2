"""Table 2: every metric's correlation with people on summaries and on essays, and the findings that rest on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reproductions.movers.correlations import Measured
from reproductions.movers.findings import findings
from reproductions.movers.metrics import LENGTH, Setting
from reproductions.movers.pictures import intervals
from reproductions.published import ABSENT
from reproductions.study import Study
from rlsum.evaluation.agreement import Agreement
from rlsum.evaluation.correlation import Correlation
from rlsum.pages.table import DASH, UNDEFINED, Cell, Table

JUDGES = "one judge against the others"


def table2(setting: Setting, measured: Sequence[Measured]) -> Study:
    """Correlations with intervals, length alone and the judges beside them."""
    return Study(
        "table2",
        (_table(setting, measured),),
        tuple(row for each in measured for row in _rows(each)),
        (intervals(measured),),
        tuple(findings({each.name: each.estimates for each in measured}, setting.kinds)),
        tuple(note for each in measured for note in _notes(each)),
    )


def _table(setting: Setting, measured: Sequence[Measured]) -> Table:
    header = ("metric", *(f"{each.name} (n = {len(each.table):,})" for each in measured))
    tops = [max(each.table.metrics, key=each.rank) for each in measured]
    rows = [
        (Cell(label), *(_correlation(each, label, label == top) for each, top in zip(measured, tops, strict=True)))
        for label in measured[0].table.columns
    ]
    rows.append((Cell(JUDGES), *(_ceiling(each) for each in measured)))
    caption = (
        f"Table 2. Spearman's rho with people x 100; {setting.description}. "
        f"95% intervals draw whole inputs ({setting.resamples:,} resamples, seed {setting.seed}). Published: {ABSENT}."
    )
    return Table(caption, header, tuple(rows))


def _rows(measured: Measured) -> list[dict[str, Any]]:
    rows = []
    for label, column in measured.table.columns.items():
        found = measured.result.correlations[label].average
        numbers = {"rho_x100": found.value, "low_x100": found.low, "high_x100": found.high}
        rows.append(
            {
                "texts": measured.name,
                "metric": label,
                **{name: round(100 * value, 3) for name, value in numbers.items()},
                "published_x100": "" if label == LENGTH else ABSENT,
                "n": found.n,
                "coverage": found.coverage,
                "signature": column.signature,
            }
        )
    return rows


def _notes(measured: Measured) -> list[str]:
    """What was chosen and left out, and where length alone is the best of all."""
    judgments = measured.judgments
    said = [*judgments.notes, *(f"{count:,} left out: {why}" for why, count in judgments.left_out.items())]
    notes = [f"{measured.name}: {'; '.join(said)}."] if said else []
    if max(measured.table.columns, key=measured.rank) == LENGTH:
        notes.append(f"On {measured.name} length alone has a higher correlation with people than every metric.")
    return notes


def _correlation(measured: Measured, label: str, mark: bool) -> Cell:
    return _cell(measured.result.correlations[label].average, mark)


def _ceiling(measured: Measured) -> Cell:
    return Cell(UNDEFINED) if measured.result.ceiling is None else _cell(measured.result.ceiling)


def _cell(found: Correlation | Agreement, mark: bool = False) -> Cell:
    if math.isnan(found.value):
        return Cell(UNDEFINED, found.reason)
    return Cell(f"{100 * found.value:.1f}", f"{100 * found.low:.1f}{DASH}{100 * found.high:.1f}", mark)
