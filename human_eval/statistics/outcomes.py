"""What is claimed of each criterion and pair: the tests of these judges and of judges like them, all together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from human_eval.statistics.preference import Preference, agreeing, preference
from human_eval.statistics.random_judges import RandomJudges, random_judges
from human_eval.statistics.settings import LIKE_THESE, THESE, About, AnalysisSettings
from human_eval.study import Pair
from human_eval.votes.votes import Votes, matrix, unknown
from rlsum.evaluation.statistics import ALPHA, holm

MOST = 2 / 3  # a judge decides a difference if no larger share of it remains without the judge
FEWER = 1_999  # sign flips without each judge in turn
Without = dict[str, tuple["Outcome", ...]]


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


def decides(outcome: Outcome, without: Outcome, alpha: float) -> bool:
    """Whether a judge decides what these judges prefer, given the outcome without this judge: then no difference is
    detected, and it is less than `MOST` as large, so that not only judgments are fewer.
    """
    if outcome.leaning(alpha) in (None, without.leaning(alpha)):
        return False
    lead = without.half.share - 0.5
    return not lead * np.sign(outcome.half.share - 0.5) > MOST * abs(outcome.half.share - 0.5) + 1e-9


def with_deciding_judges(
    votes: Votes, settings: AnalysisSettings, unchecked: Sequence[str]
) -> tuple[tuple[Outcome, ...], Without]:
    """The outcomes with the names of deciding judges; and those without ``unchecked`` judges (""), and each judge."""
    all_outcomes = outcomes(votes, settings)
    fewer = replace(settings, resamples=min(settings.resamples, FEWER))
    judges = sorted({row.judge for row in votes.rows})
    groups: dict[str, Sequence[str]] = {"": unchecked} if unchecked else {}
    if judges[1:] and any(row.leaning(settings.alpha) for row in all_outcomes):
        groups |= {judge: (judge,) for judge in judges}
    without = {name: outcomes(votes.without(out), fewer) for name, out in groups.items()}
    deciding = [
        tuple(judge for judge, rows in without.items() if judge and decides(row, rows[place], settings.alpha))
        for place, row in enumerate(all_outcomes)
    ]
    return tuple(replace(row, decided_by=names) for row, names in zip(all_outcomes, deciding, strict=True)), without


def detected(all_outcomes: Sequence[Outcome], criterion: str, alpha: float) -> list[Pair]:
    """The better and the worse system of each difference that is claimed on a criterion."""
    claimed = [(row.pair, row.preferred(alpha)) for row in all_outcomes if row.criterion == criterion]
    return [pair[::-1] if preferred == pair[1] else pair for pair, preferred in claimed if preferred]


def outcomes(votes: Votes, settings: AnalysisSettings) -> tuple[Outcome, ...]:
    """The outcome of each criterion and pair. Holm's correction is within the primary criterion and the others.

    Claims have an order, so that all of them together are wrong as seldom as the first (a fixed sequence, Maurer et al.
    1995): of a pair, these judges on the primary criterion, then on the others; of each, judges like these.
    """
    asked = list(product(votes.criteria, votes.pairs))
    judged = [matrix(votes.of(criterion, pair)) for criterion, pair in asked]
    same = [votes.same_items(pair) for _, pair in asked]
    nameless = unknown(votes.judges)

    def these(row: int, level: float = settings.level) -> Preference:
        how = replace(settings, level=level)
        return preference(judged[row].values, items=judged[row].items, same=same[row], how=how)

    def alike(row: int, level: float = settings.level) -> RandomJudges:
        found = random_judges(judged[row].values, items=judged[row].items, same=same[row], level=level)
        return replace(found, low=np.nan, high=np.nan, p=np.nan, reason=nameless) if nameless else found

    halves, others = [these(row) for row in range(len(asked))], [alike(row) for row in range(len(asked))]
    primary = np.array([criterion == settings.primary for criterion, _ in asked], dtype=bool)
    p = _holm([half.p for half in halves], primary)
    leading = {pair: value for (_, pair), value, main in zip(asked, p, primary, strict=True) if main}
    p = np.maximum(p, [0.0 if main else leading.get(pair, 0.0) for (_, pair), main in zip(asked, primary, strict=True)])
    of_these = _verdicts(halves, these, p, primary, settings.alpha)
    p_alike = np.maximum(_holm([row.p for row in others], primary), p)
    of_alike = _verdicts(others, alike, p_alike, primary, settings.alpha)
    dropped = [preference(table.values, items=table.items, ties="dropped", how=settings) for table in judged]
    points = [votes.kind(criterion).points for criterion, _ in asked]
    about = [LIKE_THESE if settings.planned is None else settings.planned.about] * len(asked)
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
