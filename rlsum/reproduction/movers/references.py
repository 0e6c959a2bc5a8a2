"""How much the essays' correlations owe to the reference essay: the same with other best-scored essays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlsum.evaluation.table import Cell, Table
from rlsum.judgments.collection import Judgments
from rlsum.meta_evaluation.scores import scored
from rlsum.reproduction.claims import within
from rlsum.reproduction.estimate import mean
from rlsum.reproduction.movers.correlations import estimates
from rlsum.reproduction.movers.metrics import LENGTH, ROUGE_L, S_WMS, SMS, Setting, named
from rlsum.reproduction.study import Study


def references(setting: Setting, essays: Mapping[str, Judgments], seed: int) -> Study:
    """``essays``: the id of a reference -> the essays compared with it, the same ones for every reference."""
    tables = {reference: scored(each, setting.rewards, cache=setting.kept) for reference, each in essays.items()}
    found = {reference: estimates(table, setting.resamples, seed) for reference, table in tables.items()}
    labels = list(next(iter(found.values())))
    values = {label: [100 * each[label].value for each in found.values()] for label in labels}
    rows = tuple(
        (Cell(label), *(Cell(f"{number(values[label]):.1f}") for number in (np.mean, np.min, np.max)))
        for label in labels
    )
    caption = f"Essays against {len(found)} best-scored essays, one after the other; Spearman's rho x 100"
    records = tuple(
        {
            "reference": reference,
            "metric": label,
            "rho_x100": round(100 * each.value, 3),
            "low_x100": round(100 * each.interval[0], 3),
            "high_x100": round(100 * each.interval[1], 3),
        }
        for reference, columns in found.items()
        for label, each in columns.items()
    )
    claims = [
        within(
            f"{mover} is above {other} on essays, averaged over references ({kind} vectors)",
            {f"{len(found)} references": mean([each[named(mover, kind)] - each[other] for each in found.values()])},
            low=0.0,
        )
        for kind in setting.kinds
        for mover in (SMS, S_WMS)
        for other in (ROUGE_L, LENGTH)
    ]
    note = f"References: the essays {', '.join(found)}; intervals draw essays, not references."
    table = Table(caption, ("metric", "mean", "lowest", "highest"), rows)
    return Study("references", (table,), records, claims=tuple(claims), notes=(note,))
