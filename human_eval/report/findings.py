"""An analysis in sentences: the material, findings and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable

from human_eval.design.blinding import naming_note
from human_eval.formatting import counted
from human_eval.statistics.analysis import Analysis, Outcome
from human_eval.statistics.control_variate import ControlVariate
from human_eval.statistics.preference import Preference
from rlsum.evaluation.statistics import holm
from rlsum.pages.table import p_words

FEW_JUDGES = 3  # with fewer judges the verdict does not generalise to people
CLEAR = 0.05  # p below which an effect of side or length is worth a warning


def verdict(outcome: Outcome, alpha: float) -> str:
    """One outcome as a sentence."""
    first, second = outcome.pair
    estimate, preferred = outcome.half, outcome.preferred(alpha)
    if math.isnan(estimate.share):
        return f"{outcome.criterion}: no result for {first} and {second} ({estimate.reason})"
    test = f"{p_words(outcome.p_holm)} after Holm, {counted(estimate.items, 'item')}"
    if preferred is None:
        possible = "too few items for an interval"
        if not math.isnan(estimate.low):
            possible = f"{between(estimate)} remains possible"
        share = f"{second} has {percent(estimate.share)}, {possible}"
        return f"{outcome.criterion}: no difference detected between {first} and {second} ({share}; {test})"
    other = first if preferred == second else second
    estimate = estimate if preferred == second else estimate.turned()
    share = f"{percent(estimate.share)}, {between(estimate)}"
    return f"{outcome.criterion}: {preferred} is preferred to {other} ({share}; {test})"


def findings(analysis: Analysis) -> list[str]:
    """The results as sentences, the primary criterion first."""
    alpha, primary = analysis.settings.alpha, analysis.settings.primary
    outcomes = sorted(analysis.outcomes, key=lambda outcome: outcome.criterion != primary)
    return [
        *("primary criterion, " * (outcome.criterion == primary) + verdict(outcome, alpha) for outcome in outcomes),
        *(
            f"{criterion}: from strongest to weakest: {', '.join(row.system for row in ranking.systems)}"
            for criterion, ranking in analysis.rankings.items()
            if ranking.systems
        ),
        *_best_metric(analysis),
    ]


def warnings(analysis: Analysis) -> list[str]:
    """Reasons for caution about the results."""
    naming = analysis.votes.naming
    return [
        *analysis.votes.notes,
        *([f"blinding: {naming_note(naming)}; judges who read it may have known the system"] if naming else []),
        *(f"{row.judge} is left out with {counted(row.votes, 'vote')}: {row.reason}" for row in analysis.excluded),
        *_changed_by_exclusion(analysis),
        *_too_few(analysis),
        *_naive(analysis),
        *_ties(analysis),
        *_effects(analysis),
        *(f"{name}: no ranking: {row.reason}" for name, row in analysis.rankings.items() if not row.systems),
    ]


def material(analysis: Analysis) -> list[str]:
    """The data, the test and the rules of the analysis."""
    kept, votes, settings = analysis.kept, analysis.votes, analysis.settings
    tasks = len({(row.judge, row.task) for row in kept.rows})
    items = len({row.item for row in kept.rows} | {item for _, item in votes.same})
    judges = len({row.judge for row in kept.rows})
    lines = [f"{counted(tasks, 'judgment')} by {counted(judges, 'judge')} about {counted(items, 'item')}."]
    if votes.same:
        lines.append(f"Not judged, counted as no difference: {counted(len(votes.same), 'comparison')} of equal texts.")
    if votes.naming == ():
        lines.append("No summary that judges read names a system.")
    family = "over all criteria and pairs"
    if settings.primary:
        family = f"within {settings.primary}, the primary criterion, and within the others"
    return [
        *lines,
        "The unit is the item: the mean vote of its judges, where no difference counts half for each system.",
        f"Sign-flip permutation test, two-sided; Holm's correction {family}, at {settings.alpha:g}.",
        f"Intervals: 95%, bootstrap of items. Exclusion rule: {settings.rules.in_words()}.",
    ]


def percent(share: float) -> str:
    """A share in percent with one decimal."""
    return f"{100 * share:.1f}%"


def between(estimate: Preference | ControlVariate) -> str:
    """An interval in percent."""
    return "no interval" if math.isnan(estimate.low) else f"{percent(estimate.low)} to {percent(estimate.high)}"


def _changed_by_exclusion(analysis: Analysis) -> Iterable[str]:
    alpha = analysis.settings.alpha
    for kept, everyone in zip(analysis.outcomes, analysis.everyone, strict=False):
        if kept.preferred(alpha) != everyone.preferred(alpha):
            yield f"without exclusions: {verdict(everyone, alpha)}"


def _too_few(analysis: Analysis) -> Iterable[str]:
    alpha = analysis.settings.alpha
    items = max(outcome.half.items for outcome in analysis.outcomes)
    if items and 2.0 ** (1 - items) > alpha:
        yield f"{counted(items, 'item')}: no result could have been significant at {alpha:g}; judge more items"
    judges = len({row.judge for row in analysis.kept.rows})
    if judges < FEW_JUDGES:
        yield f"{counted(judges, 'judge')}: the verdict is about them, not about people in general"


def _naive(analysis: Analysis) -> Iterable[str]:
    for outcome in analysis.outcomes:
        if outcome.half.naive_p <= analysis.settings.alpha < outcome.half.p:
            yield (
                f"{_name(outcome)}: a test on pooled votes would have claimed a difference "
                f"({p_words(outcome.half.naive_p)}), but votes on an item are not independent; the test by items finds "
                f"none (p = {outcome.half.p:.3f} before correction)"
            )


def _ties(analysis: Analysis) -> Iterable[str]:
    alpha = analysis.settings.alpha
    for outcome in analysis.outcomes:
        half, dropped = outcome.half.p, outcome.dropped.p
        if not math.isnan(dropped) and (half <= alpha) != (dropped <= alpha):
            yield (
                f"{_name(outcome)}: the verdict depends on the treatment of ties: p is {half:.3f} with ties as half "
                f"votes and {dropped:.3f} with ties dropped"
            )


def _effects(analysis: Analysis) -> Iterable[str]:
    for criterion, effect in analysis.order.items():
        if effect.p <= CLEAR:
            yield (
                f"{criterion}: the text on the left got {percent(effect.share)} of the votes ({between(effect)}); "
                "sides are balanced, so this adds noise and favours neither system"
            )
    for criterion, effect in analysis.length.items():
        if effect.p <= CLEAR and effect.share > 0.5:
            yield (
                f"{criterion}: the longer text got {percent(effect.share)} of the votes ({between(effect)}); a "
                "preference may be one for length"
            )
    leads = analysis.leads
    for (criterion, lead), p in zip(leads.items(), holm([lead.p for lead in leads.values()]), strict=True):
        if p <= CLEAR and lead.lead > 0:
            yield (
                f"{criterion}: length alone predicts what the other judges choose better than a judge does, by "
                f"{100 * lead.lead:.1f} points of accuracy ({p_words(float(p))} after Holm)"
            )


def _best_metric(analysis: Analysis) -> Iterable[str]:
    """The metric that narrows the interval of the main criterion most, and by how much."""
    estimates = [
        (control.width, metric, pair, control)
        for (criterion, pair), controls in analysis.controls.items()
        if criterion == analysis.shown
        for metric, control in controls.items()
        if not math.isnan(control.width)
    ]
    if not estimates:
        return
    width, metric, pair, control = min(estimates, key=lambda estimate: estimate[0])
    if width >= 0.995:
        yield f"{analysis.shown}: no metric makes the interval narrower"
        return
    share = f"{percent(control.share)} ({between(control)})"
    yield (
        f"{analysis.shown}: with the scores of {metric} the share of {pair[1]} is estimated as {share}: the interval "
        f"is {percent(1 - width)} narrower, as with {percent(width**-2 - 1)} more items"
    )


def _name(outcome: Outcome) -> str:
    return f"{outcome.criterion}, {' and '.join(outcome.pair)}"
