"""An analysis in sentences: the material and the findings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from human_eval.formatting import counted
from human_eval.report.amounts import amount, interval, of_system
from human_eval.report.errors import error_findings
from human_eval.statistics.analysis import Analysis
from human_eval.statistics.control_variate import ControlVariate
from human_eval.statistics.outcomes import Outcome, detected
from human_eval.statistics.preference import Preference
from rlsum.evaluation.statistics import holm
from rlsum.pages.table import joined, p_words

CLEAR = 0.01  # p, after Holm's correction, of an effect of side, length or a metric that is told beside the verdicts


def headline(analysis: Analysis) -> str:
    """The verdict on the main criterion in one sentence, in which what holds of several pairs is said once."""
    shown = [row for row in analysis.outcomes if row.criterion == analysis.shown and row.half.items]
    if not shown:
        return "There is no verdict."
    by_claim: dict[str, list[str]] = {}
    for outcome in shown:
        claim, pair = _in_short(analysis, outcome)
        by_claim.setdefault(claim, []).append(pair)
    claims = sorted(by_claim.items(), key=lambda row: not row[0].startswith("these judges"))  # what is shown is first
    sentence = "; ".join(claim.format(joined(pairs)) for claim, pairs in claims)
    if len(analysis.votes.criteria) > 1:
        sentence = f"on {analysis.shown}, {sentence}"
    judges, items = max(row.random_judges.judges for row in shown), max(row.half.items for row in shown)
    unit = "Points of" if shown[0].points else "Shares of"
    return (
        f"{sentence[0].upper()}{sentence[1:]}. {unit} the answers of {counted(judges, 'judge')} on "
        f"{counted(items, 'article')}."
    )


def _in_short(analysis: Analysis, outcome: Outcome) -> tuple[str, str]:
    """What is claimed, with a gap for pairs of systems, and the pair with its share and interval."""
    alpha, leaning = analysis.settings.alpha, outcome.leaning(analysis.settings.alpha)
    system = leaning or outcome.pair[1]
    rival = next(name for name in outcome.pair if name != system)
    share = f"{of_system(outcome, system)}, {interval(outcome, outcome.shown, system)}"
    if names := outcome.decided_by:
        alone = names[0] if len(names) == 1 else f"any one of {', '.join(names)}"
        return "no reliable preference is shown for {}", f"{system} over {rival} (not shown without {alone}; {share})"
    if not outcome.preferred(alpha):
        judges = counted(outcome.random_judges.judges, "judge")
        if math.isnan(outcome.answer.p_holm):
            claim = f"{judges} on {counted(outcome.half.items, 'article')} cannot show a preference for {{}}"
            return claim, f"{system} or {rival} ({system} {share})"
        taste = f" beyond what {judges} may have of their own" if leaning else ""
        return f"no preference{taste} is shown for {{}}", f"{system} or {rival} ({system} {share})"
    if outcome.preferred_by_others(alpha):
        return "these judges, and judges like them, prefer {}", f"{system} to {rival} ({share})"
    return "these judges prefer {}, and whether others would is not shown", f"{system} to {rival} ({share})"


def verdict(outcome: Outcome, alpha: float) -> str:
    """One outcome as a sentence: what these judges prefer, and whether judges like them would."""
    first, second = outcome.pair
    half, leaning = outcome.half, outcome.leaning(alpha)
    if math.isnan(half.share):
        return f"{outcome.criterion}: no result for {first} and {second} ({half.reason})"
    test = f"{p_words(outcome.p_holm)} after Holm, {counted(half.items, 'item')}"
    system = leaning or second
    has = of_system(outcome, system)
    these = f"{interval(outcome, outcome.these, system)}; {test}"
    if outcome.preferred(alpha) and leaning:
        rival = first if leaning == second else second
        answer = f"{leaning} is preferred to {rival} by these judges ({has}, {these})"
    else:
        shown = f"{'claimed' if leaning else 'detected'} between {first} and {second}"
        answer = f"no difference {shown} ({system} has {has}, {these})"
    return f"{outcome.criterion}: {answer}; {_alike(outcome, alpha, system)}"


def otherwise(outcome: Outcome, alpha: float) -> str:
    """What the tests say of an outcome with other judges than the study's. It is told beside the verdict, not claimed:
    two chances of a claim would be wrong more often than one.
    """
    if math.isnan(outcome.half.share):
        return verdict(outcome, alpha)
    system = outcome.leaning(alpha) or outcome.pair[1]
    test = f"{interval(outcome, outcome.these, system)}; {p_words(outcome.p_holm)} after Holm"
    conclusion = "of other judges nothing is shown" if outcome.leaning(alpha) else "no difference is detected"
    conclusion = "the tests detect this, which is not claimed" if outcome.preferred(alpha) else conclusion
    where = f"{outcome.criterion}, {' and '.join(outcome.pair)}"
    return f"{where}: {system} would have {of_system(outcome, system)} ({test}); {conclusion}"


def _alike(outcome: Outcome, alpha: float, system: str) -> str:
    """What can be said of judges like those of the study, about the share of ``system``."""
    random = outcome.random_judges
    if math.isnan(random.p):
        return "of other judges nothing is shown"  # a warning says why
    range_ = interval(outcome, outcome.alike, system)
    shown = f"{range_}; {p_words(outcome.alike.p_holm)} after Holm, {counted(random.judges, 'judge')}"
    preferred = outcome.preferred_by_others(alpha)
    if preferred is None:
        return f"among judges like these no difference is detected ({system}: {shown})"
    return f"judges like these prefer {preferred}, too ({shown})"


def findings(analysis: Analysis) -> list[str]:
    """The results as sentences, the primary criterion first."""
    alpha, primary = analysis.settings.alpha, analysis.settings.primary
    outcomes = sorted(analysis.outcomes, key=lambda outcome: outcome.criterion != primary)
    return [
        *("primary criterion, " * (outcome.criterion == primary) + verdict(outcome, alpha) for outcome in outcomes),
        *_both_bad(analysis),
        *error_findings(analysis),
        *_order(analysis),
        *_metrics_that_help(analysis),
    ]


def _both_bad(analysis: Analysis) -> Iterable[str]:
    """How often judges said on the main criterion that both texts are bad, which counts as no difference."""
    for row in analysis.bad:
        if row.share and row.criterion == analysis.shown:
            share, low, high = map(percent, (row.share, row.low, row.high))
            where = f"{row.criterion}, {' and '.join(row.pair)}"
            yield f"{where}: both are bad in {share} of the answers ({low} to {high})"


def _order(analysis: Analysis) -> Iterable[str]:
    """The order of several systems, as far as these judges' preferences show it."""
    for criterion, ranking in analysis.rankings.items():
        if not ranking.systems:
            continue
        order = [row.system for row in ranking.systems]
        claimed = detected(analysis.outcomes, criterion, analysis.settings.alpha)
        if all(neighbours in claimed for neighbours in pairwise(order)):
            yield f"{criterion}: from strongest to weakest: {', '.join(order)}"
        elif claimed:
            shown = ", ".join(f"{better} over {worse}" for better, worse in sorted(claimed))
            yield f"{criterion}: no complete order of the systems is shown; detected: {shown}"
        else:
            yield f"{criterion}: no order of the systems is shown"


def exploratory(analysis: Analysis) -> str:
    """Which results no plan asked for, in a sentence."""
    if analysis.settings.planned is None:
        return "Without a plan: all results are exploratory."
    return f"Planned: the verdict on {analysis.settings.primary}. All other results are exploratory."


def material(analysis: Analysis) -> list[str]:
    """The data, the test and the rules of the analysis."""
    kept, votes, settings = analysis.kept, analysis.votes, analysis.settings
    tasks = len({(row.judge, row.task) for row in kept.rows})
    items = len({row.item for row in kept.rows} | {item for _, item in votes.same})
    judges = len({row.judge for row in kept.rows})
    lines = [f"{counted(tasks, 'judgment')} by {counted(judges, 'judge')} about {counted(items, 'item')}."]
    if votes.same:
        lines.append(f"Not judged, counted as no difference: {counted(len(votes.same), 'comparison')} of equal texts.")
    if votes.naming == {}:
        lines.append("No summary that judges read names a system.")
    family = "over all criteria and pairs"
    if settings.primary:
        family = (
            f"within {settings.primary}, the primary criterion, and within the others, which are claimed only of pairs "
            "that differ in it"
        )
    if analysis.errors:
        lines.append("Of errors, a summary is preferred if fewer are marked in it.")
    if trained := votes.training:
        lines.append(
            f"Training round: {counted(trained.trained, 'judge')} trained, {trained.passed} passed, {trained.failed} "
            "failed. No practice answer is in the analysis."
        )
    return [
        *lines,
        *_units(analysis),
        "Two questions. These judges: would they prefer a system on other articles, too? Sign-flip test of items, "
        "two-sided. Judges like these: would others, too? Student's t with items and judges as random. A preference "
        "is claimed where both tests detect it; of these judges alone only if a plan asks about them.",
        f"Holm's correction {family}, at {settings.alpha:g}.",
        "Intervals of verdicts are simultaneous within such a family and agree with the tests; others have "
        f"{settings.level:.0%} each.",
        f"Exclusion rule, {'of the plan' if settings.planned else 'not of a plan'}: {settings.rules.in_words()}.",
    ]


def _units(analysis: Analysis) -> Iterable[str]:
    """What an answer counts."""
    kinds = {votes: analysis.votes.kind(votes).points for votes in analysis.votes.criteria}
    if not all(kinds.values()):
        yield "The unit is the item: the mean vote of its judges, where no difference counts half for each system."
    for points in sorted(set(kinds.values()) - {0.0}):
        names = "" if len(set(kinds.values())) == 1 else " of " + ", ".join(n for n, p in kinds.items() if p == points)
        yield (
            f"Answers{names} are graded: the unit is the item, the mean over its judges of the difference that each "
            f"saw between two systems, at most {points:g} points."
        )


def percent(share: float) -> str:
    """A share in percent with one decimal."""
    return f"{100 * share:.1f}%"


def between(estimate: Preference | ControlVariate) -> str:
    """An interval in percent."""
    return "no interval" if math.isnan(estimate.low) else f"{percent(estimate.low)} to {percent(estimate.high)}"


def _metrics_that_help(analysis: Analysis) -> Iterable[str]:
    """The metrics that make the interval of the main criterion narrower, beyond what chance does to useless ones."""
    estimates = [
        (metric, pair, control)
        for (criterion, pair), controls in analysis.controls.items()
        if criterion == analysis.shown
        for metric, control in controls.items()
        if not math.isnan(control.width)
    ]
    adjusted = holm([control.p for _, _, control in estimates])
    helpful = [row for row, p in zip(estimates, adjusted, strict=True) if p <= CLEAR and row[2].width < 1]
    if not estimates:
        return
    if not helpful:
        yield f"{analysis.shown}: no metric is shown to make the interval narrower"
        return
    metric, pair, control = min(helpful, key=lambda row: row[2].width)
    points = analysis.votes.kind(analysis.shown).points
    low, high = amount(control.low, points), amount(control.high, points)
    share = f"{amount(control.share, points)} ({low} to {high})"
    best = f"; the best of {len(estimates)} looks better than it is" if len(estimates) > 1 else ""
    yield (
        f"{analysis.shown}: the scores of {metric} correlate with the preferences (r = {control.correlation:.2f}); "
        f"with them {pair[1]} is estimated to have {share}: the interval is {percent(1 - control.width)} "
        f"narrower{best}"
    )
