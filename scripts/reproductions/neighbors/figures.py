"""The paper's figures 2 to 4, and the sweep of tau."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np

from reproductions.neighbors.studies import Point, SizeResult
from rlsum.pages.pictures.curves import Curve, Panel, picture
from rlsum.pages.pictures.drawing import COLOURS, Picture

PARAMETERS = {
    "a": "a, minimum number of neighbours",
    "b": "b, maximum share of neighbours",
    "tau": "tau, similarity of a neighbour",
}


def sweep_figure(name: str, points: Sequence[Point], kernel: str, people: Mapping[str, float]) -> Picture:
    """Figures 2 (above: rho) and 3 (below: coverage); ``people`` is the average annotator's rho by task."""
    points = [point for point in points if point.kernel == kernel]
    colours = dict(zip(dict.fromkeys(point.task for point in points), cycle(COLOURS)))
    above = [
        Panel(f"rho ({kernel})", _rho_curves(points, parameter, colours, people), label, (-0.6, 1.0))
        for parameter, label in PARAMETERS.items()
    ]
    below = [
        Panel("coverage", _coverage_curves(points, parameter, colours), label, (0.0, 1.05))
        for parameter, label in PARAMETERS.items()
    ]
    return picture(name, "Thresholds", "rho and coverage by threshold", [*above, *below])


def sizes_figure(sizes: Sequence[SizeResult]) -> Picture:
    """Figure 4: a panel per task, rho and coverage by the number of examples, with standard deviations."""
    panels = []
    for task in dict.fromkeys(size.task for size in sizes):
        of_task = [size for size in sizes if size.task == task]
        numbers = np.array([size.size for size in of_task], dtype=np.float64)
        curves = []
        for name, colour in zip(("correlation", "coverage"), COLOURS, strict=False):
            values = np.array([getattr(size, name) for size in of_task])
            spread = np.array([getattr(size, f"{name}_sd") for size in of_task])
            label = "rho" if name == "correlation" else name
            curves.append(Curve(label, colour, numbers, values, band=(values - spread, values + spread)))
        panels.append(Panel(task, tuple(curves), "examples", (-0.4, 1.05)))
    return picture("figure4", "Fewer examples", "rho and coverage by the number of examples", panels)


def _rho_curves(
    points: Sequence[Point], parameter: str, colours: Mapping[str, str], people: Mapping[str, float]
) -> tuple[Curve, ...]:
    curves = []
    for task, colour in colours.items():
        chosen = [point for point in points if (point.task, point.parameter) == (task, parameter)]
        rho = [point.quality.correlation for point in chosen]
        values = np.array([point.value for point in chosen])
        band = np.array([r.low for r in rho]), np.array([r.high for r in rho])
        curves.append(Curve(task, colour, values, np.array([r.value for r in rho]), band=band))
        if task in people:
            level = np.full(len(values), people[task])
            curves.append(Curve(f"{task}: average annotator", colour, values, level, dashed=True))
    return tuple(curves)


def _coverage_curves(points: Sequence[Point], parameter: str, colours: Mapping[str, str]) -> tuple[Curve, ...]:
    curves = []
    for task, colour in colours.items():
        chosen = [point for point in points if (point.task, point.parameter) == (task, parameter)]
        values = np.array([point.value for point in chosen])
        curves.append(Curve(task, colour, values, np.array([point.quality.coverage.value for point in chosen])))
    return tuple(curves)
