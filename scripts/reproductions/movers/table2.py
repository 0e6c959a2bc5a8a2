"""Table 2: the correlation of every metric with people on summaries and on essays, and the findings about it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reproductions.movers.correlations import Measured
from reproductions.movers.findings import findings
from reproductions.movers.metrics import LENGTH, MoverSetup
from reproductions.movers.pictures import intervals
from reproductions.published import ABSENT
from reproductions.reproduction import Reproduction
from rlsum.evaluation.agreement import Agreement
from rlsum.evaluation.correlation import Correlation
from rlsum.pages.table import DASH, UNDEFINED, Cell, Table

JUDGES = "one judge against the others"


def table2(setup: MoverSetup, measured: Sequence[Measured]) -> Reproduction:
    """Correlations with intervals, compared with length and with single judges."""
    return Reproduction(
        "table2",
        (_table(setup, measured),),
        (intervals(measured),),
        tuple(findings({texts.name: texts.estimates for texts in measured}, setup.kinds)),
        tuple(note for texts in measured for note in _notes(texts)),
    )


def _table(setup: MoverSetup, measured: Sequence[Measured]) -> Table:
    header = ("metric", *(f"{texts.name} (n = {len(texts.table):,})" for texts in measured))
    tops = [max(texts.table.metrics, key=texts.rank) for texts in measured]
    rows = [
        (
            Cell(label),
            *(
                _cell(texts.result.correlations[label].average, label == top)
                for texts, top in zip(measured, tops, strict=True)
            ),
        )
        for label in measured[0].table.columns
    ]
    rows.append((Cell(JUDGES), *(_cell(texts.result.ceiling) for texts in measured)))
    caption = (
        f"Table 2. Spearman's rho with people x 100; {setup.description}. "
        f"95% intervals draw whole inputs ({setup.resamples:,} resamples, seed {setup.seed}). Published: {ABSENT}."
    )
    return Table(caption, header, tuple(rows))


def _notes(measured: Measured) -> list[str]:
    """Choices, what is left out, and whether length has the highest correlation."""
    judgments = measured.judgments
    details = [*judgments.notes, *(f"{count:,} left out: {why}" for why, count in judgments.left_out.items())]
    notes = [f"{measured.name}: {'; '.join(details)}."] if details else []
    if max(measured.table.columns, key=measured.rank) == LENGTH:
        notes.append(f"On {measured.name} length alone correlates with people better than every metric.")
    return notes


def _cell(correlation: Correlation | Agreement | None, mark: bool = False) -> Cell:
    if correlation is None:
        return Cell(UNDEFINED)
    if math.isnan(correlation.value):
        return Cell(UNDEFINED, correlation.reason)
    return Cell(
        f"{100 * correlation.value:.1f}", f"{100 * correlation.low:.1f}{DASH}{100 * correlation.high:.1f}", mark
    )
