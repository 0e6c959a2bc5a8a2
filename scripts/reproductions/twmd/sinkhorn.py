"""Figure 4: does TWMD need more than one Sinkhorn iteration, and how fast does the algorithm converge?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reproductions.claims import within
from reproductions.estimate import best
from reproductions.study import Study
from reproductions.together import Cosines, both_ways
from reproductions.twmd.metrics import Metric, Setting
from reproductions.twmd.pairs import Pairs, measure
from reproductions.twmd.tables import NOTHING, average_of, averaged, over_groups, record
from rlsum.pages.curves import Curve, Panel, picture
from rlsum.pages.pictures import COLOURS
from rlsum.pages.table import Cell, Table

TEMPERATURES = (0.01, 0.02, 0.05, 0.10)
ITERATIONS = (1, 2, 3, 5, 10)
LAST = 50  # iterations of the convergence curves
SAMPLE = 256  # pairs that they are averaged over


def figure4(setting: Setting, pairs: Pairs) -> Study:
    """Pearson of batch-centred TWMD against iterations, and how far the plans' column sums are from their due."""
    metric = Metric("TWMD", "batch", setting.direction)
    swept = {
        warmth: [replace(metric, temperature=warmth, iterations=each) for each in ITERATIONS] for warmth in TEMPERATURES
    }
    found = averaged(measure(setting, pairs, [each for line in swept.values() for each in line]), over_groups)
    errors = {warmth: column_errors(_sample(setting, pairs, metric), warmth, LAST) for warmth in TEMPERATURES}
    rows, records, correlations, convergence, gains = [], [], [], [], {}
    for (warmth, line), colour in zip(swept.items(), COLOURS, strict=False):
        values = [average_of(found, each) for each in line]
        gains[f"T = {warmth:g}"] = best(values[1:]) - values[0]
        rows.append((f"{warmth:g}", *(f"{100 * each.value:.2f}" for each in values), f"{errors[warmth][0]:.3f}"))
        numbers = np.array([each.value for each in values])
        correlations.append(Curve(f"T = {warmth:g}", colour, np.array(ITERATIONS, dtype=np.float64), numbers))
        steps = np.arange(1, LAST + 1, dtype=np.float64)
        convergence.append(Curve(f"T = {warmth:g}", colour, steps, errors[warmth]))
        records += [
            {
                **record(setting, "figure4", f"{pairs.name} avg", each, "pearson", value),
                "temperature": warmth,
                "iterations": each.iterations,
                "error of column sums": errors[warmth][each.iterations - 1],
            }
            for each, value in zip(line, values, strict=True)
        ]
    caption = f"Figure 4. TWMD-batch on {pairs.name}, average r x 100; {setting.description}. Published: no numbers."
    header = ("T", *(f"t = {each}" for each in ITERATIONS), "error after one")
    note = f"Error: how much of the mass stands in the wrong column, averaged over {SAMPLE} pairs at most."
    panels = (
        Panel(f"r, {setting.short}, {pairs.name}", tuple(correlations), "iterations", scales=("log", "linear")),
        Panel(f"error of the column sums, {setting.short}", tuple(convergence), "iterations", scales=("log", "log")),
    )
    drawn = picture("figure4", "Sinkhorn", "Pearson correlation and convergence against Sinkhorn iterations", panels)
    claim = within("More iterations than one gain less than half a point of r", gains, high=NOTHING)
    table = Table(caption, header, tuple(tuple(map(Cell, row)) for row in rows))
    return Study("figure4", (table,), tuple(records), (drawn,), (claim,), (note,))


def column_errors(cosines: Cosines, temperature: float, iterations: int) -> NDArray[np.float64]:
    """``(iterations,)``: after each, half the sum over columns of ``|column sum - 1/L2|``, averaged over the pairs.

    Rows sum to ``1/L1`` exactly after every iteration, as they are normalised last.
    """
    logits = cosines.values / temperature
    rows, columns = cosines.rows[:, :, None], cosines.columns[:, None, :]
    due = cosines.columns / cosines.columns.sum(dim=1, keepdim=True).double()
    row_length = cosines.rows.sum(dim=1)[:, None, None]
    log_plan, errors = logits, []
    for _ in range(iterations):
        log_plan = log_plan - log_plan.masked_fill(~rows, -np.inf).logsumexp(dim=1, keepdim=True)
        log_plan = log_plan - log_plan.masked_fill(~columns, -np.inf).logsumexp(dim=2, keepdim=True)
        plan = log_plan.exp() * rows * columns / row_length
        wrong = (plan.sum(dim=1) - due).abs().sum(dim=1)
        errors.append(float(wrong.mean() / 2))
    return np.array(errors)


def _sample(setting: Setting, pairs: Pairs, metric: Metric) -> Cosines:
    """The cosines of the first pairs of each group, as they are compared."""
    import torch

    space = metric.reward(setting).space
    groups = pairs.places()
    first, second = [], []
    for places in groups.values():
        places = places[: max(2, SAMPLE // len(groups))]
        candidates, references = (
            [pairs.candidates[each] for each in places],
            [pairs.references[each] for each in places],
        )
        with torch.inference_mode():
            ours, theirs = space.sides(candidates, references, space.encode([*candidates, *references]))
        for candidate, reference in zip(candidates, references, strict=True):
            if candidate in ours and reference in theirs:
                first.append(ours[candidate])
                second.append(theirs[reference])
    return both_ways(first, second)[0]
