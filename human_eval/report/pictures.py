"""Pictures: the preferences of a study with their intervals, and the power of a plan."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from human_eval.formatting import counted, percentage
from human_eval.planning.plan import StudyPlan
from human_eval.planning.preregistration import needed
from human_eval.statistics.analysis import Analysis
from rlsum.pages.pictures.drawing import COLOURS, INKS, Mode, Picture, drawn, short_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VOTES = "votes for the system on the right, %"
LINES = ("-", "--", ":")  # for more curves than colours


def preferences_picture(analysis: Analysis) -> Picture:
    """The share of the second system and its interval, one line for each criterion and pair."""
    outcomes = [outcome for outcome in analysis.outcomes if not math.isnan(outcome.half.share)][::-1]
    alpha, graded = analysis.settings.alpha, any(outcome.points for outcome in outcomes)
    names, asked = short_names(analysis.votes.systems, 18), short_names(analysis.votes.criteria, 16)

    def draw(figure: Figure, mode: Mode) -> None:
        axes = figure.add_subplot()
        axes.axvline(50, color=INKS[mode], linewidth=0.8, linestyle="--")
        for y, outcome in enumerate(outcomes):
            half, sides = outcome.half, [names[system] for system in outcome.pair]
            colour = COLOURS[6] if outcome.preferred(alpha) is None else COLOURS[0 if half.share > 0.5 else 1]
            low, high = outcome.shown.low, outcome.shown.high
            if not math.isnan(low):
                axes.plot([100 * low, 100 * high], [y, y], color=colour, linewidth=2.5)
            axes.plot(100 * half.share, y, "o", color=colour, markersize=7)
            for x, text, align in (
                (0, sides[0], "left"),
                (50, asked[outcome.criterion], "center"),
                (100, sides[1], "right"),
            ):
                weight = "bold" if x == 50 else "normal"
                ground = {"facecolor": figure.get_facecolor(), "edgecolor": "none", "pad": 1}
                axes.text(x, y + 0.32, text, ha=align, va="center", fontsize=8, fontweight=weight, bbox=ground)
        axes.set_yticks([])
        label = f"{VOTES}; of graded answers,\n0 and 100 are the largest differences" if graded else VOTES
        axes.set(xlim=(-2, 102), ylim=(-0.4, len(outcomes) - 0.3), xlabel=label)
        axes.grid(axis="y", visible=False)

    return drawn(
        "preferences",
        "Preferences",
        "Share of the system on the right among these judges. The interval is simultaneous, and of judges like these, "
        "or of these alone if they are too few. Blue: the right one is preferred; orange: the left one; grey: "
        "neither is claimed to be.",
        (3.8, 0.9 + 0.55 * max(1, len(outcomes))),
        draw,
    )


def power_picture(plan: StudyPlan) -> Picture:
    """Power against items, one curve for each number of judges, or for each scenario of the plan."""
    design, assumed = plan.design, plan.assumptions
    curves = [(f"{counted(curve.judges, 'judge')} per item", curve) for curve in plan.curves]
    caption = (
        f"Power to detect a preference of {percentage(assumed.preference)}, with {percentage(assumed.ties)} ties and a "
        f"correlation of {assumed.correlation:.2f} within items"
    )
    if plan.outlooks:
        names = short_names((outlook.scenario.name for outlook in plan.outlooks), 30)
        curves = [
            (f"{names[outlook.scenario.name]}: {needed(outlook, design.power)}", outlook.curve)
            for outlook in plan.outlooks
        ]
        caption = "Power to detect the preference of each scenario; the label gives the items that it needs"

    def draw(figure: Figure, mode: Mode) -> None:
        axes = figure.add_subplot()
        axes.axhline(100 * design.power, color=INKS[mode], linewidth=0.8, linestyle="--")
        for number, (label, curve) in enumerate(curves):
            colour, line = COLOURS[number % len(COLOURS)], LINES[number // len(COLOURS)]
            shown = [100 * power for power in curve.power]
            for place, items in enumerate(curve.items):
                if design.refused(items, curve.judges):  # no test, so no power: not one of 0
                    shown[place] = math.nan
            axes.plot(curve.items, shown, line, marker=".", color=colour, label=label)
        axes.plot([float(design.items or 0)], [100 * plan.power], "D", color=INKS[mode], label="the plan")
        axes.set(xscale="log", ylim=(0, 102), xlabel="items", ylabel="power, %")
        axes.set_xticks(plan.curves[0].items, map(str, plan.curves[0].items))
        axes.minorticks_off()
        if plan.outlooks:  # long names would hide curves
            title = f"scenario: items for a power of {design.power:.0%}"
            figure.legend(loc="outside lower left", ncols=2, frameon=False, title=title, alignment="left")
        else:
            axes.legend(frameon=False, loc="lower right")

    height = 4.2 + (0.3 + 0.1 * len(plan.outlooks) if plan.outlooks else 0)
    caption += f", tested at {design.alpha / design.pairs:.3g}"
    begins = "A line begins where there are people and items enough for a test."
    return drawn("power", "Power", f"{caption}. {begins}", (6.4, height), draw)
