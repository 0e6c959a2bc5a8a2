"""An analysis in words: what was found, what was not, and what to be careful about."""

from __future__ import annotations

import math
from collections.abc import Sequence

from human_eval.design.blinding import naming_note
from human_eval.formatting import counted
from human_eval.statistics.analysis import Analysis, Outcome
from human_eval.statistics.control_variate import ControlVariate
from human_eval.statistics.metrics import JUDGE, LENGTH
from human_eval.statistics.preference import Preference

FEW_JUDGES = 3  # below this many judges, what they say is about them
CLEAR = 0.05  # p below which an effect of order or length is worth a warning


def verdict(outcome: Outcome, alpha: float) -> str:
    """One outcome as a sentence."""
    first, second = outcome.pair
    found, preferred = outcome.half, outcome.preferred(alpha)
    if math.isnan(found.share):
        return f"{outcome.criterion}: nothing can be said of {first} and {second} ({found.reason})"
    grounds = f"{p_words(outcome.p_holm)} after Holm, {counted(found.items, 'item')}"
    if preferred is None:
        possible = "too few items to say what remains possible"
        if not math.isnan(found.low):
            possible = f"{between(found)} remains possible"
        share = f"{second} has {percent(found.share)}, {possible}"
        return f"{outcome.criterion}: no difference detected between {first} and {second} ({share}; {grounds})"
    other = first if preferred == second else second
    found = found if preferred == second else found.turned()
    share = f"{percent(found.share)}, {between(found)}"
    return f"{outcome.criterion}: {preferred} is preferred to {other} ({share}; {grounds})"


def findings(analysis: Analysis) -> list[str]:
    """What the study says, the primary criterion first."""
    alpha, primary = analysis.settings.alpha, analysis.settings.primary
    ordered = sorted(analysis.outcomes, key=lambda outcome: outcome.criterion != primary)
    said = ["primary criterion, " * (each.criterion == primary) + verdict(each, alpha) for each in ordered]
    for criterion, ranking in analysis.rankings.items():
        if ranking.systems:
            said.append(f"{criterion}: from strongest to weakest: {', '.join(row.system for row in ranking.systems)}")
    helped = _helped(analysis)
    return [*said, helped] if helped else said


def warnings(analysis: Analysis) -> list[str]:
    """What a reader should know before believing it."""
    alpha, naming = analysis.settings.alpha, analysis.votes.naming
    return [
        *analysis.votes.notes,
        *([f"blinding: {naming_note(naming)}; whoever read it may have known"] if naming else []),
        *(f"{each.judge} is left out with {counted(each.votes, 'vote')}: {each.reason}" for each in analysis.excluded),
        *_changed_by_exclusion(analysis),
        *_too_few(analysis, alpha),
        *_naive(analysis.outcomes, alpha),
        *_ties(analysis.outcomes, alpha),
        *_effects(analysis),
        *(f"{name}: no ranking: {found.reason}" for name, found in analysis.rankings.items() if not found.systems),
    ]


def material(analysis: Analysis) -> list[str]:
    """What the study rests on."""
    kept, votes = analysis.kept, analysis.votes
    tasks = len({(row.judge, row.task) for row in kept.rows})
    items = len({row.item for row in kept.rows} | {item for _, item in votes.same})
    judges = len({row.judge for row in kept.rows})
    lines = [f"{counted(tasks, 'judgment')} by {counted(judges, 'judge')} about {counted(items, 'item')}."]
    if votes.same:
        lines.append(f"Unjudged, counted as no difference: {counted(len(votes.same), 'comparison')} of equal texts.")
    if votes.naming == ():
        lines.append("No summary that judges were shown names a system.")
    family = (
        f"within {analysis.settings.primary}, the primary criterion, and within the others"
        if analysis.settings.primary
        else "over all criteria and pairs"
    )
    lines += [
        "The item is the unit: the mean vote of its judges, no difference counting half for each system.",
        f"Sign-flip permutation test, two-sided; Holm's correction {family}, at {analysis.settings.alpha:g}.",
        f"Intervals: 95%, bootstrap of items. Rules fixed beforehand: {analysis.settings.rules.told()}.",
    ]
    return lines


def percent(share: float) -> str:
    """A share in percent with a digit."""
    return f"{100 * share:.1f}%"


def between(found: Preference | ControlVariate) -> str:
    """An interval in percent."""
    return "no interval" if math.isnan(found.low) else f"{percent(found.low)} to {percent(found.high)}"


def p_words(p: float) -> str:
    """A p-value in running text."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}"


def _changed_by_exclusion(analysis: Analysis) -> list[str]:
    alpha = analysis.settings.alpha
    return [
        f"with nobody left out: {verdict(everyone, alpha)}"
        for kept, everyone in zip(analysis.outcomes, analysis.everyone, strict=False)
        if kept.preferred(alpha) != everyone.preferred(alpha)
    ]


def _too_few(analysis: Analysis, alpha: float) -> list[str]:
    lines = []
    items = max(outcome.half.items for outcome in analysis.outcomes)
    if items and 2.0 ** (1 - items) > alpha:
        lines.append(f"{counted(items, 'item')}: no result could have been significant at {alpha:g}; judge more items")
    judges = len({row.judge for row in analysis.kept.rows})
    if judges < FEW_JUDGES:
        lines.append(f"{counted(judges, 'judge')}: the verdict is about them, not about people")
    return lines


def _naive(outcomes: Sequence[Outcome], alpha: float) -> list[str]:
    return [
        f"{each.criterion}, {' and '.join(each.pair)}: pooling votes as if they were independent would have claimed a "
        f"difference ({p_words(each.half.naive_p)}); by items there is none (p = {each.half.p:.3f} before correction)"
        for each in outcomes
        if each.half.naive_p <= alpha < each.half.p
    ]


def _ties(outcomes: Sequence[Outcome], alpha: float) -> list[str]:
    return [
        f"{each.criterion}, {' and '.join(each.pair)}: p is {each.half.p:.3f} with ties as half votes and "
        f"{each.dropped.p:.3f} with ties dropped: the verdict leans on that choice"
        for each in outcomes
        if not math.isnan(each.dropped.p) and (each.half.p <= alpha) != (each.dropped.p <= alpha)
    ]


def _effects(analysis: Analysis) -> list[str]:
    lines = []
    for criterion, found in analysis.order.items():
        if found.p <= CLEAR:
            lines.append(
                f"{criterion}: the text on the left was chosen in {percent(found.share)} ({between(found)}); sides are "
                "balanced, so this adds noise and favours neither system"
            )
    for criterion, found in analysis.length.items():
        if found.p <= CLEAR and found.share > 0.5:
            lines.append(
                f"{criterion}: the longer text was chosen in {percent(found.share)} ({between(found)}); a preference "
                "may be one for length"
            )
    for criterion, metrics in analysis.metrics.items():
        single, length = metrics[JUDGE], metrics[LENGTH]
        if length.low > single.high:
            lines.append(f"{criterion}: length alone foretells the judges' choice better than one of them does")
    return lines


def _helped(analysis: Analysis) -> str:
    """Which metric made the primary estimate surest, and by how much."""
    found = [
        (control.width, metric, criterion, pair, control)
        for (criterion, pair), controls in analysis.controls.items()
        if criterion == analysis.shown
        for metric, control in controls.items()
        if not math.isnan(control.width)
    ]
    if not found:
        return ""
    width, metric, criterion, pair, control = min(found, key=lambda each: each[0])
    if width >= 0.995:
        return f"{criterion}: no metric makes the estimate surer"
    return (
        f"{criterion}: with the scores of {metric} the share of {pair[1]} is estimated as {percent(control.share)} "
        f"({between(control)}): the interval is {percent(1 - width)} narrower, as with {percent(width**-2 - 1)} more "
        "items"
    )
