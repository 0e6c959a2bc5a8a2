"""Pictures of training runs, drawn from their ``metrics.jsonl``: learning curves, validation scores, reward.

Each picture is rendered twice, for light and for dark pages. A run has the same colour in every picture.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rlsum.pages.pictures import COLOURS, Picture, drawn
from rlsum.records import RecordError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
Runs = Mapping[str, Sequence[Row]]  # run name -> rows of its metrics.jsonl
Scale = Literal["linear", "log"]

PANEL = (4.0, 2.7)  # inches a panel
COLUMNS = 3


@dataclass(frozen=True)
class Curve:
    """A line of a panel: ``steps`` and ``values`` (n,) each; a dashed one is what the line is measured against.

    ``band`` is the lower and the upper end (n,) of a shaded area around it.
    """

    label: str
    colour: str
    steps: NDArray[np.float64]
    values: NDArray[np.float64]
    smooth: bool = False
    dashed: bool = False
    band: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes; ``across`` names the horizontal one.

    ``span``: the lowest and highest value shown, for panels that are compared with each other. ``scales``: linear or
    log, horizontally and vertically.
    """

    title: str
    curves: tuple[Curve, ...]
    across: str = "step"
    span: tuple[float, float] | None = None
    scales: tuple[Scale, Scale] = ("linear", "linear")


def read_metrics(run: str | Path) -> list[dict[str, Any]]:
    """The rows of ``run/metrics.jsonl``, in order.

    A last line cut short (the run was killed while writing it) is left out; any other broken line is a RecordError.
    """
    path = Path(run) / "metrics.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror}); give the folder of a training run") from error
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            if number < len(lines):
                raise RecordError(f"{path}:{number}: not JSON ({error.msg})") from error
    return rows


def series(rows: Sequence[Row], kind: str, key: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps and values (n,) of ``key`` in rows of ``kind`` ("train" or "valid"); rows without a finite one left out."""
    points = [
        (row["step"], row[key])
        for row in rows
        if row.get("kind") == kind and isinstance(row.get(key), int | float) and math.isfinite(row[key])
    ]
    steps, values = zip(*points, strict=True) if points else ((), ())
    return np.array(steps, dtype=np.float64), np.array(values, dtype=np.float64)


def smoothed(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Centred moving average of ``values`` (n,) over up to ``width`` points, fewer at the ends; (n,)."""
    if width <= 1:
        return values  # gaps (NaN) stay gaps
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    low, high = np.maximum(places - width // 2, 0), np.minimum(places + width // 2 + 1, len(values))
    return (sums[high] - sums[low]) / (high - low)


def draw_runs(runs: Runs, metrics: Sequence[str], start: str | None = None) -> list[Picture]:
    """The pictures of some runs, those without data left out; ``metrics`` are the scores to follow in validation.

    ``start`` names the run that the others went on from: it gets panels of its own, being far longer than they are.
    Every panel and curve without a single value is left out too, so runs may have logged different things.
    """
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(runs)}
    first = {name: rows for name, rows in runs.items() if name == start}
    after = {name: rows for name, rows in runs.items() if name != start}
    planned = [
        (
            "learning-curves",
            "Learning curves",
            "Negative log-likelihood of the reference a token, in training (moving average) and in validation.",
            [
                *_likelihood_panels(first, colours, f"{start}: "),
                *_likelihood_panels(after, colours, f"after {start}: " if first else ""),
            ],
        ),
        (
            "validation",
            "Validation as training goes on",
            "Every metric, with length and repetition, on validation articles: the reward trained on and the others.",
            _validation_panels(after, colours, metrics),
        ),
        (
            "reward",
            "Reward of samples and of the greedy baseline",
            "Moving averages over training batches; a sample is encouraged when it beats the greedy summary.",
            _reward_panels(after, colours),
        ),
    ]
    return [picture(name, title, description, panels) for name, title, description, panels in planned if panels]


def _likelihood_panels(runs: Runs, colours: Mapping[str, str], whose: str) -> list[Panel]:
    return _filled(
        Panel(
            whose + title,
            tuple(Curve(name, colours[name], *series(rows, kind, "nll"), smooth) for name, rows in runs.items()),
        )
        for title, kind, smooth in (
            ("training, nats a token", "train", True),
            ("validation, nats a token", "valid", False),
        )
    )


def _validation_panels(runs: Runs, colours: Mapping[str, str], metrics: Sequence[str]) -> list[Panel]:
    return _filled(
        Panel(key, tuple(Curve(name, colours[name], *series(rows, "valid", key)) for name, rows in runs.items()))
        for key in (*metrics, "length", "repetition")
    )


def _reward_panels(runs: Runs, colours: Mapping[str, str]) -> list[Panel]:
    return _filled(
        Panel(
            name,
            (
                Curve("sample", colours[name], *series(rows, "train", "reward"), smooth=True),
                Curve("greedy", colours[name], *series(rows, "train", "baseline_reward"), smooth=True, dashed=True),
            ),
        )
        for name, rows in runs.items()
    )


def _filled(panels: Iterable[Panel]) -> list[Panel]:
    kept = (replace(panel, curves=tuple(curve for curve in panel.curves if len(curve.steps))) for panel in panels)
    return [panel for panel in kept if panel.curves]


def picture(name: str, title: str, description: str, panels: Sequence[Panel]) -> Picture:
    """Panels drawn beside each other."""
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)

    def draw(figure: Figure, _: str) -> None:
        for place, panel in enumerate(panels, 1):
            _draw(figure.add_subplot(rows, columns, place), panel)
        _legend(figure)

    return drawn(name, title, description, (PANEL[0] * columns, PANEL[1] * rows + 0.4), draw)


def _draw(axes: Axes, panel: Panel) -> None:
    for curve in panel.curves:
        if curve.band is not None:
            axes.fill_between(curve.steps, *curve.band, color=curve.colour, alpha=0.15, linewidth=0)
        width = max(1, len(curve.steps) // 20) if curve.smooth else 1
        if width > 1 and not curve.dashed:
            axes.plot(curve.steps, curve.values, color=curve.colour, alpha=0.18, linewidth=0.7)
        axes.plot(
            curve.steps,
            smoothed(curve.values, width),
            color=curve.colour,
            linestyle="--" if curve.dashed else "-",
            marker="." if len(curve.steps) <= 30 else None,
            label=curve.label,
        )
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.across)
    axes.set_xscale(panel.scales[0])
    axes.set_yscale(panel.scales[1])
    if panel.span is not None:
        axes.set_ylim(*panel.span)


def _legend(figure: Figure) -> None:
    """One legend for all panels, beneath them."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower left", ncols=min(4, len(entries)), frameon=False)
