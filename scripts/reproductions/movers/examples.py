"""Table 3: texts in the top quartile by one metric and in the bottom quartile by another.

The texts belong to their publishers; they are written only to the terminal and to the folder of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reproductions.movers.correlations import Measured
from reproductions.movers.metrics import MOVERS, ROUGE_L, S_WMS, SMS, MoverSetup, VectorKind, named
from reproductions.reproduction import Reproduction
from rlsum.evaluation.rows import Floats, Ints
from rlsum.pages.table import UNDEFINED, Cell, Table, text_table

BOTTOM, TOP = 1, 4
SHOWN = ("bottom", "second", "third", "top")


@dataclass(frozen=True)
class Disagreement:
    """The ``rows`` of a table of scores in the top quartile by some metrics and in the bottom quartile by others.

    They are sorted by the difference in the share of lower-scored texts. ``kind`` is that of the movers' vectors.
    """

    kind: VectorKind
    top: tuple[str, ...]
    bottom: tuple[str, ...]
    rows: tuple[int, ...]

    @property
    def words(self) -> str:
        """``top by ROUGE-L F1, bottom by SMS and S+WMS (static)``."""
        return f"top by {_listed(self.top)}, bottom by {_listed(self.bottom)} ({self.kind})"


def table3(setup: MoverSetup, measured: Sequence[Measured], shown: int) -> Reproduction:
    """The counts of such disagreements, people's mean scores, and ``shown`` examples of each kind."""
    counts: list[tuple[Cell, ...]] = []
    records, examples = [], []
    for texts in measured:
        counts.append((Cell(f"all {texts.name}"), *_count(texts.table.human)))
        for case in (one for kind in setup.kinds for one in disagreements(texts, kind)):
            counts.append((Cell(f"{texts.name}, {case.words}"), *_count(texts.table.human[list(case.rows)])))
            records += [_record(texts, case, row) for row in case.rows]
            if len(case.top) + len(case.bottom) > 2:  # like the paper's: several metrics at once
                examples += [_example(texts, case, row) for row in case.rows[:shown]]
    title = "Table 3. Top quartile by one metric, bottom quartile by another"
    return Reproduction(
        "table3", (Table(title, ("texts", "n", "people's mean"), tuple(counts)), *examples), tuple(records)
    )


def disagreements(measured: Measured, kind: VectorKind) -> list[Disagreement]:
    """ROUGE-L against each mover, and the two kinds of the paper's examples: against several movers at once."""
    sides: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((mover,), (ROUGE_L,)) for mover in MOVERS]
    sides += [((ROUGE_L,), (mover,)) for mover in MOVERS]
    sides += [(MOVERS, (ROUGE_L,)), ((ROUGE_L,), (SMS, S_WMS))]
    return [disagreement(measured, kind, top, bottom) for top, bottom in sides]


def disagreement(measured: Measured, kind: VectorKind, top: tuple[str, ...], bottom: tuple[str, ...]) -> Disagreement:
    """The texts in the top quartile by all metrics of ``top`` and in the bottom quartile by all of ``bottom``."""
    above, below = (
        [measured.table.scores(name if name == ROUGE_L else named(name, kind)) for name in names]
        for names in (top, bottom)
    )
    high = np.all([quartiles(scores) == TOP for scores in above], axis=0)
    low = np.all([quartiles(scores) == BOTTOM for scores in below], axis=0)
    distance = _shares(above) - _shares(below)
    rows = np.flatnonzero(high & low)
    order = np.argsort(-distance[rows], kind="stable")
    return Disagreement(kind, top, bottom, tuple(rows[order].tolist()))


def quartiles(scores: Floats) -> Ints:
    """1 (bottom) to 4 (top) for each of ``scores`` ``(n,)``; 0 if undefined. Equal scores share a quartile."""
    defined = ~np.isnan(scores)
    numbers = np.zeros(len(scores), dtype=np.int64)
    if defined.any():
        bounds = np.quantile(scores[defined], [0.25, 0.5, 0.75])
        numbers[defined] = 1 + np.searchsorted(bounds, scores[defined], side="left")
    return numbers


def _shares(columns: Sequence[Floats]) -> Floats:
    """The share of the texts that score lower, averaged over metrics; ``(n,)``."""
    return np.mean([np.searchsorted(np.sort(scores), scores, side="left") / len(scores) for scores in columns], axis=0)


def _count(people: Floats) -> tuple[Cell, Cell]:
    """The number of texts and the mean of people's scores."""
    return Cell(f"{len(people):,}"), Cell(f"{people.mean():.2f}" if len(people) else UNDEFINED)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _example(measured: Measured, case: Disagreement, row: int) -> Table:
    judgment = measured.judgments.rows[row]
    table = measured.table
    rows = [("reference", judgment.references[0]), ("text", judgment.candidate)]
    rows += [(label, _placed(table.scores(label), row)) for label in table.columns]
    rows += [("people", _placed(table.human, row))]
    caption = f"{measured.name}, {case.words}: id {judgment.id}, {judgment.system}"
    return text_table(caption, ("", ""), ((name, " ".join(text.split())) for name, text in rows))


def _placed(scores: Floats, row: int) -> str:
    quartile = int(quartiles(scores)[row])
    return f"{scores[row]:.4g} ({SHOWN[quartile - 1]} quartile)" if quartile else UNDEFINED


def _record(measured: Measured, case: Disagreement, row: int) -> dict[str, str | float]:
    judgment = measured.judgments.rows[row]
    return {
        "texts": measured.name,
        "vectors": case.kind,
        "top_by": _listed(case.top),
        "bottom_by": _listed(case.bottom),
        "id": judgment.id,
        "system": judgment.system,
        "people": float(measured.table.human[row]),
    }
