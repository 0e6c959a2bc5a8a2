"""Pictures: the preferences of a study with their intervals, and the power of a plan."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from human_eval.formatting import counted, percentage, versus
from human_eval.planning.plan import StudyPlan
from human_eval.planning.preregistration import needed
from human_eval.statistics.analysis import Analysis
from rlsum.pages.pictures import COLOURS, INKS, Mode, Picture, drawn, short_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = ("-", "--", ":")  # of one colour, where there are more curves than colours


def preferences_picture(analysis: Analysis) -> Picture:
    """A line a criterion and pair: the share of the second system and its interval, beside that of no preference."""
    outcomes = [each for each in analysis.outcomes if not math.isnan(each.half.share)][::-1]
    alpha = analysis.settings.alpha

    def draw(figure: Figure, mode: Mode) -> None:
        axes = figure.add_subplot()
        axes.axvline(50, color=INKS[mode], linewidth=0.8, linestyle="--")
        for place, each in enumerate(outcomes):
            colour = COLOURS[6] if each.preferred(alpha) is None else COLOURS[0 if each.half.share > 0.5 else 1]
            if not math.isnan(each.half.low):
                axes.plot([100 * each.half.low, 100 * each.half.high], [place, place], color=colour, linewidth=2.5)
            axes.plot(100 * each.half.share, place, "o", color=colour, markersize=7)
        pairs = [versus((short_name(each.pair[0]), short_name(each.pair[1]))) for each in outcomes]
        told = [f"{each.criterion}\n{pair}" for each, pair in zip(outcomes, pairs, strict=True)]
        axes.set_yticks(range(len(outcomes)), told)
        axes.set_ylim(-0.6, len(outcomes) - 0.4)
        axes.set_xlim(0, 100)
        axes.set_xlabel("votes for the second system, %")
        axes.grid(axis="y", visible=False)

    return drawn(
        "preferences",
        "Preferences",
        "Share of the second system with its 95% interval. Blue: the second is preferred; orange: the first is; grey: "
        "no difference detected.",
        (7.2, 1.0 + 0.5 * max(1, len(outcomes))),
        draw,
    )


def power_picture(plan: StudyPlan) -> Picture:
    """Power against items, a curve for each number of judges, or for each scenario of a table of assumptions."""
    design, assumed = plan.design, plan.assumptions
    curves = [(f"{counted(curve.judges, 'judge')} an item", curve) for curve in plan.curves]
    what = f"a preference of {percentage(assumed.preference)} is found, with {percentage(assumed.ties)} ties and a "
    told = f"How often {what}correlation of {assumed.correlation:.2f} within items"
    if plan.outlooks:
        names = [short_name(each.scenario.name, 30) for each in plan.outlooks]
        curves = [
            (f"{name}: {needed(each, design.power)}", each.curve)
            for name, each in zip(names, plan.outlooks, strict=True)
        ]
        told = "How often the preference of each scenario is found; beside its name the items it needs"

    def draw(figure: Figure, mode: Mode) -> None:
        axes = figure.add_subplot()
        axes.axhline(100 * design.power, color=INKS[mode], linewidth=0.8, linestyle="--")
        for place, (label, curve) in enumerate(curves):
            line = LINES[place // len(COLOURS)]
            power = [100 * each for each in curve.power]
            axes.plot(curve.items, power, line, marker=".", color=COLOURS[place % len(COLOURS)], label=label)
        axes.plot([float(design.items or 0)], [100 * plan.power], "D", color=INKS[mode], label="the plan")
        axes.set_xscale("log")
        ticks = plan.curves[0].items
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_ylim(0, 102)
        axes.set_xlabel("items")
        axes.set_ylabel("power, %")
        if plan.outlooks:  # names may be long: beneath, where they hide no curve
            title = f"scenario: items for a power of {design.power:.0%}"
            figure.legend(loc="outside lower left", ncols=2, frameon=False, title=title, alignment="left")
        else:
            axes.legend(frameon=False, loc="lower right")

    height = 4.2 + (0.3 + 0.1 * len(plan.outlooks) if plan.outlooks else 0)
    return drawn("power", "Power", f"{told}, tested at {design.alpha / design.pairs:.3g}.", (6.4, height), draw)
