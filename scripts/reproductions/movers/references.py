"""How much the essays' correlations owe to the reference essay: the same with other best-scored essays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reproductions.estimate import Estimate, mean
from reproductions.movers.correlations import estimates
from reproductions.movers.data import ESSAYS
from reproductions.movers.findings import beside_the_paper, on_essays, same_on_all_vectors
from reproductions.movers.metrics import Setting
from reproductions.study import Study
from rlsum.judgments.collection import Judgments
from rlsum.meta_evaluation.scores import scored
from rlsum.pages.table import DASH, Cell, Table


def references(setting: Setting, essays: Mapping[str, Judgments], seed: int) -> Study:
    """``essays``: the id of a reference -> the essays compared with it, the same ones for every reference."""
    tables = {reference: scored(each, setting.rewards, cache=setting.kept) for reference, each in essays.items()}
    found = {reference: estimates(table, setting.resamples, seed) for reference, table in tables.items()}
    words = {reference: len(each.rows[0].references[0].split()) for reference, each in essays.items()}
    labels = list(next(iter(found.values())))
    average = {label: mean([each[label] for each in found.values()]) for label in labels}
    rows = tuple(_row(label, average[label], [each[label].value for each in found.values()]) for label in labels)
    caption = f"Essays against {len(found)} best-scored essays, one after the other; Spearman's rho x 100"
    records = tuple(
        {
            "reference": reference,
            "words": words[reference],
            "metric": label,
            "rho_x100": round(100 * each.value, 3),
            "low_x100": round(100 * each.interval[0], 3),
            "high_x100": round(100 * each.interval[1], 3),
        }
        for reference, columns in found.items()
        for label, each in columns.items()
    )
    where = f"{ESSAYS}, averaged over {len(found)} references"
    claims = [claim for kind in setting.kinds for claim in on_essays(average, kind, where)]
    claims += [*same_on_all_vectors(average, setting.kinds, ESSAYS, where), *beside_the_paper(average, where)]
    note = f"References: the essays {', '.join(found)}; intervals draw essays, not references."
    averages = Table(caption, ("metric", "mean", "lowest", "highest"), rows)
    lines = tuple(
        (Cell(each), Cell(f"{words[each]:,}"), *(Cell(f"{100 * rho[label].value:.1f}") for label in labels))
        for each, rho in sorted(found.items(), key=lambda pair: words[pair[0]])
    )
    singles = Table("The same, one reference a row, the shortest first", ("reference", "its words", *labels), lines)
    return Study("references", (averages, singles), records, claims=tuple(claims), notes=(note,))


def _row(label: str, average: Estimate, values: Sequence[float]) -> tuple[Cell, ...]:
    low, high = (100 * end for end in average.interval)
    told = Cell(f"{100 * average.value:.1f}", f"{low:.1f}{DASH}{high:.1f}")
    return Cell(label), told, Cell(f"{100 * min(values):.1f}"), Cell(f"{100 * max(values):.1f}")
