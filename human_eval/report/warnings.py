"""Reasons for caution about an analysis, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from human_eval.design.blinding import naming_note
from human_eval.formatting import counted
from human_eval.report.adherence import deviations
from human_eval.report.amounts import amount
from human_eval.report.findings import CLEAR, between, otherwise, percent
from human_eval.statistics.analysis import Analysis
from human_eval.statistics.audit import copies, on_the_left, own_shares
from human_eval.statistics.metrics import Lead
from human_eval.statistics.outcomes import Outcome
from human_eval.statistics.preference import Preference, least_p
from human_eval.statistics.settings import THESE
from rlsum.evaluation.statistics import holm
from rlsum.pages.table import joined, p_words

HASTY = 5.0  # seconds: too few to read two summaries
STRAIGHT = 8  # the same answer to this many judgments or more is a sign of carelessness
NO_CLAIM = "no preference is claimed, since nothing can be shown of other judges"
EVEN = 0.005  # shift of a share by unbalanced sides that is too small to report


def warnings(analysis: Analysis) -> list[str]:
    """Reasons for caution about the results."""
    naming = analysis.votes.naming
    return [
        *deviations(analysis),
        *analysis.votes.notes,
        *_untrained(analysis),
        *([f"blinding: {naming_note(naming)}; judges who read it may have known the system"] if naming else []),
        *_left_out(analysis),
        *_careless(analysis),
        *_changed_by_exclusion(analysis),
        *_unchecked(analysis),
        *_copies(analysis),
        *_single_judges(analysis),
        *_too_few(analysis),
        *_judges(analysis),
        *_naive(analysis),
        *_ties(analysis),
        *_effects(analysis),
        *(f"{name}: no ranking: {row.reason}" for name, row in analysis.rankings.items() if not row.systems),
    ]


def _untrained(analysis: Analysis) -> Iterable[str]:
    if analysis.votes.training and (names := analysis.votes.training.untrained):
        yield f"{counted(len(names), 'judge')} did not pass the training and judged: {', '.join(names)}"


def _left_out(analysis: Analysis) -> Iterable[str]:
    for row in analysis.excluded:
        yield f"{row.judge} is left out with {counted(row.judgments, 'judgment')}: {row.reason}"


def _careless(analysis: Analysis) -> Iterable[str]:
    """Judges who are not excluded and may not have read."""
    out = {row.judge for row in analysis.excluded}
    judges = [audit for audit in analysis.judges if audit.judge not in out]
    if hasty := [f"{audit.judge} ({audit.seconds:.1f} s)" for audit in judges if audit.seconds < HASTY]:
        yield f"{joined(hasty)} took less time per task (median) than reading takes"
    for audit in judges:
        sides = {vote.chose_left for vote in analysis.kept.rows if vote.judge == audit.judge and vote.left is not None}
        if audit.tasks >= STRAIGHT and len(sides) == 1:
            answer = {0: "no difference", 1: "the left text", -1: "the right text"}[sides.pop()]
            yield f"{audit.judge} gave the same answer, {answer}, in all of {counted(audit.tasks, 'judgment')}"


def _changed_by_exclusion(analysis: Analysis) -> Iterable[str]:
    alpha = analysis.settings.alpha
    for kept, everyone in zip(analysis.outcomes, analysis.everyone, strict=False):
        if _claim(kept, alpha) != _claim(everyone, alpha):
            yield f"without exclusions: {otherwise(everyone, alpha)}"


def _unchecked(analysis: Analysis) -> Iterable[str]:
    """Judges whom no rule could exclude, and what would be without them."""
    if not analysis.unchecked:
        return
    least, names = analysis.settings.rules.min_checks, ", ".join(analysis.unchecked)
    them, alpha = "them" if len(analysis.unchecked) > 1 else "this judge", analysis.settings.alpha
    pairs = zip(analysis.outcomes, analysis.without.get("", ()), strict=False)
    others = [without for row, without in pairs if _claim(row, alpha) != _claim(without, alpha)]
    nobody = {row.judge for row in analysis.kept.rows} == set(analysis.unchecked)
    same = "; no other judge is left" if nobody else "" if others else f"; without {them} the same is detected"
    yield f"{names} answered fewer than {counted(least, 'check')}, so the rule could not leave {them} out{same}"
    yield from () if nobody else (f"without them: {otherwise(without, alpha)}" for without in others)


def _claim(outcome: Outcome, alpha: float) -> tuple[str | None, bool]:
    """What these judges prefer, and whether the test of a claim detects it."""
    return outcome.leaning(alpha), outcome.answer.p_holm <= alpha


def _copies(analysis: Analysis) -> Iterable[str]:
    for first, second, same, items in copies(analysis.kept):
        where = f"{same} of the {counted(items, 'article')} that both judged"
        yield f"{first} and {second} gave the same answers on {where}: one person, or copied?"


def _single_judges(analysis: Analysis) -> Iterable[str]:
    """Verdicts that vanish without one judge."""
    for outcome in analysis.outcomes:
        if names := outcome.decided_by:
            alone = names[0] if len(names) == 1 else f"any one of {', '.join(names)}"
            yield f"{_name(outcome)}: the preference is not shown without {alone}"


def _too_few(analysis: Analysis) -> Iterable[str]:
    alpha = analysis.settings.alpha
    for primary in (True, False):  # the families of Holm's correction
        family = [row.half for row in analysis.outcomes if (row.criterion == analysis.settings.primary) == primary]
        tests = sum(not math.isnan(half.p) for half in family)
        items = max((half.items for half in family), default=0)
        if tests and least_p(items, tests) > alpha:
            where = analysis.settings.primary if primary else "the other criteria"
            count = f"{counted(items, 'item')} and {counted(tests, 'test')}"
            yield (
                f"{count}{f' on {where}' if analysis.settings.primary else ''}: no "
                f"result of these judges could have been significant at {alpha:g}; judge more items"
            )


def _judges(analysis: Analysis) -> Iterable[str]:
    """Verdicts that hold for these judges only, and judges who contradict them."""
    alpha = analysis.settings.alpha
    judged = [row for row in analysis.outcomes if row.half.items]
    planned = any(row.about == THESE for row in judged)
    claim = "the verdicts are about these judges alone, tastes of their own included" if planned else NO_CLAIM
    yield from (f"{claim}: {why}" for why in dict.fromkeys(row.random_judges.reason for row in judged) if why)
    for outcome in analysis.outcomes:
        preferred = outcome.leaning(alpha)
        if preferred is None:
            continue
        if not outcome.alike.p_holm <= alpha:  # also without a test
            yield (
                f"{_name(outcome)}: these judges lean to {preferred}, which their own tastes may explain: that "
                "others like them prefer it, too, is not shown"
            )
        shares, points = own_shares(analysis.kept, outcome.criterion, outcome.pair), outcome.points
        for_preferred = {judge: share if preferred == outcome.pair[1] else 1 - share for judge, share in shares.items()}
        against = {judge: share for judge, share in sorted(for_preferred.items()) if share < 0.5}
        if against:
            named = ", ".join(f"{judge} ({amount(share, points)} for {preferred})" for judge, share in against.items())
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
    """Verdicts of these judges that would be others without ties, each within its family of tests."""
    alpha = analysis.settings.alpha
    for primary in (True, False):
        family = [row for row in analysis.outcomes if (row.criterion == analysis.settings.primary) == primary]
        for outcome, dropped in zip(family, holm([row.dropped.p for row in family]), strict=True):
            half = outcome.p_holm
            if not math.isnan(dropped) and (half <= alpha) != (dropped <= alpha):
                yield (
                    f"{_name(outcome)}: the verdict depends on the treatment of ties: p is {half:.3f} with ties as "
                    f"half votes and {dropped:.3f} with ties dropped, after Holm"
                )


def _effects(analysis: Analysis) -> Iterable[str]:
    order, length, leads = clear_effects(analysis.order, analysis.length, analysis.leads)
    for criterion in order:
        effect = analysis.order[criterion]
        yield (
            f"{criterion}: the {analysis.votes.earlier} got {percent(effect.share)} of the votes ({between(effect)}); "
            f"{_sides(analysis, criterion, effect)}"
        )
    for criterion in length:
        effect = analysis.length[criterion]
        if effect.share > 0.5:
            yield (
                f"{criterion}: the longer text got {percent(effect.share)} of these judges' votes ({between(effect)}); "
                "a preference may be one for length"
            )
    for criterion in leads:
        if (points := 100 * analysis.leads[criterion].lead) > 0:
            yield (
                f"{criterion}: length alone predicts what the other judges choose better than a judge does, by "
                f"{points:.1f} points of accuracy"
            )


def clear_effects(*effects: Mapping[str, Preference] | Mapping[str, Lead]) -> list[list[str]]:
    """The criteria on which sides, length, and length as a predictor differ from none, after Holm's correction over
    all of these ``effects`` and criteria.
    """
    p = iter(holm([effect.p for by_criterion in effects for effect in by_criterion.values()]))
    return [[criterion for criterion in by_criterion if next(p) <= CLEAR] for by_criterion in effects]


def _sides(analysis: Analysis, criterion: str, effect: Preference) -> str:
    """What a preference for the left text does to the shares, given the sides of the votes that came back."""
    votes = analysis.kept.of(criterion)
    lefts = {pair: on_the_left(votes, pair) for pair in analysis.votes.pairs}
    pair, left = max(lefts.items(), key=lambda row: abs(row[1] - 0.5) if not math.isnan(row[1]) else 0.0)
    shift = (effect.share - 0.5) * (2 * left - 1)  # of the second system's share
    if abs(shift) < EVEN:
        return "sides are balanced among these votes, so this adds noise and favours neither system"
    favoured = pair[1] if shift > 0 else pair[0]
    return (
        f"sides are not balanced among these votes ({pair[1]} was on the left in {percent(left)} of those on "
        f"{' and '.join(pair)}), which favours {favoured} by about {100 * abs(shift):.1f} points"
    )


def _name(outcome: Outcome) -> str:
    return f"{outcome.criterion}, {' and '.join(outcome.pair)}"
