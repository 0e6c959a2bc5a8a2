"""Figure 4: the effect of Sinkhorn iterations on TWMD, and the convergence of the algorithm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reproductions.claims import within
from reproductions.estimate import best
from reproductions.reproduction import Reproduction
from reproductions.together import Cosines, both_ways
from reproductions.twmd.metrics import EncoderSetup, Metric
from reproductions.twmd.pairs import SentencePairs, measure
from reproductions.twmd.tables import NEGLIGIBLE, average_of, averaged, over_groups, record
from rlsum.pages.curves import Curve, Panel, picture
from rlsum.pages.pictures import COLOURS
from rlsum.pages.table import Cell, Table

TEMPERATURES = (0.01, 0.02, 0.05, 0.10)
ITERATIONS = (1, 2, 3, 5, 10)
LAST = 50  # iterations of the convergence curves
SAMPLE = 256  # pairs that they are averaged over


def figure4(setup: EncoderSetup, pairs: SentencePairs) -> Reproduction:
    """Pearson of batch-centred TWMD against iterations, and the error of the column sums of the plans."""
    metric = Metric("TWMD", "batch", setup.direction)
    swept = {
        temperature: [replace(metric, temperature=temperature, iterations=count) for count in ITERATIONS]
        for temperature in TEMPERATURES
    }
    averages = averaged(measure(setup, pairs, [item for line in swept.values() for item in line]), over_groups)
    errors = {
        temperature: column_errors(_sample(setup, pairs, metric), temperature, LAST) for temperature in TEMPERATURES
    }
    rows, records, correlations, convergence, gains = [], [], [], [], {}
    for (temperature, line), colour in zip(swept.items(), COLOURS, strict=False):
        values = [average_of(averages, item) for item in line]
        gains[f"T = {temperature:g}"] = best(values[1:]) - values[0]
        rows.append(
            (
                f"{temperature:g}",
                *(f"{100 * estimate.value:.2f}" for estimate in values),
                f"{errors[temperature][0]:.3f}",
            )
        )
        numbers = np.array([estimate.value for estimate in values])
        correlations.append(Curve(f"T = {temperature:g}", colour, np.array(ITERATIONS, dtype=np.float64), numbers))
        steps = np.arange(1, LAST + 1, dtype=np.float64)
        convergence.append(Curve(f"T = {temperature:g}", colour, steps, errors[temperature]))
        records += [
            {
                **record(setup, "figure4", f"{pairs.name} avg", item, "pearson", value),
                "temperature": temperature,
                "iterations": item.iterations,
                "error of column sums": errors[temperature][item.iterations - 1],
            }
            for item, value in zip(line, values, strict=True)
        ]
    caption = f"Figure 4. TWMD-batch on {pairs.name}, average r x 100; {setup.description}. Published: no numbers."
    header = ("T", *(f"t = {count}" for count in ITERATIONS), "error after one")
    note = f"Error: the share of the mass in the wrong column, averaged over at most {SAMPLE} pairs."
    panels = (
        Panel(f"r, {setup.short}, {pairs.name}", tuple(correlations), "iterations", scales=("log", "linear")),
        Panel(f"error of the column sums, {setup.short}", tuple(convergence), "iterations", scales=("log", "log")),
    )
    drawn = picture("figure4", "Sinkhorn", "Pearson correlation and convergence against Sinkhorn iterations", panels)
    claim = within("More iterations than one gain less than half a point of r", gains, high=NEGLIGIBLE)
    table = Table(caption, header, tuple(tuple(map(Cell, row)) for row in rows))
    return Reproduction("figure4", (table,), tuple(records), (drawn,), (claim,), (note,))


def column_errors(cosines: Cosines, temperature: float, iterations: int) -> NDArray[np.float64]:
    """``(iterations,)``: half the sum over columns of ``|column sum - 1/L2|`` after each, averaged over the pairs.

    Rows sum to ``1/L1`` exactly after every iteration, because they are normalised last.
    """
    logits = cosines.values / temperature
    rows, columns = cosines.rows[:, :, None], cosines.columns[:, None, :]
    target = cosines.columns / cosines.columns.sum(dim=1, keepdim=True).double()
    row_length = cosines.rows.sum(dim=1)[:, None, None]
    log_plan, errors = logits, []
    for _ in range(iterations):
        log_plan = log_plan - log_plan.masked_fill(~rows, -np.inf).logsumexp(dim=1, keepdim=True)
        log_plan = log_plan - log_plan.masked_fill(~columns, -np.inf).logsumexp(dim=2, keepdim=True)
        plan = log_plan.exp() * rows * columns / row_length
        error = (plan.sum(dim=1) - target).abs().sum(dim=1)
        errors.append(float(error.mean() / 2))
    return np.array(errors)


def _sample(setup: EncoderSetup, pairs: SentencePairs, metric: Metric) -> Cosines:
    """The cosines of the first pairs of each group."""
    import torch

    space = metric.reward(setup).space
    groups = pairs.group_rows()
    first, second = [], []
    for rows in groups.values():
        rows = rows[: max(2, SAMPLE // len(groups))]
        candidates, references = (
            [pairs.candidates[row] for row in rows],
            [pairs.references[row] for row in rows],
        )
        with torch.inference_mode():
            ours, theirs = space.sides(candidates, references, space.encode([*candidates, *references]))
        for candidate, reference in zip(candidates, references, strict=True):
            if candidate in ours and reference in theirs:
                first.append(ours[candidate])
                second.append(theirs[reference])
    return both_ways(first, second)[0]
