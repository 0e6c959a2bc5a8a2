"""Votes -> every statistic of a study: the one place that says what is computed from what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from human_eval.statistics.agreement import agreements
from human_eval.statistics.audit import JudgeAudit, judge_effects, length_effect, order_effect
from human_eval.statistics.control_variate import ControlVariate, control_variate
from human_eval.statistics.exclusion import ExcludedJudge, ExclusionRules, excluded
from human_eval.statistics.metrics import MetricScores, difference, metric_agreements, scored_items
from human_eval.statistics.preference import Preference, item_means, preference
from human_eval.statistics.ranking import Ranking, bradley_terry
from human_eval.statistics.votes import Pair, Votes, matrix
from rlsum.errors import UserError
from rlsum.evaluation.agreement import Agreement
from rlsum.evaluation.statistics import RESAMPLES, holm

ALPHA = 0.05


@dataclass(frozen=True)
class AnalysisSettings:
    """What was decided before the judgments were seen.

    ``primary`` is the criterion that the study is about: it is tested by itself, over its pairs, and the others are a
    family of their own; without it all criteria and pairs are one family.
    """

    primary: str | None = None
    rules: ExclusionRules = field(default_factory=ExclusionRules)
    alpha: float = ALPHA
    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """One criterion and pair: ties half a vote for each (``half``), ties dropped, p after Holm's correction."""

    criterion: str
    pair: Pair
    half: Preference
    dropped: Preference
    p_holm: float

    def preferred(self, alpha: float = ALPHA) -> str | None:
        """The system that people prefer; None where no difference was detected."""
        if np.isnan(self.p_holm) or self.p_holm > alpha:
            return None
        return self.pair[1] if self.half.share > 0.5 else self.pair[0]


@dataclass(frozen=True)
class Analysis:
    """Everything of one study.

    ``outcomes`` rest on the judges who were kept, ``everyone`` on all of them (empty where nobody was left out), and
    all else on those kept. By criterion: ``rankings`` (of more than two systems), ``order`` and ``length`` effects,
    ``metrics`` (name -> accuracy). By criterion and pair: ``controls`` (metric -> `ControlVariate`) and ``agreement``
    (name -> `Agreement`; over several pairs it would depend on which system of a pair is called the first).
    """

    votes: Votes
    settings: AnalysisSettings
    excluded: tuple[ExcludedJudge, ...]
    outcomes: tuple[Outcome, ...]
    everyone: tuple[Outcome, ...]
    agreement: dict[tuple[str, Pair], dict[str, Agreement]]
    rankings: dict[str, Ranking]
    order: dict[str, Preference]
    length: dict[str, Preference]
    judges: tuple[JudgeAudit, ...]
    metrics: dict[str, dict[str, Preference]]
    controls: dict[tuple[str, Pair], dict[str, ControlVariate]]

    @property
    def kept(self) -> Votes:
        """The votes of the judges who were kept."""
        return self.votes.without([each.judge for each in self.excluded])

    @property
    def shown(self) -> str:
        """The criterion that single judges are held against: the primary, else the last asked, which sums up."""
        return self.settings.primary or self.votes.criteria[-1]


def analyse(votes: Votes, settings: AnalysisSettings, scores: MetricScores | None = None) -> Analysis:
    """Analyse ``votes``, with metric ``scores`` where there are any. Seeded.

    Raises UserError where nobody judged anything, nobody is left, or the primary criterion was not asked.
    """
    if settings.primary is not None and settings.primary not in votes.criteria:
        raise UserError(f"primary criterion {settings.primary!r}: the study asked {', '.join(votes.criteria)}")
    if not votes.rows:
        raise UserError("no judgments of pairs: nothing to analyse; collect some first")
    left_out = excluded(votes, settings.rules)
    kept = votes.without([each.judge for each in left_out])
    if not kept.rows:
        reasons = "; ".join(f"{each.judge}: {each.reason}" for each in left_out)
        raise UserError(f"no judge is left ({reasons}); collect more judgments, or state other rules and why")
    draws = {"resamples": settings.resamples, "seed": settings.seed}
    judged = {(name, pair): matrix(kept.of(name, pair)) for name in votes.criteria for pair in votes.pairs}
    asked = {criterion: kept.of(criterion) for criterion in votes.criteria if kept.of(criterion)}
    return Analysis(
        votes=votes,
        settings=settings,
        excluded=left_out,
        outcomes=outcomes(kept, settings),
        everyone=outcomes(votes, settings) if left_out else (),
        agreement={
            where: agreements(found.values, items=found.items, seed=settings.seed)
            for where, found in judged.items()
            if found.values.size
        },
        rankings={
            criterion: bradley_terry(rows, votes.systems, same=votes.same, seed=settings.seed)
            for criterion, rows in asked.items()
            if len(votes.systems) > 2
        },
        order={criterion: order_effect(rows, **draws) for criterion, rows in asked.items()},
        length={criterion: length_effect(rows, **draws) for criterion, rows in asked.items()},
        judges=judge_effects(votes, kept, settings.primary or votes.criteria[-1]),
        metrics={criterion: metric_agreements(rows, scores, **draws) for criterion, rows in asked.items()},
        controls={
            (criterion, pair): controls(kept, criterion, pair, scores, settings)
            for criterion in asked
            for pair in votes.pairs
            if scores
        },
    )


def outcomes(votes: Votes, settings: AnalysisSettings) -> tuple[Outcome, ...]:
    """Every criterion and pair that was judged, with p adjusted within its family."""
    found = []
    for criterion in votes.criteria:
        for pair in votes.pairs:
            judged = matrix(votes.of(criterion, pair))
            asked = partial(
                preference, judged.values, items=judged.items, resamples=settings.resamples, seed=settings.seed
            )
            half, dropped = asked(same=votes.same_items(pair)), asked(ties="dropped")
            found.append(Outcome(criterion, pair, half, dropped, float("nan")))
    return _adjusted(found, settings.primary)


def controls(
    votes: Votes, criterion: str, pair: Pair, scores: MetricScores, settings: AnalysisSettings
) -> dict[str, ControlVariate]:
    """The preference on one criterion and pair with the help of each metric."""
    judged = matrix(votes.of(criterion, pair))
    same = sorted({item for tied, item in votes.same if tied == pair})
    means = np.concatenate([item_means(judged.values, judged.items), np.zeros(len(same))])
    items = [*sorted(set(judged.items)), *same]
    found = {}
    for metric, by_system in scores.items():
        others = [item for item in scored_items(by_system, pair) if item not in set(items)]
        found[metric] = control_variate(
            means,
            difference(by_system, pair, items),
            difference(by_system, pair, others),
            resamples=settings.resamples,
            seed=settings.seed,
        )
    return found


def _adjusted(found: Sequence[Outcome], primary: str | None) -> tuple[Outcome, ...]:
    """Holm's correction within the primary criterion and within the others, or over all without one."""
    p = np.array([each.half.p for each in found])
    first = np.array([each.criterion == primary for each in found], dtype=bool)
    adjusted = np.full(len(found), np.nan)
    for family in (first, ~first):
        adjusted[family] = holm(p[family])
    return tuple(
        Outcome(each.criterion, each.pair, each.half, each.dropped, float(value))
        for each, value in zip(found, adjusted, strict=True)
    )
