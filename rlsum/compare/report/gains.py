"""What each training gained on its own reward and on the others, in pictures with seeds and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rlsum.compare.cells import START
from rlsum.compare.report.side_effects import mean_lengths
from rlsum.compare.results import Contrast, Results, System
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import LEVEL
from rlsum.pages.blocks import Beside, Block, Paragraph
from rlsum.pages.pictures.drawing import COLOURS, Picture, drawn, short_name
from rlsum.pages.table import SCALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, ROW, AROUND = 3.7, 0.4, 0.6  # inches: as wide as a phone; of a metric; of the axis
FRACTIONS = 2.0  # at most: scores from 0 to 1, and their sums; gains of log-probabilities are on another scale

Span = tuple[float, float]


def gain_pictures(results: Results) -> list[Block]:
    """A picture of each trained system, all on one scale; [] without a start that was scored."""
    start, tests = results.systems.get(START), results.against.get(START, ())
    by_system = {system.name: _own_first(system, tests) for system in results.trained}
    defined = [test for of_system in by_system.values() for test in of_system]
    if start is None or not defined:
        return []
    points = {(test.system, test.metric): by_seed(results.systems[test.system], start, test.metric) for test in defined}
    span = _span(_of_fractions(defined, results), points)
    pictures = tuple(
        _picture(f"gains-{number}", results.systems[name], start, of_system, points, span)
        for number, (name, of_system) in enumerate(by_system.items(), 1)
        if of_system
    )
    dots = "Small dots are seeds. " if len(results.seeds) > 1 else ""
    legend = (
        f"Gain over {start.title}, in points (x {SCALE}), on the test articles. Blue: the reward that was trained "
        f"on. {dots}Lines are {LEVEL:.0%} intervals; one that an arrow ends goes on, a gain beside the name of its "
        "metric is beyond the picture. A full circle: different after Holm's correction."
    )
    return [Paragraph(legend), Beside(pictures)]


def by_seed(system: System, other: System, metric: str) -> Floats:
    """The mean difference of two rows on a metric in every seed (seeds,), over articles of both; NaN for none."""
    pairs = system.metrics[metric] - other.metrics[metric]
    defined = ~np.isnan(pairs)
    sums = np.where(defined, pairs, 0.0).sum(axis=1)
    return np.where(defined.any(axis=1), sums / np.maximum(defined.sum(axis=1), 1), np.nan)


def _own_first(system: System, tests: Sequence[Contrast]) -> list[Contrast]:
    of_system = [test for test in tests if test.system == system.name and not np.isnan(test.difference.mean)]
    return sorted(of_system, key=lambda test: test.metric != system.reward)


def _of_fractions(tests: Sequence[Contrast], results: Results) -> Sequence[Contrast]:
    """The tests by metrics with the usual scale; all, if none has."""
    columns = {test.metric: [system.metrics.get(test.metric) for system in results.systems.values()] for test in tests}
    usual = {
        metric
        for metric, values in columns.items()
        if all(np.nanmax(np.abs(scores), initial=0.0) <= FRACTIONS for scores in values if scores is not None)
    }
    return [test for test in tests if test.metric in usual] or tests


def _span(tests: Sequence[Contrast], points: Mapping[tuple[str, str], Floats]) -> Span:
    """The values that all pictures show, in points: every mean and seed, and intervals as far as they double that."""
    means = [SCALE * test.difference.mean for test in tests]
    of_seeds = (SCALE * value for test in tests for value in points[test.system, test.metric] if not np.isnan(value))
    seen = np.array([0.0, *means, *of_seeds])
    ends = [SCALE * end for test in tests for end in (test.difference.low, test.difference.high) if not np.isnan(end)]
    room = float(seen.max() - seen.min()) or 1.0
    low = max(min([seen.min(), *ends]), seen.min() - room / 2)
    high = min(max([seen.max(), *ends]), seen.max() + room / 2)
    edge = 0.04 * (high - low) or 0.5  # no gain at all: a picture still has a width
    return float(low - edge), float(high + edge)


def gains_beside(results: Results, names: Sequence[str], metrics: Sequence[str]) -> Picture:
    """One picture of some trained systems by some metrics, a panel a system, each with its lengths.

    Raises KeyError for a name without results or gains.
    """
    start = results.systems[START]
    by_key = {(test.system, test.metric): test for test in results.against[START]}
    tests = {name: [by_key[name, metric] for metric in metrics] for name in names}
    points = {key: by_seed(results.systems[key[0]], start, key[1]) for key in by_key if key[0] in names}
    span = _span(_of_fractions([test for of_system in tests.values() for test in of_system], results), points)

    def draw(figure: Figure, _: str) -> None:
        for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            system = results.systems[name]
            _panel(axes, system, start, tests[name], points, span)
            axes.set_title(f"trained on {short_name(system.title)}\n{lengths(system, start)}", loc="left")

    size = (1.1 * WIDTH * len(names), AROUND + 0.5 + ROW * len(metrics))
    return drawn("gains", "Gains over the start", "", size, draw)


def _picture(
    name: str,
    system: System,
    start: System,
    tests: Sequence[Contrast],
    points: dict[tuple[str, str], Floats],
    span: Span,
) -> Picture:
    def draw(figure: Figure, _: str) -> None:
        _panel(figure.add_subplot(), system, start, tests, points, span)

    size = (WIDTH, AROUND + ROW * len(tests))
    return drawn(name, f"Trained on {system.title}", lengths(system, start), size, draw)


def _panel(
    axes: Axes,
    system: System,
    start: System,
    tests: Sequence[Contrast],
    points: dict[tuple[str, str], Floats],
    span: Span,
) -> None:
    """The gains of a system, a line a metric; blue: the reward that it was trained on."""
    for place, test in enumerate(tests):
        colour = COLOURS[0] if test.metric == system.reward else COLOURS[-1]
        _row(axes, place, test, points[test.system, test.metric], span, colour)
    axes.axvline(0, color=COLOURS[-1], linewidth=1, zorder=0)
    axes.set_xlim(*span)
    axes.set_ylim(len(tests) - 0.4, -0.7)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"gain over {short_name(start.title)}, x {SCALE}")


def _row(axes: Axes, place: int, test: Contrast, seeds: Floats, span: Span, colour: str) -> None:
    """A metric with its mean and interval, an arrow where the picture ends before that, and a dot a seed."""
    difference, mean = test.difference, SCALE * test.difference.mean
    beyond = not span[0] <= mean <= span[1]
    name = short_name(test.metric) + (f" {mean:+.1f}" if beyond else "")
    behind = {"facecolor": axes.get_facecolor(), "edgecolor": "none", "pad": 1}  # no line goes through the name
    axes.text(0, place - 0.3, name, transform=axes.get_yaxis_transform(), va="center", bbox=behind)
    if beyond:
        axes.plot([np.clip(mean, *span)], [place], "<" if mean < 0 else ">", color=colour, markersize=7, clip_on=False)
        return
    if not np.isnan(difference.low):
        low, high = (float(np.clip(SCALE * end, *span)) for end in (difference.low, difference.high))
        axes.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        for end, sign in ((difference.low, "<"), (difference.high, ">")):
            if not span[0] <= SCALE * end <= span[1]:
                edge = span[0] if sign == "<" else span[1]
                axes.plot([edge], [place], sign, color=colour, markersize=7, clip_on=False)
    if len(seeds) > 1:
        axes.plot(SCALE * seeds, np.full(len(seeds), place + 0.22), ".", color=colour, alpha=0.8, markersize=5)
    inside = colour if test.shown else axes.get_facecolor()
    axes.plot([mean], [place], "o", color=colour, markerfacecolor=inside, markersize=6.5)


def lengths(system: System, start: System) -> str:
    """The mean length of the summaries beside those of the start, as `mean_lengths`; "" where it is unknown."""
    length, start_length = mean_lengths(system, start)
    return "" if np.isnan(length) else f"{length:.1f} tokens a summary; {start.title} {start_length:.1f}"
