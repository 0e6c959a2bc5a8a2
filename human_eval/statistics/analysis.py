"""Votes -> all statistics of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from human_eval.statistics.agreement import agreements
from human_eval.statistics.audit import JudgeAudit, judge_effects, length_effect, order_effect
from human_eval.statistics.control_variate import ControlVariate, control_variate
from human_eval.statistics.errors import Errors, errors
from human_eval.statistics.metrics import Lead, MetricScores, difference, length_lead, metric_agreements, scored_items
from human_eval.statistics.outcomes import Outcome, Without, detected, outcomes, with_deciding_judges
from human_eval.statistics.preference import Preference, item_means
from human_eval.statistics.ranking import SystemRanking, ranked
from human_eval.statistics.scores import BothBad, SystemScore, both_bad, system_scores
from human_eval.statistics.settings import AnalysisSettings
from human_eval.study import ERRORS, Pair
from human_eval.votes.exclusion import ExcludedJudge, excluded, unchecked_judges
from human_eval.votes.votes import Vote, Votes, matrix
from rlsum.errors import UserError, option
from rlsum.evaluation.agreement import Agreement


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
    out, kept = _kept(votes, settings)
    judged = {(name, pair): matrix(kept.of(name, pair)) for name, pair in product(votes.criteria, votes.pairs)}
    asked = {criterion: kept.of(criterion) for criterion in votes.criteria if kept.of(criterion)}
    unchecked = unchecked_judges(kept, settings.rules)
    all_outcomes, without = with_deciding_judges(kept, settings, unchecked)
    voted = {
        row.pair: 1.0 if row.decided_by else row.answer.p_holm
        for row in all_outcomes
        if row.criterion == ERRORS and votes.categories
    }
    return Analysis(
        votes=votes,
        settings=settings,
        excluded=out,
        outcomes=all_outcomes,
        everyone=outcomes(votes, settings) if out else (),
        unchecked=unchecked,
        without=without,
        agreement={
            where: agreements(table.values, items=table.items, how=settings)
            for where, table in judged.items()
            if table.values.size
        },
        rankings=_rankings(votes, asked, all_outcomes, settings) if len(votes.systems) > 2 else {},
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


def _kept(votes: Votes, settings: AnalysisSettings) -> tuple[tuple[ExcludedJudge, ...], Votes]:
    """The judges who are excluded, and the votes of the others. Raises as ``analyse``."""
    if settings.primary is not None and settings.primary not in votes.criteria:
        known = ", ".join(votes.criteria)
        raise UserError(f"primary criterion {settings.primary!r}: judges were not asked it; choose one of {known}")
    if not votes.rows:
        raise UserError("no judgments of pairs; collect some first")
    out = excluded(votes, settings.rules)
    kept = votes.without([row.judge for row in out])
    if not kept.rows:
        reasons = "; ".join(f"{row.judge}: {row.reason}" for row in out)
        fix = f"collect more judgments, or change {option('max_failed')} or {option('min_seconds')} and say why"
        raise UserError(f"all judges are excluded ({reasons}); {fix}")
    return out, kept


def _rankings(
    votes: Votes, asked: Mapping[str, Sequence[Vote]], found: Sequence[Outcome], settings: AnalysisSettings
) -> dict[str, SystemRanking]:
    """The ranking of the systems by each criterion, at a level for all criteria together."""
    return {
        criterion: ranked(
            rows,
            votes.systems,
            votes.kind(criterion).points,
            same=votes.same,
            better=detected(found, criterion, settings.alpha),
            level=1 - (1 - settings.level) / len(asked),
        )
        for criterion, rows in asked.items()
    }


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
