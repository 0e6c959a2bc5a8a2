"""Appendix B, the best temperatures for the encoder in use, and Figure 3, the dependence on temperature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from reproductions.claims import within
from reproductions.estimate import Estimate, curve, spread
from reproductions.reproduction import Reproduction
from reproductions.twmd.metrics import EncoderSetup, Metric
from reproductions.twmd.pairs import SentencePairs, measure
from reproductions.twmd.tables import Averages, average_of, averaged, over_groups, record
from rlsum.pages.pictures.curves import Panel, picture
from rlsum.pages.pictures.drawing import COLOURS
from rlsum.pages.table import Cell, Table, text_table

TEMPERATURES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.10, 0.15)
CHOSEN = {"TWMD": 0.02, "TRWMD": 0.02, "TWMD-batch": 0.10, "TRWMD-batch": 0.15}  # by the paper, for its encoders


def appendix_b(setup: EncoderSetup, pairs: SentencePairs) -> Reproduction:
    """The best temperature of each metric on WMT15-16."""
    averages = _swept(setup, pairs)
    caption = f"Appendix B. {pairs.name}, average tau / r x 100 by temperature; {setup.description}. Best r marked."
    header = (
        "metric",
        *(f"T = {temperature:g}" for temperature in TEMPERATURES),
        "best r",
        "best tau",
        "the paper's choice",
    )
    rows, records = [], []
    for metric in _metrics(setup):
        line = [replace(metric, temperature=temperature) for temperature in TEMPERATURES]
        values = [(averages[item]["kendall"]["avg"].value, average_of(averages, item).value) for item in line]
        tau, r = (int(np.argmax(column)) for column in zip(*values, strict=True))
        cells = [
            Cell(f"{100 * value[0]:.1f} / {100 * value[1]:.1f}", mark=index == r) for index, value in enumerate(values)
        ]
        choices = [f"{temperature:g}" for temperature in (TEMPERATURES[r], TEMPERATURES[tau], CHOSEN[metric.label])]
        rows.append((Cell(metric.label), *cells, *map(Cell, choices)))
        records += _records(setup, "appendix-b", pairs, line, averages)
    note = "The paper's table of this choice: not available; its choices, for BERT and RoBERTa, are the last column."
    return Reproduction("appendix-b", (Table(caption, header, tuple(rows)),), tuple(records), notes=(note,))


def figure3(setup: EncoderSetup, data: Sequence[SentencePairs]) -> Reproduction:
    """Pearson against temperature, which should matter less with batch centering."""
    rows, records, panels, claims = [], [], [], []
    for pairs in data:
        averages = _swept(setup, pairs)
        ranges: dict[str, Estimate] = {}
        curves = []
        for metric, colour in zip(_metrics(setup), COLOURS, strict=False):
            line = [replace(metric, temperature=temperature) for temperature in TEMPERATURES]
            values = [average_of(averages, item) for item in line]
            ranges[metric.label] = spread(values)
            numbers = (f"{100 * estimate.value:.1f}" for estimate in (*values, ranges[metric.label]))
            rows.append((pairs.name, metric.label, *numbers))
            records += _records(setup, "figure3", pairs, line, averages)
            curves.append(curve(metric.label, colour, TEMPERATURES, values))
        panels.append(Panel(f"r, {setup.short}, {pairs.name}", tuple(curves), "temperature", scales=("log", "linear")))
        narrower = {name: ranges[name] - ranges[f"{name}-batch"] for name in ("TWMD", "TRWMD")}
        text = f"Batch-centred scores depend less on temperature ({pairs.name}: range of r over T)"
        claims.append(within(text, narrower, low=0.0))
    caption = f"Figure 3. Average r x 100 by temperature; {setup.description}. Published: a figure without numbers."
    header = ("data", "metric", *(f"T = {temperature:g}" for temperature in TEMPERATURES), "range")
    table = text_table(caption, header, rows)
    drawn = picture("figure3", "Temperature", "Average Pearson correlation against the temperature", panels)
    return Reproduction("figure3", (table,), tuple(records), (drawn,), tuple(claims))


def _metrics(setup: EncoderSetup) -> list[Metric]:
    return setup.metrics(("TWMD", "TRWMD"), ("none", "batch"))


def _swept(setup: EncoderSetup, pairs: SentencePairs) -> Averages:
    metrics = [replace(metric, temperature=temperature) for metric in _metrics(setup) for temperature in TEMPERATURES]
    return averaged(measure(setup, pairs, metrics, ("kendall", "pearson")), over_groups)


def _records(
    setup: EncoderSetup, table: str, pairs: SentencePairs, line: Sequence[Metric], averages: Averages
) -> list[Mapping[str, object]]:
    return [
        {
            **record(setup, table, f"{pairs.name} avg", metric, statistic, averages[metric][statistic]["avg"]),
            "temperature": metric.temperature,
        }
        for metric in line
        for statistic in ("kendall", "pearson")
    ]
