"""Table 3: texts in the top quartile by one metric and in the bottom quartile by another.

The texts belong to their publishers: they go to the terminal and into the folder of the run, nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reproductions.movers.correlations import Measured
from reproductions.movers.metrics import MOVERS, ROUGE_L, S_WMS, SMS, Kind, Setting, named
from reproductions.study import Study
from rlsum.pages.table import UNDEFINED, Cell, Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BOTTOM, TOP = 1, 4
SHOWN = ("bottom", "second", "third", "top")


@dataclass(frozen=True)
class Disagreement:
    """The ``places`` in a table of scores where some metrics are in the top and others in the bottom quartile.

    Those come first whose shares of lower-scored texts lie furthest apart. ``kind`` is that of the movers' vectors.
    """

    kind: Kind
    top: tuple[str, ...]
    bottom: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def words(self) -> str:
        """``top by ROUGE-L F1, bottom by SMS and S+WMS (static)``."""
        return f"top by {_listed(self.top)}, bottom by {_listed(self.bottom)} ({self.kind})"


def table3(setting: Setting, measured: Sequence[Measured], shown: int) -> Study:
    """How often movers and ROUGE-L disagree so, what people say of those texts, and ``shown`` examples of each kind."""
    counts: list[tuple[Cell, ...]] = []
    records, examples = [], []
    for each in measured:
        counts.append((Cell(f"all {each.name}"), *_count(each.table.human)))
        for found in (one for kind in setting.kinds for one in disagreements(each, kind)):
            counts.append((Cell(f"{each.name}, {found.words}"), *_count(each.table.human[list(found.places)])))
            records += [_record(each, found, place) for place in found.places]
            if len(found.top) + len(found.bottom) > 2:  # as the paper's: against several metrics at once
                examples += [_example(each, found, place) for place in found.places[:shown]]
    title = "Table 3. Top quartile by one metric, bottom quartile by another"
    return Study("table3", (Table(title, ("texts", "n", "people's mean"), tuple(counts)), *examples), tuple(records))


def disagreements(measured: Measured, kind: Kind) -> list[Disagreement]:
    """ROUGE-L against each mover, and the two kinds that the paper has examples of: against several at once."""
    sides: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((mover,), (ROUGE_L,)) for mover in MOVERS]
    sides += [((ROUGE_L,), (mover,)) for mover in MOVERS]
    sides += [(MOVERS, (ROUGE_L,)), ((ROUGE_L,), (SMS, S_WMS))]
    return [disagreement(measured, kind, top, bottom) for top, bottom in sides]


def disagreement(measured: Measured, kind: Kind, top: tuple[str, ...], bottom: tuple[str, ...]) -> Disagreement:
    """The texts in the top quartile by all metrics of ``top`` and in the bottom quartile by all of ``bottom``."""
    above, below = (
        [measured.table.scores(name if name == ROUGE_L else named(name, kind)) for name in names]
        for names in (top, bottom)
    )
    high = np.all([quartiles(scores) == TOP for scores in above], axis=0)
    low = np.all([quartiles(scores) == BOTTOM for scores in below], axis=0)
    apart = _shares(above) - _shares(below)
    places = np.flatnonzero(high & low)
    order = np.argsort(-apart[places], kind="stable")
    return Disagreement(kind, top, bottom, tuple(places[order].tolist()))


def quartiles(scores: Floats) -> Ints:
    """1 (bottom) to 4 (top) for each of ``scores`` ``(n,)``, equal ones alike; 0 where undefined."""
    defined = ~np.isnan(scores)
    found = np.zeros(len(scores), dtype=np.int64)
    if defined.any():
        bounds = np.quantile(scores[defined], [0.25, 0.5, 0.75])
        found[defined] = 1 + np.searchsorted(bounds, scores[defined], side="left")
    return found


def _shares(columns: Sequence[Floats]) -> Floats:
    """The share of the texts that score lower, averaged over metrics; ``(n,)``."""
    return np.mean([np.searchsorted(np.sort(each), each, side="left") / len(each) for each in columns], axis=0)


def _count(people: Floats) -> tuple[Cell, Cell]:
    """How many there are, and the mean of what people said of them."""
    return Cell(f"{len(people):,}"), Cell(f"{people.mean():.2f}" if len(people) else UNDEFINED)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _example(measured: Measured, found: Disagreement, place: int) -> Table:
    row = measured.judgments.rows[place]
    table = measured.table
    rows = [("reference", row.references[0]), ("text", row.candidate)]
    rows += [(label, _placed(table.scores(label), place)) for label in table.columns]
    rows += [("people", _placed(table.human, place))]
    caption = f"{measured.name}, {found.words}: id {row.id}, {row.system}"
    return Table(caption, ("", ""), tuple((Cell(name), Cell(" ".join(text.split()))) for name, text in rows))


def _placed(scores: Floats, place: int) -> str:
    quartile = int(quartiles(scores)[place])
    return f"{scores[place]:.4g} ({SHOWN[quartile - 1]} quartile)" if quartile else UNDEFINED


def _record(measured: Measured, found: Disagreement, place: int) -> dict[str, str | float]:
    row = measured.judgments.rows[place]
    return {
        "texts": measured.name,
        "vectors": found.kind,
        "top_by": _listed(found.top),
        "bottom_by": _listed(found.bottom),
        "id": row.id,
        "system": row.system,
        "people": float(measured.table.human[place]),
    }
