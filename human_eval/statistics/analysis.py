"""Votes -> all statistics of a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from human_eval.answers import PAIR
from human_eval.statistics.agreement import agreements
from human_eval.statistics.audit import JudgeAudit, judge_effects, length_effect, order_effect
from human_eval.statistics.control_variate import ControlVariate, control_variate
from human_eval.statistics.errors import Errors, errors
from human_eval.statistics.exclusion import ExcludedJudge, ExclusionRules, excluded, unchecked_judges
from human_eval.statistics.metrics import (
    Lead,
    MetricScores,
    difference,
    length_lead,
    metric_agreements,
    scored_items,
)
from human_eval.statistics.preference import Preference, agreeing, item_means, preference
from human_eval.statistics.random_judges import RandomJudges, random_judges
from human_eval.statistics.ranking import SystemRanking, ranked
from human_eval.statistics.scores import BothBad, SystemScore, both_bad, system_scores
from human_eval.statistics.uncertainty import Uncertainty
from human_eval.statistics.votes import Votes, matrix
from human_eval.study import ERRORS, Pair
from rlsum.errors import UserError
from rlsum.evaluation.agreement import Agreement
from rlsum.evaluation.statistics import holm

ALPHA = 0.05
MOST = 2 / 3  # of a difference that remains without a judge who does not decide it
FEWER = 1_999  # sign flips without each judge in turn
AGREEING = 2_000  # most resamples of the agreement of judges
About = Literal["judges like these", "these judges"]
LIKE_THESE, THESE = get_args(About)
Without = dict[str, tuple["Outcome", ...]]


@dataclass(frozen=True)
class Planned:
    """What a plan says of the study itself, to compare with what happened.

    ``judges`` of each of ``pairs`` on each of ``items``; ``people`` in all; ``about``: whom the verdict is about;
    ``spare``: further booklets, for which some pairs have one judge more; ``answers``: the name of their kind.
    """

    items: int
    judges: int
    pairs: int
    people: int
    about: About
    spare: int = 0
    answers: str = PAIR


@dataclass(frozen=True)
class AnalysisSettings(Uncertainty):
    """The choices to make before seeing the judgments.

    ``primary``: the main criterion. Its pairs are one family of tests and all others are another; None makes all
    criteria and pairs one family. ``planned``: the rest of the plan; None without a plan, which makes all results
    exploratory. Raises UserError for an ``alpha`` that is not between 0 and 1.
    """

    primary: str | None = None
    rules: ExclusionRules = field(default_factory=ExclusionRules)
    alpha: float = ALPHA
    planned: Planned | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UserError(f"--alpha {self.alpha}: expected a number between 0 and 1")


@dataclass(frozen=True)
class Verdict:
    """The answer to one question about a criterion and pair, among all that are tested together.

    ``p_holm``: after Holm's correction, and no smaller than p of what is tested before (`outcomes`); ``low`` to
    ``high``: simultaneous interval of the share of the second system. The intervals of a family of m comparisons have
    the level 1 - alpha / m, so that all of them hold with 1 - alpha, and end at one half or go beyond it as the test
    says. NaN if undefined.
    """

    p_holm: float
    low: float
    high: float


@dataclass(frozen=True)
class Outcome:
    """One criterion and pair, with the answers to two questions.

    ``these``: do the judges of the study prefer a system, on articles like these? ``alike``: would judges like them?
    ``half`` and ``random_judges`` are the estimates behind the two, ``dropped`` is ``half`` without ties. ``points``:
    of the scale (`AnswerKind`), of which a share s is a difference of 2 s - 1; 0 if it is a share of votes. ``about``:
    whom a claim is about. ``decided_by``: the judges each of whom alone `decides` what these judges prefer.
    """

    criterion: str
    pair: Pair
    half: Preference
    dropped: Preference
    random_judges: RandomJudges
    these: Verdict
    alike: Verdict
    points: float = 0.0
    about: About = LIKE_THESE
    decided_by: tuple[str, ...] = ()

    @property
    def p_holm(self) -> float:
        """P of `these` after Holm's correction."""
        return self.these.p_holm

    @property
    def answer(self) -> Verdict:
        """The answer to the question that a claim is `about`; undefined, and so no claim, without its test."""
        return self.these if self.about == THESE else self.alike

    @property
    def shown(self) -> Verdict:
        """The answer whose interval is shown: that of these judges where there is no test of others."""
        return self.these if np.isnan(self.alike.p_holm) else self.answer

    def preferred(self, alpha: float = ALPHA) -> str | None:
        """The system that is claimed to be preferred; None if no difference was detected, or one judge decides it.

        Judges who differ prefer a system by chance, so that of equal systems three would often prefer one (in up to 29%
        of simulated studies). Hence a preference of these judges alone is claimed only where a plan
        asks about them, and of too few judges or items for the test of others none.
        """
        return None if self.decided_by else self._preferred(self.answer, alpha)

    def leaning(self, alpha: float = ALPHA) -> str | None:
        """The system that the judges of the study prefer, claimed or not; None if no difference was detected."""
        return self._preferred(self.these, alpha)

    def preferred_by_others(self, alpha: float = ALPHA) -> str | None:
        """The system that judges like these are claimed to prefer; None as in `preferred`."""
        return None if self.decided_by else self._preferred(self.alike, alpha)

    def _preferred(self, verdict: Verdict, alpha: float) -> str | None:
        if np.isnan(verdict.p_holm) or verdict.p_holm > alpha:
            return None
        return self.pair[1] if self.half.share > 0.5 else self.pair[0]


@dataclass(frozen=True)
class Analysis:
    """All statistics of a study, without excluded judges except in ``everyone``.

    ``outcomes``; ``everyone``: the outcomes with all judges, empty if none are excluded; ``unchecked``: judges with too
    few checks to be excluded; ``without``: the outcomes without those, by "", and, if a difference is detected, without
    each judge, by name. By criterion: ``rankings`` (of
    more than two systems), ``order`` and ``length`` effects, ``metrics`` (name -> accuracy), ``leads`` of length over a
    single judge. By criterion and pair: ``controls`` (metric -> `ControlVariate`) and ``agreement`` (name ->
    `Agreement`), which over several pairs would depend on the order of the systems. ``scores``: what each system got,
    where answers say so; ``bad``: how often both are bad; ``errors``: None if none are marked.
    """

    votes: Votes
    settings: AnalysisSettings
    excluded: tuple[ExcludedJudge, ...]
    outcomes: tuple[Outcome, ...]
    everyone: tuple[Outcome, ...]
    unchecked: tuple[str, ...]
    without: Without
    agreement: dict[tuple[str, Pair], dict[str, Agreement]]
    rankings: dict[str, SystemRanking]
    order: dict[str, Preference]
    length: dict[str, Preference]
    judges: tuple[JudgeAudit, ...]
    metrics: dict[str, dict[str, Preference]]
    leads: dict[str, Lead]
    controls: dict[tuple[str, Pair], dict[str, ControlVariate]]
    scores: tuple[SystemScore, ...] = ()
    bad: tuple[BothBad, ...] = ()
    errors: Errors | None = None

    @property
    def kept(self) -> Votes:
        """The votes without excluded judges."""
        return self.votes.without([row.judge for row in self.excluded])

    @property
    def shown(self) -> str:
        """The criterion for single judges and summaries: the primary one, else the last one (overall)."""
        return self.settings.primary or self.votes.criteria[-1]


def analyse(votes: Votes, settings: AnalysisSettings, scores: MetricScores | None = None) -> Analysis:
    """Analyse ``votes``, optionally with the ``scores`` of metrics. Seeded.

    Raises UserError for an unknown primary criterion, without votes, or if all judges are excluded.
    """
    if settings.primary is not None and settings.primary not in votes.criteria:
        known = ", ".join(votes.criteria)
        raise UserError(f"primary criterion {settings.primary!r}: judges were not asked it; choose one of {known}")
    if not votes.rows:
        raise UserError("no judgments of pairs; collect some first")
    out = excluded(votes, settings.rules)
    kept = votes.without([row.judge for row in out])
    if not kept.rows:
        reasons = "; ".join(f"{row.judge}: {row.reason}" for row in out)
        raise UserError(f"all judges are excluded ({reasons}); collect more judgments, or change the rules and say why")
    judged = {(name, pair): matrix(kept.of(name, pair)) for name, pair in product(votes.criteria, votes.pairs)}
    asked = {criterion: kept.of(criterion) for criterion in votes.criteria if kept.of(criterion)}
    unchecked = unchecked_judges(kept, settings.rules)
    found, without = _told(kept, settings, unchecked)
    few = replace(settings, resamples=min(settings.resamples, AGREEING))
    voted = {
        row.pair: 1.0 if row.decided_by else row.answer.p_holm
        for row in found
        if row.criterion == ERRORS and votes.categories
    }
    return Analysis(
        votes=votes,
        settings=settings,
        excluded=out,
        outcomes=found,
        everyone=outcomes(votes, settings) if out else (),
        unchecked=unchecked,
        without=without,
        agreement={
            where: agreements(table.values, items=table.items, how=few)
            for where, table in judged.items()
            if table.values.size
        },
        rankings={
            criterion: ranked(
                rows,
                votes.systems,
                votes.kind(criterion).points,
                same=votes.same,
                better=detected(found, criterion, settings.alpha),
                level=1 - (1 - settings.level) / len(asked),
            )
            for criterion, rows in asked.items()
            if len(votes.systems) > 2
        },
        order={criterion: order_effect(rows, settings) for criterion, rows in asked.items()},
        length={criterion: length_effect(rows, settings) for criterion, rows in asked.items()},
        judges=judge_effects(votes, kept, settings.primary or votes.criteria[-1]),
        metrics={criterion: metric_agreements(rows, scores, settings) for criterion, rows in asked.items()},
        leads={criterion: length_lead(rows, settings) for criterion, rows in asked.items()},
        controls={
            (criterion, pair): controls(kept, criterion, pair, scores, settings.level)
            for criterion, pair in product(asked, votes.pairs)
            if scores
        },
        scores=system_scores(kept.scores, votes.systems, settings),
        bad=both_bad(kept, settings),
        errors=errors(kept.marked, votes.categories, votes.pairs, voted=voted, how=settings) if voted else None,
    )


def decides(outcome: Outcome, without: Outcome, alpha: float) -> bool:
    """Whether a judge decides what these judges prefer, given the outcome without this judge: then no difference is
    detected, and it is less than `MOST` as large, so that not only judgments are fewer.
    """
    if outcome.leaning(alpha) in (None, without.leaning(alpha)):
        return False
    lead = without.half.share - 0.5
    return not lead * np.sign(outcome.half.share - 0.5) > MOST * abs(outcome.half.share - 0.5) + 1e-9


def _told(votes: Votes, settings: AnalysisSettings, unchecked: Sequence[str]) -> tuple[tuple[Outcome, ...], Without]:
    """The outcomes with the judges who decide them, and those without ``unchecked`` judges, by "", and each judge."""
    found = outcomes(votes, settings)
    fewer = replace(settings, resamples=min(settings.resamples, FEWER))
    judges = sorted({row.judge for row in votes.rows})
    groups: dict[str, Sequence[str]] = {"": unchecked} if unchecked else {}
    if judges[1:] and any(row.leaning(settings.alpha) for row in found):
        groups |= {judge: (judge,) for judge in judges}
    without = {name: outcomes(votes.without(out), fewer) for name, out in groups.items()}
    deciding = [
        tuple(judge for judge, rows in without.items() if judge and decides(row, rows[place], settings.alpha))
        for place, row in enumerate(found)
    ]
    return tuple(replace(row, decided_by=names) for row, names in zip(found, deciding, strict=True)), without


def detected(found: Sequence[Outcome], criterion: str, alpha: float) -> list[Pair]:
    """The better and the worse system of each difference that is claimed on a criterion."""
    claimed = [(row.pair, row.preferred(alpha)) for row in found if row.criterion == criterion]
    return [pair[::-1] if preferred == pair[1] else pair for pair, preferred in claimed if preferred]


def outcomes(votes: Votes, settings: AnalysisSettings) -> tuple[Outcome, ...]:
    """The outcome of each criterion and pair. Holm's correction is within the primary criterion and the others.

    Claims have an order, so that all of them together are wrong as seldom as the first (a fixed sequence, Maurer et al.
    1995): of a pair, these judges on the primary criterion, then on the others; of each, judges like these.
    """
    asked = list(product(votes.criteria, votes.pairs))
    judged = [matrix(votes.of(criterion, pair)) for criterion, pair in asked]
    same = [votes.same_items(pair) for _, pair in asked]

    def these(row: int, level: float = settings.level) -> Preference:
        how = replace(settings, level=level)
        return preference(judged[row].values, items=judged[row].items, same=same[row], how=how)

    def alike(row: int, level: float = settings.level) -> RandomJudges:
        return random_judges(judged[row].values, items=judged[row].items, same=same[row], level=level)

    halves, others = [these(row) for row in range(len(asked))], [alike(row) for row in range(len(asked))]
    primary = np.array([criterion == settings.primary for criterion, _ in asked], dtype=bool)
    p = _holm([half.p for half in halves], primary)
    leading = {pair: value for (_, pair), value, main in zip(asked, p, primary, strict=True) if main}
    p = np.maximum(p, [0.0 if main else leading.get(pair, 0.0) for (_, pair), main in zip(asked, primary, strict=True)])
    of_these = _verdicts(halves, these, p, primary, settings.alpha)
    p_alike = np.maximum(_holm([other.p for other in others], primary), p)
    of_alike = _verdicts(others, alike, p_alike, primary, settings.alpha)
    dropped = [preference(table.values, items=table.items, ties="dropped", how=settings) for table in judged]
    points = [votes.kind(criterion).points for criterion, _ in asked]
    alone = settings.planned is not None and settings.planned.about == THESE
    about = [THESE if alone else LIKE_THESE] * len(asked)
    rows = zip(asked, halves, dropped, others, of_these, of_alike, points, about, strict=True)
    return tuple(Outcome(*where, *estimates) for where, *estimates in rows)


def _holm(p: Sequence[float], primary: NDArray[np.bool_]) -> NDArray[np.float64]:
    """``p`` after Holm's correction within each family."""
    adjusted = np.array(p)
    for family in (primary, ~primary):
        adjusted[family] = holm(adjusted[family])
    return adjusted


def _verdicts(
    estimates: Sequence[Preference | RandomJudges],
    at: Callable[[int, float], Preference | RandomJudges],
    adjusted: NDArray[np.float64],
    primary: NDArray[np.bool_],
    alpha: float,
) -> list[Verdict]:
    """The verdicts of ``estimates`` by their ``adjusted`` p; ``at`` repeats one with an interval of another level."""
    verdicts, tested = [], ~np.isnan([estimate.p for estimate in estimates])
    for row, (p, estimate) in enumerate(zip(adjusted.tolist(), estimates, strict=True)):
        size = int((tested & (primary == primary[row])).sum())
        wide = at(row, 1 - alpha / max(1, size))
        verdicts.append(Verdict(p, *agreeing(wide.low, wide.high, estimate.share, p <= alpha)))
    return verdicts


def controls(votes: Votes, criterion: str, pair: Pair, scores: MetricScores, level: float) -> dict[str, ControlVariate]:
    """Metric -> the preference on one criterion and pair with that metric as control variate."""
    judged = matrix(votes.of(criterion, pair))
    same = sorted({item for tied, item in votes.same if tied == pair})
    means = item_means(judged.values, judged.items, len(same))
    items = [*sorted(set(judged.items)), *same]
    estimates = {}
    for metric, by_system in scores.items():
        others = [item for item in scored_items(by_system, pair) if item not in set(items)]
        differences = (difference(by_system, pair, some) for some in (items, others))
        estimates[metric] = control_variate(means, *differences, level=level)
    return estimates
