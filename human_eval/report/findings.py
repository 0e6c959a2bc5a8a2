"""An analysis in sentences: the material, findings and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable

from human_eval.design.blinding import naming_note
from human_eval.formatting import counted
from human_eval.statistics.analysis import Analysis, Outcome, Verdict
from human_eval.statistics.audit import own_shares
from human_eval.statistics.control_variate import ControlVariate
from human_eval.statistics.preference import Preference
from rlsum.evaluation.statistics import holm
from rlsum.pages.table import p_words

CLEAR = 0.05  # p below which an effect of side or length is worth a warning


def verdict(outcome: Outcome, alpha: float) -> str:
    """One outcome as a sentence: what these judges prefer, and whether judges like them would."""
    first, second = outcome.pair
    half, preferred = outcome.half, outcome.preferred(alpha)
    if math.isnan(half.share):
        return f"{outcome.criterion}: no result for {first} and {second} ({half.reason})"
    test = f"{p_words(outcome.p_holm)} after Holm, {counted(half.items, 'item')}"
    system = preferred or second
    share = percent(half.share if system == second else 1 - half.share)
    if preferred is None:
        possible = "too few items for an interval"
        if not math.isnan(outcome.these.low):
            possible = f"{_interval(outcome, outcome.these, system)} remains possible"
        answer = f"no difference detected between {first} and {second} ({second} has {share}, {possible}; {test})"
    else:
        other = first if preferred == second else second
        interval = _interval(outcome, outcome.these, system)
        answer = f"{preferred} is preferred to {other} by these judges ({share}, {interval}; {test})"
    return f"{outcome.criterion}: {answer}; {_alike(outcome, alpha, system)}"


def _alike(outcome: Outcome, alpha: float, system: str) -> str:
    """What can be said of judges like those of the study, about the share of ``system``."""
    random = outcome.random_judges
    if math.isnan(random.p):
        return f"of other judges nothing is shown ({random.reason})"
    interval = _interval(outcome, outcome.alike, system)
    shown = f"{interval}; {p_words(outcome.alike.p_holm)} after Holm, {counted(random.judges, 'judge')}"
    preferred = outcome.preferred_by_others(alpha)
    if preferred is None:
        return f"among judges like these no difference is detected ({system}: {shown})"
    return f"judges like these prefer {preferred}{', too' * (preferred == outcome.preferred(alpha))} ({shown})"


def _interval(outcome: Outcome, verdict: Verdict, system: str) -> str:
    """The simultaneous interval of the share of ``system``."""
    if math.isnan(verdict.low):
        return "no interval"
    low, high = (verdict.low, verdict.high) if system == outcome.pair[1] else (1 - verdict.high, 1 - verdict.low)
    return f"{percent(low)} to {percent(high)}"


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
        *_judges(analysis),
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
        "Two questions. These judges: would they prefer a system on other articles, too? Sign-flip test of items, "
        "two-sided. Judges like these: would others, too? Student's t with items and judges as random.",
        f"Holm's correction {family}, at {settings.alpha:g}.",
        "Intervals of verdicts are simultaneous within such a family and agree with the tests; others have 95% each.",
        f"Exclusion rule: {settings.rules.in_words()}.",
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


def _judges(analysis: Analysis) -> Iterable[str]:
    """Verdicts that hold for these judges only, and judges who contradict them."""
    alpha = analysis.settings.alpha
    reasons = dict.fromkeys(row.random_judges.reason for row in analysis.outcomes if row.half.items)
    yield from (f"the verdicts are about these judges, not about people in general: {why}" for why in reasons if why)
    for outcome in analysis.outcomes:
        preferred = outcome.preferred(alpha)
        if preferred is None:
            continue
        if not math.isnan(outcome.alike.p_holm) and outcome.preferred_by_others(alpha) is None:
            yield (
                f"{_name(outcome)}: {preferred} is preferred by these judges, but their own preferences differ so much "
                "that others like them may not prefer it"
            )
        shares = own_shares(analysis.kept, outcome.criterion, outcome.pair)
        for_preferred = {judge: share if preferred == outcome.pair[1] else 1 - share for judge, share in shares.items()}
        against = {judge: share for judge, share in sorted(for_preferred.items()) if share < 0.5}
        if against:
            named = ", ".join(f"{judge} ({percent(share)} for {preferred})" for judge, share in against.items())
            yield f"{_name(outcome)}: {len(against)} of {counted(len(shares), 'judge')} chose the other: {named}"


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
                f"{criterion}: the longer text got {percent(effect.share)} of these judges' votes ({between(effect)}); "
                "a preference may be one for length"
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
