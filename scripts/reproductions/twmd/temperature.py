"""Appendix B, temperatures chosen anew for the encoder at hand, and Figure 3, how much they matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from reproductions.claims import within
from reproductions.estimate import Estimate, spread
from reproductions.study import Study
from reproductions.twmd.metrics import Metric, Setting
from reproductions.twmd.pairs import Pairs, measure
from reproductions.twmd.tables import Averages, average_of, averaged, over_groups, record
from rlsum.pages.curves import Curve, Panel, picture
from rlsum.pages.pictures import COLOURS
from rlsum.pages.table import Cell, Table

TEMPERATURES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.10, 0.15)
CHOSEN = {"TWMD": 0.02, "TRWMD": 0.02, "TWMD-batch": 0.10, "TRWMD-batch": 0.15}  # by the paper, for its encoders


def appendix_b(setting: Setting, pairs: Pairs) -> Study:
    """The best temperature of each metric on WMT15-16."""
    found = _swept(setting, pairs)
    caption = f"Appendix B. {pairs.name}, average tau / r x 100 by temperature; {setting.description}. Best r marked."
    header = ("metric", *(f"T = {each:g}" for each in TEMPERATURES), "best r", "best tau", "the paper's choice")
    rows, records = [], []
    for metric in _kinds(setting):
        line = [replace(metric, temperature=each) for each in TEMPERATURES]
        values = [(_kendall(found, each), average_of(found, each).value) for each in line]
        tau, r = (int(np.argmax(each)) for each in zip(*values, strict=True))
        cells = [
            Cell(f"{100 * value[0]:.1f} / {100 * value[1]:.1f}", mark=place == r) for place, value in enumerate(values)
        ]
        choices = [f"{each:g}" for each in (TEMPERATURES[r], TEMPERATURES[tau], CHOSEN[metric.label])]
        rows.append((Cell(metric.label), *cells, *map(Cell, choices)))
        records += _records(setting, "appendix-b", pairs, line, found)
    note = "The paper's table of this choice: not available; its choices, for BERT and RoBERTa, are the last column."
    return Study("appendix-b", (Table(caption, header, tuple(rows)),), tuple(records), notes=(note,))


def figure3(setting: Setting, data: Sequence[Pairs]) -> Study:
    """Pearson against temperature; with batch centering it should matter less."""
    rows, records, panels, claims = [], [], [], []
    for pairs in data:
        found = _swept(setting, pairs)
        ranges: dict[str, Estimate] = {}
        curves = []
        for metric, colour in zip(_kinds(setting), COLOURS, strict=False):
            line = [replace(metric, temperature=each) for each in TEMPERATURES]
            values = [average_of(found, each) for each in line]
            ranges[metric.label] = spread(values)
            rows.append(
                (pairs.name, metric.label, *(f"{100 * each.value:.1f}" for each in (*values, ranges[metric.label])))
            )
            records += _records(setting, "figure3", pairs, line, found)
            curves.append(
                Curve(metric.label, colour, np.array(TEMPERATURES), np.array([each.value for each in values]))
            )
        panels.append(
            Panel(f"r, {setting.short}, {pairs.name}", tuple(curves), "temperature", scales=("log", "linear"))
        )
        narrower = {name: ranges[name] - ranges[f"{name}-batch"] for name in ("TWMD", "TRWMD")}
        claims.append(
            within(
                f"Batch-centred scores depend less on temperature ({pairs.name}: range of r over T)", narrower, low=0.0
            )
        )
    caption = f"Figure 3. Average r x 100 by temperature; {setting.description}. Published: a figure without numbers."
    header = ("data", "metric", *(f"T = {each:g}" for each in TEMPERATURES), "range")
    table = Table(caption, header, tuple(tuple(map(Cell, row)) for row in rows))
    drawn = picture("figure3", "Temperature", "Average Pearson correlation against the temperature", panels)
    return Study("figure3", (table,), tuple(records), (drawn,), tuple(claims))


def _kinds(setting: Setting) -> list[Metric]:
    return setting.metrics(("TWMD", "TRWMD"), ("none", "batch"))


def _swept(setting: Setting, pairs: Pairs) -> Averages:
    metrics = [replace(each, temperature=warmth) for each in _kinds(setting) for warmth in TEMPERATURES]
    return averaged(measure(setting, pairs, metrics, ("kendall", "pearson")), over_groups)


def _kendall(found: Averages, metric: Metric) -> float:
    return found[metric]["kendall"]["avg"].value


def _records(
    setting: Setting, table: str, pairs: Pairs, line: Sequence[Metric], found: Averages
) -> list[Mapping[str, object]]:
    return [
        {
            **record(setting, table, f"{pairs.name} avg", metric, statistic, found[metric][statistic]["avg"]),
            "temperature": metric.temperature,
        }
        for metric in line
        for statistic in ("kendall", "pearson")
    ]
