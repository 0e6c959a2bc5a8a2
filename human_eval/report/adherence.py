"""What happened in a study beside what its plan says, line by line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from human_eval.answers import KINDS, PAIR
from human_eval.formatting import counted, spread
from human_eval.statistics.analysis import Analysis
from human_eval.statistics.settings import THESE, Planned
from human_eval.study import Pair
from human_eval.votes.votes import Votes
from rlsum.pages.table import Cell, Table, text_table


@dataclass(frozen=True)
class PlanLine:
    """One statement of a plan: what was planned, what happened, and whether the two agree."""

    name: str
    planned: str
    happened: str
    as_planned: bool


def adherence(analysis: Analysis) -> tuple[PlanLine, ...]:
    """The lines of the plan of ``analysis``; none without a plan. Judges count whether or not they are excluded."""
    planned = analysis.settings.planned
    return () if planned is None else tuple(_lines(planned, analysis))


def _lines(planned: Planned, analysis: Analysis) -> Iterable[PlanLine]:
    votes, settings = analysis.votes, analysis.settings
    counts = list(_judges(votes).values())
    items = len({row.item for row in votes.rows} | {item for _, item in votes.same})
    missing = max(0, planned.items * planned.pairs - len(counts) - len(set(votes.same)))
    fewer = sum(count < planned.judges for count in counts) + missing
    most = planned.judges + (planned.spare > 0)
    more = sum(count > most for count in counts)
    people = len({row.judge for row in votes.rows})
    primary = [row.random_judges.p for row in analysis.outcomes if row.criterion == settings.primary]
    tested = planned.about == THESE or not all(math.isnan(p) for p in primary)
    judges = spread((planned.judges, most), "judge")
    left_out = f"{counted(len(analysis.excluded), 'judge')} left out"
    stop = "stopped when every comparison had its judges"
    yield PlanLine("items", f"{planned.items:,}", f"{items:,}", items == planned.items)
    yield PlanLine("pairs of systems", f"{planned.pairs}", f"{len(votes.pairs)}", planned.pairs == len(votes.pairs))
    yield PlanLine("judges of each comparison", judges, spread(counts, "judge"), set(counts) <= {planned.judges, most})
    yield PlanLine("comparisons without all their judges", "0", f"{fewer:,}", not fewer)
    yield PlanLine(stop, "yes", _stopped(fewer, more), not fewer and not more)
    answers = _answers(votes, settings.primary)
    yield PlanLine("people", f"{planned.people:,}", f"{people:,}", people >= planned.people)
    yield PlanLine("kind of answers", planned.answers, answers, planned.answers == answers)
    yield PlanLine("primary criterion", str(settings.primary), str(settings.primary), True)
    yield PlanLine("level", f"{settings.alpha:g}", f"{settings.alpha:g}", True)
    yield PlanLine("exclusions", settings.rules.in_words(), left_out, True)
    about = planned.about if tested else "no test: too few judges"
    yield PlanLine("the verdict is about", planned.about, about, tested)


def _judges(votes: Votes) -> Counter[tuple[Pair, str, str]]:
    """The number of judges of each comparison."""
    return Counter(where for where, _ in {((row.pair, row.item, row.comparison), row.judge) for row in votes.rows})


def _answers(votes: Votes, criterion: str | None) -> str:
    """The name of the kind of answers to the primary criterion."""
    kind = KINDS[PAIR] if criterion is None else votes.kind(criterion)
    return next((name for name, known in KINDS.items() if known == kind), "others")


def _stopped(fewer: int, more: int) -> str:
    if fewer:
        return "no, before"
    return "no, later" if more else "yes"


def plan_table(analysis: Analysis) -> Table:
    """Planned and happened, one row a line of the plan."""
    lines = adherence(analysis)
    rows = ((line.name, line.planned, Cell(line.happened, mark=not line.as_planned)) for line in lines)
    return text_table("The plan and the study", ("", "planned", "happened"), rows, ["Bold: not as planned."])


def deviations(analysis: Analysis) -> list[str]:
    """The lines of the plan that the study did not keep, as warnings."""
    return [
        f"not as planned: {line.name}: planned {line.planned}, happened {line.happened}"
        for line in adherence(analysis)
        if not line.as_planned
    ]
