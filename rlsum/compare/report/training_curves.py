"""Pictures of training runs from their ``metrics.jsonl``: learning curves, validation, reward.

A run has the same colour in every picture, and a panel in that of the reward. Runs of several seeds are one line, their
mean, in a band from the lowest to the highest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlsum.pages.pictures.curves import Curve, Panel, look, picture
from rlsum.pages.pictures.drawing import Picture
from rlsum.scoring.properties import PROPERTIES

Row = Mapping[str, Any]
Runs = Mapping[str, Sequence[Sequence[Row]]]  # name -> the rows of metrics.jsonl of its run of each seed
Looks = Mapping[str, tuple[str, bool]]  # name -> colour, and whether its lines are dashed
Line = tuple[NDArray[np.float64], NDArray[np.float64], tuple[NDArray[np.float64], NDArray[np.float64]] | None]

GREEDY = "baseline_reward"  # in logs of trainings that score greedy summaries, too


def series(rows: Sequence[Row], kind: str, key: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps and values (n,) of ``key`` in rows of ``kind`` ("train" or "valid") where it is finite."""
    points = [
        (row["step"], row[key])
        for row in rows
        if row.get("kind") == kind and isinstance(row.get(key), int | float) and math.isfinite(row[key])
    ]
    steps, values = zip(*points, strict=True) if points else ((), ())
    return np.array(steps, dtype=np.float64), np.array(values, dtype=np.float64)


def line(seeds: Sequence[Sequence[Row]], kind: str, key: str, scale: float = 1.0) -> Line:
    """Steps (n,) that all seeds have, the mean over seeds (n,) times ``scale``, and its band; one seed has none."""
    logs = [series(rows, kind, key) for rows in seeds]
    steps = reduce(np.intersect1d, (at for at, _ in logs)) if logs else np.array([])
    values = scale * np.array([[*column[np.isin(at, steps)]] for at, column in logs]).reshape(len(logs), len(steps))
    if len(logs) < 2:
        return steps, values[0] if logs else steps, None
    return steps, values.mean(axis=0), (values.min(axis=0), values.max(axis=0))


def draw_runs(runs: Runs, metrics: Sequence[str], start: str | None = None) -> list[Picture]:
    """Learning curves, validation of ``metrics`` and properties, and the reward; pictures without data are left out.

    ``start`` names the run that the others started from. It is far longer than they are and gets panels of its own.
    Panels and curves without a value are left out, too: runs may have logged different things.
    """
    first = {name: rows for name, rows in runs.items() if name == start}
    after = {name: rows for name, rows in runs.items() if name != start}
    looks = {name: look(number) for number, name in enumerate((*after, *first))}
    planned = [
        (
            "learning-curves",
            "Learning curves",
            "Negative log-likelihood of the reference a token, in training (moving average) and in validation.",
            [
                *_likelihood_panels(first, looks, f"{start}: "),
                *_likelihood_panels(after, looks, f"after {start}: " if first else ""),
            ],
        ),
        (
            "validation",
            "Validation during training",
            "Metrics, components of weighted ones, and properties of summaries of the validation articles.",
            _validation_panels(after, looks, metrics),
        ),
        ("reward", "Reward in training", _reward_description(after), _reward_panels(after)),
    ]
    drawable = [(name, title, description, _with_data(panels)) for name, title, description, panels in planned]
    return [picture(name, title, description, panels) for name, title, description, panels in drawable if panels]


def _curve(name: str, looks: Looks, values: Line, smooth: bool = False) -> Curve:
    steps, mean, band = values
    colour, dashed = looks[name]
    return Curve(name, colour, steps, mean, smooth, dashed, None if smooth else band)


def _likelihood_panels(runs: Runs, looks: Looks, prefix: str) -> list[Panel]:
    kinds = (("training, nats a token", "train", True), ("validation, nats a token", "valid", False))
    return [
        Panel(
            prefix + title, tuple(_curve(name, looks, line(rows, kind, "nll"), smooth) for name, rows in runs.items())
        )
        for title, kind, smooth in kinds
    ]


def _validation_panels(runs: Runs, looks: Looks, metrics: Sequence[str]) -> list[Panel]:
    """Each metric, behind a weighted one its components, and properties."""
    logged = dict.fromkeys(key for seeds in runs.values() for rows in seeds for row in rows for key in row)
    keys = [key for name in metrics for key in (name, *(one for one in logged if one.startswith(f"{name}/")))]
    properties = [prop for prop in PROPERTIES.values() if prop.curve]
    shown = [*((key, key, 1.0) for key in keys), *((prop.name, prop.label, prop.scale) for prop in properties)]
    panels = []
    for key, title, scale in shown:
        curves = (_curve(name, looks, line(rows, "valid", key, scale)) for name, rows in runs.items())
        panels.append(Panel(title, tuple(curves)))
    return panels


def _reward_description(runs: Runs) -> str:
    """What the panels show: only ``self-critical`` scores greedy summaries."""
    samples = "Mean reward of the samples of an update, a moving average."
    greedy = any(len(line(seeds, "train", GREEDY)[0]) for seeds in runs.values())
    compared = " Dashed: of the greedy summaries; a sample that scores above that of its article is reinforced."
    return samples + compared if greedy else samples


def _reward_panels(runs: Runs) -> list[Panel]:
    def curve(number: int, label: str, seeds: Sequence[Sequence[Row]], key: str) -> Curve:
        steps, mean, _ = line(seeds, "train", key)
        return Curve(label, look(number)[0], steps, mean, True, dashed=key == GREEDY)

    return [
        Panel(name, (curve(0, "samples", seeds, "reward"), curve(1, "greedy summaries", seeds, GREEDY)))
        for name, seeds in runs.items()
    ]


def _with_data(panels: Sequence[Panel]) -> list[Panel]:
    """The curves that have values, and the panels that have curves."""
    kept = [replace(panel, curves=tuple(curve for curve in panel.curves if len(curve.steps))) for panel in panels]
    return [panel for panel in kept if panel.curves]
