"""Appendix A, the layers; and how near batch centering comes to the corpus mean that it estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reproductions.claims import both, within
from reproductions.estimate import estimate
from reproductions.study import Study
from reproductions.twmd.metrics import REWARDS, Metric, Setting, fitted
from reproductions.twmd.pairs import Pairs, correlations, measure, scores
from reproductions.twmd.tables import NOTHING, Averages, average_of, averaged, best_of_all, over_groups, record
from rewards.encoding.loading import depth
from rlsum.pages.curves import Curve, Panel, picture
from rlsum.pages.pictures import COLOURS
from rlsum.pages.table import Cell, Table


def appendix_a(setting: Setting, pairs: Pairs) -> Study:
    """Average Pearson correlations at every layer above the embeddings, with and without batch centering."""
    metrics = setting.metrics(tuple(REWARDS), ("none", "batch"))
    layers = list(range(1, depth(setting.place) + 1))
    found: list[Averages] = [averaged(measure(setting, pairs, metrics, layer=layer), over_groups) for layer in layers]
    champion = Metric("TWMD", "batch", setting.direction)
    claims = [
        best_of_all(each, champion, f"{pairs.name} at layer {layer}") for layer, each in zip(layers, found, strict=True)
    ]
    rows = tuple(
        (Cell(metric.label), *(Cell(f"{100 * average_of(each, metric).value:.1f}") for each in found))
        for metric in metrics
    )
    caption = f"Appendix A. {pairs.name}, average r x 100 by layer; {setting.encoder}. Published: not available."
    records = [
        {
            **record(setting, "appendix-a", f"{pairs.name} avg", metric, "pearson", average_of(each, metric)),
            "layer": layer,
        }
        for layer, each in zip(layers, found, strict=True)
        for metric in metrics
    ]
    panels = [
        _panel(f"r, {setting.short}, {title}", centering, metrics, layers, found) for title, centering in PANELS.items()
    ]
    drawn = picture("appendix-a", "Layers", f"Average Pearson correlation on {pairs.name} by layer", panels)
    table = Table(caption, ("metric", *(f"layer {layer}" for layer in layers)), rows)
    return Study("appendix-a", (table,), tuple(records), (drawn,), (both("The layer changes no conclusion", *claims),))


PANELS = {"no centering": "none", "batch centering": "batch"}


def _panel(
    title: str, centering: str, metrics: Sequence[Metric], layers: Sequence[int], found: Sequence[Averages]
) -> Panel:
    curves = tuple(
        Curve(
            metric.name,
            colour,
            np.array(layers, dtype=np.float64),
            np.array([average_of(each, metric).value for each in found]),
        )
        for metric, colour in zip([each for each in metrics if each.centering == centering], COLOURS, strict=False)
    )
    every = [average_of(each, metric).value for each in found for metric in metrics]
    return Panel(title, curves, "layer", (min(every) - 0.01, max(every) + 0.01))


def batch_against_corpus(setting: Setting, pairs: Pairs) -> Study:
    """Scores and correlations with the means of batches, and with one mean of all texts of the data."""
    metrics = setting.metrics(tuple(REWARDS), ("batch",))
    others = [replace(each, centering="corpus") for each in metrics]
    found = scores(
        pairs, fitted(setting, [*metrics, *others], [*pairs.candidates, *pairs.references]), kept=setting.kept
    )
    rows, records, differences = [], [], {}
    for metric, other, batch, corpus in zip(metrics, others, found[: len(metrics)], found[len(metrics) :], strict=True):
        both_scores = estimate(batch, corpus, pairs.inputs, "pearson", 0).value
        agreement = [
            over_groups(correlations(pairs, each, "pearson", setting.resamples, setting.seed))["avg"]
            for each in (batch, corpus)
        ]
        differences[metric.name] = agreement[0] - agreement[1]
        apart = float(np.nanmean(np.abs(batch - corpus)))
        rows.append(
            (metric.name, f"{both_scores:.4f}", f"{apart:.4f}", *(f"{100 * each.value:.1f}" for each in agreement))
        )
        for each, value in zip((metric, other), agreement, strict=True):
            line = record(setting, "centering-values", f"{pairs.name} avg", each, "pearson", value)
            records.append({**line, "r of scores": round(both_scores, 5), "mean difference": round(apart, 5)})
    caption = (
        f"Batch against corpus centering on {pairs.name}; {setting.description}. "
        "Published: not available (the paper says that the values are very close)."
    )
    header = ("metric", "r of the two scores", "mean difference of a score", "average r x 100, batch", "corpus")
    claim = within("Batch and corpus centering agree within half a point of r", differences, -NOTHING, NOTHING)
    table = Table(caption, header, tuple(tuple(map(Cell, row)) for row in rows))
    return Study("centering-values", (table,), tuple(records), claims=(claim,))
