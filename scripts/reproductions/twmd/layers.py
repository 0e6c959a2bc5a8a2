"""Appendix A, layers; and the distance of batch centering from centering by the corpus mean, which it estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reproductions.claims import both, within
from reproductions.estimate import curve, estimate
from reproductions.reproduction import Reproduction
from reproductions.twmd.metrics import REWARDS, EncoderSetup, Metric, fitted
from reproductions.twmd.pairs import SentencePairs, correlations, measure, scores
from reproductions.twmd.tables import NEGLIGIBLE, Averages, average_of, averaged, best_of_all, over_groups
from rewards.encoding.loading import depth
from rlsum.pages.pictures.curves import Panel, picture
from rlsum.pages.pictures.drawing import COLOURS
from rlsum.pages.table import text_table


def appendix_a(setup: EncoderSetup, pairs: SentencePairs) -> Reproduction:
    """Average Pearson correlations at every layer above the embeddings, with and without batch centering."""
    metrics = setup.metrics(tuple(REWARDS), ("none", "batch"))
    layers = list(range(1, depth(setup.location) + 1))
    by_layer: list[Averages] = [averaged(measure(setup, pairs, metrics, layer=layer), over_groups) for layer in layers]
    champion = Metric("TWMD", "batch", setup.direction)
    claims = [
        best_of_all(averages, champion, f"{pairs.name} at layer {layer}")
        for layer, averages in zip(layers, by_layer, strict=True)
    ]
    rows = (
        (metric.label, *(f"{100 * average_of(averages, metric).value:.1f}" for averages in by_layer))
        for metric in metrics
    )
    caption = f"Appendix A. {pairs.name}, average r x 100 by layer; {setup.encoder}. Published: not available."
    panels = [
        _panel(f"r, {setup.short}, {title}", centering, metrics, layers, by_layer)
        for title, centering in PANELS.items()
    ]
    drawn = picture("appendix-a", "Layers", f"Average Pearson correlation on {pairs.name} by layer", panels)
    table = text_table(caption, ("metric", *(f"layer {layer}" for layer in layers)), rows)
    return Reproduction("appendix-a", (table,), (drawn,), (both("The layer changes no conclusion", *claims),))


PANELS = {"no centering": "none", "batch centering": "batch"}


def _panel(
    title: str, centering: str, metrics: Sequence[Metric], layers: Sequence[int], by_layer: Sequence[Averages]
) -> Panel:
    curves = tuple(
        curve(metric.name, colour, layers, [average_of(averages, metric) for averages in by_layer])
        for metric, colour in zip([item for item in metrics if item.centering == centering], COLOURS, strict=False)
    )
    values = [average_of(averages, metric).value for averages in by_layer for metric in metrics]
    return Panel(title, curves, "layer", (min(values) - 0.01, max(values) + 0.01))


def batch_against_corpus(setup: EncoderSetup, pairs: SentencePairs) -> Reproduction:
    """Scores and correlations with the means of batches and with the mean of all texts."""
    metrics = setup.metrics(tuple(REWARDS), ("batch",))
    others = [replace(metric, centering="corpus") for metric in metrics]
    values = scores(
        pairs, fitted(setup, [*metrics, *others], [*pairs.candidates, *pairs.references]), cache=setup.cache
    )
    rows, differences = [], {}
    for metric, batch, corpus in zip(metrics, values[: len(metrics)], values[len(metrics) :], strict=True):
        both_scores = estimate(batch, corpus, pairs.inputs, "pearson", 0).value
        agreement = [
            over_groups(correlations(pairs, row, "pearson", setup.resamples, setup.seed))["avg"]
            for row in (batch, corpus)
        ]
        differences[metric.name] = agreement[0] - agreement[1]
        distance = float(np.nanmean(np.abs(batch - corpus)))
        rows.append(
            (
                metric.name,
                f"{both_scores:.4f}",
                f"{distance:.4f}",
                *(f"{100 * average.value:.1f}" for average in agreement),
            )
        )
    caption = (
        f"Batch against corpus centering on {pairs.name}; {setup.description}. "
        "Published: not available (the paper says that the values are very close)."
    )
    header = ("metric", "r of the two scores", "mean difference of a score", "average r x 100, batch", "corpus")
    claim = within("Batch and corpus centering agree within half a point of r", differences, -NEGLIGIBLE, NEGLIGIBLE)
    table = text_table(caption, header, rows)
    return Reproduction("centering-values", (table,), claims=(claim,))
