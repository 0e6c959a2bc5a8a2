"""The effect of the reference essay on the essays' correlations: the same with other best-scored essays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reproductions.estimate import Estimate, mean
from reproductions.movers.correlations import estimates
from reproductions.movers.data import ESSAYS
from reproductions.movers.findings import not_in_the_paper, on_essays, same_on_all_vectors
from reproductions.movers.metrics import MoverSetup
from reproductions.reproduction import Reproduction
from rlsum.judgments.collection import Judgments
from rlsum.meta_evaluation.scores import scored
from rlsum.pages.table import DASH, Cell, Table, text_table


def references(setup: MoverSetup, essays: Mapping[str, Judgments], seed: int) -> Reproduction:
    """``essays``: id of a reference -> the essays compared with it, which are the same for every reference."""
    tables = {reference: scored(judgments, setup.rewards, cache=setup.cache) for reference, judgments in essays.items()}
    rho = {reference: estimates(table, setup.resamples, seed) for reference, table in tables.items()}
    words = {reference: len(judgments.rows[0].references[0].split()) for reference, judgments in essays.items()}
    labels = list(next(iter(rho.values())))
    average = {label: mean([columns[label] for columns in rho.values()]) for label in labels}
    rows = tuple(_row(label, average[label], [columns[label].value for columns in rho.values()]) for label in labels)
    caption = f"Essays against {len(rho)} best-scored essays, one at a time; Spearman's rho x 100"
    where = f"{ESSAYS}, averaged over {len(rho)} references"
    claims = [claim for kind in setup.kinds for claim in on_essays(average, kind, where)]
    claims += [*same_on_all_vectors(average, setup.kinds, ESSAYS, where), *not_in_the_paper(average, where)]
    note = f"References: the essays {', '.join(rho)}; intervals draw essays, not references."
    averages = Table(caption, ("metric", "mean", "lowest", "highest"), rows)
    lines = (
        (name, f"{words[name]:,}", *(f"{100 * columns[label].value:.1f}" for label in labels))
        for name, columns in sorted(rho.items(), key=lambda pair: words[pair[0]])
    )
    singles = text_table("The same by reference, shortest first", ("reference", "its words", *labels), lines)
    return Reproduction("references", (averages, singles), claims=tuple(claims), notes=(note,))


def _row(label: str, average: Estimate, values: Sequence[float]) -> tuple[Cell, ...]:
    low, high = (100 * end for end in average.interval)
    mean_cell = Cell(f"{100 * average.value:.1f}", f"{low:.1f}{DASH}{high:.1f}")
    return Cell(label), mean_cell, Cell(f"{100 * min(values):.1f}"), Cell(f"{100 * max(values):.1f}")
