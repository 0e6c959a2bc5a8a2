"""Pictures: the preferences of a study with their intervals, and the power of a plan."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from human_eval.analysis import Analysis
from human_eval.plan import Plan
from rlsum.pages.pictures import COLOURS, INKS, Mode, Picture, drawn

LONGEST = 40  # letters of a system's name in a picture; the tables have it whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        told = [f"{each.criterion}\n{' / '.join(map(_name, each.pair))}" for each in outcomes]
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


def _name(system: str) -> str:
    """A name that fits a picture; dollars would else begin a formula, and one that is none stops the drawing."""
    text = " ".join(system.split())
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return short.replace("$", r"\$")


def power_picture(plan: Plan) -> Picture:
    """Power against items, a curve for each number of judges."""
    design, assumed = plan.design, plan.assumptions

    def draw(figure: Figure, mode: Mode) -> None:
        axes = figure.add_subplot()
        axes.axhline(100 * design.power, color=INKS[mode], linewidth=0.8, linestyle="--")
        for curve, colour in zip(plan.curves, COLOURS, strict=False):
            power = [100 * each for each in curve.power]
            label = f"{curve.judges} judge{'s' if curve.judges > 1 else ''} an item"
            axes.plot(curve.items, power, marker=".", color=colour, label=label)
        axes.plot([float(design.items or 0)], [100 * plan.power], "D", color=INKS[mode], label="the plan")
        axes.set_xscale("log")
        ticks = plan.curves[0].items
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_ylim(0, 102)
        axes.set_xlabel("items")
        axes.set_ylabel("power, %")
        axes.legend(frameon=False, loc="lower right")

    return drawn(
        "power",
        "Power",
        f"How often a preference of {assumed.preference:.0%} is found, with {assumed.ties:.0%} ties and a correlation "
        f"of {assumed.correlation:.2f} within items, at {design.alpha / design.pairs:.3g}.",
        (6.4, 4.2),
        draw,
    )
