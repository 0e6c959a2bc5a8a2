"""Figure 4: the effect of Sinkhorn iterations on TWMD, and the convergence of the algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reproductions.claims import within
from reproductions.estimate import best, curve
from reproductions.reproduction import Reproduction
from reproductions.twmd.metrics import EncoderSetup, Metric
from reproductions.twmd.pairs import SentencePairs, measure
from reproductions.twmd.tables import NEGLIGIBLE, average_of, averaged, over_groups
from rlsum.pages.pictures.curves import Curve, Panel, picture
from rlsum.pages.pictures.drawing import COLOURS
from rlsum.pages.table import text_table

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
    rows, correlations, convergence, gains = [], [], [], {}
    for (temperature, line), colour in zip(swept.items(), COLOURS, strict=False):
        values = [average_of(averages, item) for item in line]
        gains[f"T = {temperature:g}"] = best(values[1:]) - values[0]
        numbers = (f"{100 * estimate.value:.2f}" for estimate in values)
        rows.append((f"{temperature:g}", *numbers, f"{errors[temperature][0]:.3f}"))
        correlations.append(curve(f"T = {temperature:g}", colour, ITERATIONS, values))
        steps = np.arange(1, LAST + 1, dtype=np.float64)
        convergence.append(Curve(f"T = {temperature:g}", colour, steps, errors[temperature]))
    caption = f"Figure 4. TWMD-batch on {pairs.name}, average r x 100; {setup.description}. Published: no numbers."
    header = ("T", *(f"t = {count}" for count in ITERATIONS), "error after one")
    note = f"Error: the share of the mass in the wrong column, averaged over at most {SAMPLE} pairs."
    panels = (
        Panel(f"r, {setup.short}, {pairs.name}", tuple(correlations), "iterations", scales=("log", "linear")),
        Panel(f"error of the column sums, {setup.short}", tuple(convergence), "iterations", scales=("log", "log")),
    )
    drawn = picture("figure4", "Sinkhorn", "Pearson correlation and convergence against Sinkhorn iterations", panels)
    claim = within("More iterations than one gain less than half a point of r", gains, high=NEGLIGIBLE)
    table = text_table(caption, header, rows)
    return Reproduction("figure4", (table,), (drawn,), (claim,), (note,))


def column_errors(cosines: Sequence[Tensor], temperature: float, iterations: int) -> NDArray[np.float64]:
    """``(iterations,)``: half the sum over columns of ``|column sum - 1/L2|`` after each, averaged over the pairs.

    ``cosines``: ``(L1, L2)`` of each pair. Rows, normalised last, sum to ``1/L1`` exactly.
    """
    errors = np.zeros(iterations)
    for values in cosines:
        log_plan, (rows, columns) = values / temperature, values.shape
        for iteration in range(iterations):
            log_plan = log_plan.log_softmax(dim=0).log_softmax(dim=1)
            error = (log_plan.exp().sum(dim=0) / rows - 1 / columns).abs().sum() / 2
            errors[iteration] += float(error) / len(cosines)
    return errors


def _sample(setup: EncoderSetup, pairs: SentencePairs, metric: Metric) -> list[Tensor]:
    """The cosines of the first pairs of each group."""
    space = metric.reward(setup).space
    groups = pairs.group_rows()
    cosines = []
    for members in groups.values():
        rows = members[: max(2, SAMPLE // len(groups))]
        candidates, references = [pairs.candidates[row] for row in rows], [pairs.references[row] for row in rows]
        with torch.inference_mode():
            ours, theirs = space.sides(candidates, references, space.encode([*candidates, *references]))
            cosines += [
                ours[candidate].vectors @ theirs[reference].vectors.T
                for candidate, reference in zip(candidates, references, strict=True)
                if candidate in ours and reference in theirs
            ]
    return cosines
