"""Figure 3: the dependence on temperature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reproductions.claims import within
from reproductions.estimate import Estimate, curve, spread
from reproductions.reproduction import Reproduction
from reproductions.twmd.metrics import EncoderSetup
from reproductions.twmd.pairs import SentencePairs, measure
from reproductions.twmd.tables import average_of, averaged, over_groups
from rlsum.pages.pictures.curves import Panel, picture
from rlsum.pages.pictures.drawing import COLOURS
from rlsum.pages.table import text_table

TEMPERATURES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.10, 0.15)


def figure3(setup: EncoderSetup, data: Sequence[SentencePairs]) -> Reproduction:
    """Pearson against temperature, which should matter less with batch centering."""
    rows, panels, claims = [], [], []
    lines = {
        metric.label: [replace(metric, temperature=temperature) for temperature in TEMPERATURES]
        for metric in setup.metrics(("TWMD", "TRWMD"), ("none", "batch"))
    }
    for pairs in data:
        averages = averaged(measure(setup, pairs, [metric for line in lines.values() for metric in line]), over_groups)
        ranges: dict[str, Estimate] = {}
        curves = []
        for (label, line), colour in zip(lines.items(), COLOURS, strict=False):
            values = [average_of(averages, metric) for metric in line]
            ranges[label] = spread(values)
            numbers = (f"{100 * estimate.value:.1f}" for estimate in (*values, ranges[label]))
            rows.append((pairs.name, label, *numbers))
            curves.append(curve(label, colour, TEMPERATURES, values))
        panels.append(Panel(f"r, {setup.short}, {pairs.name}", tuple(curves), "temperature", scales=("log", "linear")))
        narrower = {name: ranges[name] - ranges[f"{name}-batch"] for name in ("TWMD", "TRWMD")}
        text = f"Batch-centred scores depend less on temperature ({pairs.name}: range of r over T)"
        claims.append(within(text, narrower, low=0.0))
    caption = f"Figure 3. Average r x 100 by temperature; {setup.description}. Published: a figure without numbers."
    header = ("data", "metric", *(f"T = {temperature:g}" for temperature in TEMPERATURES), "range")
    table = text_table(caption, header, rows)
    drawn = picture("figure3", "Temperature", "Average Pearson correlation against the temperature", panels)
    return Reproduction("figure3", (table,), (drawn,), tuple(claims))
