"""Votes: the judges' answers with the names of systems, as rows and as matrices. The input of all statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from human_eval.answers import KINDS, PAIR, AnswerKind
from human_eval.collection.practice import TrainingCounts
from human_eval.collection.responses import NAMELESS
from human_eval.marks import Category, Mark
from human_eval.study import Pair

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Vote:
    """One judge's choice between two texts on one criterion.

    ``preference``: above 0 for the second system of ``pair``, below for the first, 0 for no difference; 1 and -1, or
    any number between them where answers are graded. ``item``: the article,
    the independent unit. ``comparison`` identifies the two texts; an item has several if a system wrote several texts.
    ``longer``: 1 if the second system's text has more words, -1 if the first's has, 0 if equal. ``left``: the system on
    the left, or shown earlier; ``position``: that of the task in its booklet; ``seconds``: time for the whole task;
    None if unknown. ``bad``: no difference, since both are bad.
    """

    criterion: str
    pair: Pair
    item: str
    comparison: str
    judge: str
    task: str
    preference: float
    longer: int
    left: str | None = None
    position: int | None = None
    seconds: float | None = None
    bad: bool = False

    @property
    def sign(self) -> int:
        """1 for the second system, -1 for the first, 0 for no difference, however strong the preference."""
        return (self.preference > 0) - (self.preference < 0)

    @property
    def chose_left(self) -> int:
        """1 for the text on the left, -1 for the one on the right, 0 for no difference or unknown sides."""
        return {None: 0, self.pair[0]: -self.sign}.get(self.left, self.sign)


@dataclass(frozen=True)
class MarkedText:
    """The errors that a judge marked in a system's summary of an item, shown in a ``task``.

    ``comparison``: as of a `Vote`; an item has several if a system wrote several texts.
    """

    item: str
    comparison: str
    judge: str
    task: str
    system: str
    text: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class CheckResult:
    """Whether a judge failed a check."""

    judge: str
    task: str
    kind: str
    failed: bool


@dataclass(frozen=True)
class Score:
    """The ``value`` that a judge gave the text of a system: a rating, a rank, or 1, 0, -1 for best, neither, worst.

    ``ends``: the least and the largest value of the scale.
    """

    criterion: str
    system: str
    item: str
    judge: str
    value: float
    ends: tuple[float, float]


def unknown(judges: Iterable[str]) -> str:
    """Why nothing can be said of judges like these, where a file did not name them; else ""."""
    nameless = any(judge.startswith(NAMELESS) for judge in judges)
    return "the judges have no names, so that one person may count as several" if nameless else ""


@dataclass(frozen=True)
class Votes:
    """The votes of a study and the results of its checks.

    ``kinds``: criterion -> kind of its answers, pairs if absent. ``scores``: what each text got, where answers say so.
    ``same``: (pair, item) with two equal texts, unjudged ties. ``notes``: what was left out, and why. ``naming``: tasks
    in which a text names systems, and these; None if the texts are unknown. ``training``: None without a training
    round. ``marked``: the summaries with their errors of ``categories``; none if no errors are marked. ``articles``:
    item -> text; ``texts``: (item, system) -> text; both empty if unknown.
    """

    title: str
    criteria: tuple[str, ...]
    pairs: tuple[Pair, ...]
    rows: tuple[Vote, ...]
    checks: tuple[CheckResult, ...] = ()
    same: tuple[tuple[Pair, str], ...] = ()
    notes: tuple[str, ...] = ()
    naming: Mapping[str, Sequence[str]] | None = None
    training: TrainingCounts | None = None
    marked: tuple[MarkedText, ...] = ()
    categories: tuple[Category, ...] = ()
    kinds: Mapping[str, AnswerKind] = field(default_factory=dict)
    scores: tuple[Score, ...] = ()
    articles: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def kind(self, criterion: str) -> AnswerKind:
        """The kind of answers to a criterion."""
        return self.kinds.get(criterion, KINDS[PAIR])

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in order of first occurrence in the pairs."""
        return tuple(dict.fromkeys(system for pair in self.pairs for system in pair))

    @property
    def judges(self) -> tuple[str, ...]:
        """The sorted judges of votes and checks."""
        return tuple(sorted({row.judge for row in self.rows} | {check.judge for check in self.checks}))

    @property
    def earlier(self) -> str:
        """The text of a pair that judges see first."""
        shown = {(row.judge, row.item, row.criterion) for row in self.rows}
        return "text on the left" if len(shown) == len(self.rows) else "text shown earlier"

    def of(self, criterion: str, pair: Pair | None = None) -> tuple[Vote, ...]:
        """The votes on one criterion, of one pair or of all pairs."""
        return tuple(row for row in self.rows if row.criterion == criterion and pair in (None, row.pair))

    def same_items(self, pair: Pair) -> int:
        """The number of items for which both systems of a pair wrote the same text."""
        return sum(tied == pair for tied, _ in self.same)

    def without(self, judges: Iterable[str]) -> Votes:
        """A copy without the votes of some judges. Their checks stay, since they explain the exclusion."""
        excluded = set(judges)
        rows = tuple(row for row in self.rows if row.judge not in excluded)
        return replace(
            self,
            rows=rows,
            scores=tuple(row for row in self.scores if row.judge not in excluded),
            marked=tuple(row for row in self.marked if row.judge not in excluded),
        )


class VoteMatrix(NamedTuple):
    """Votes as a matrix: ``values`` (comparisons, judges), NaN = not judged; item, pair, comparison of each row."""

    values: Floats
    rows: tuple[tuple[str, Pair, str], ...]
    judges: tuple[str, ...]

    @property
    def items(self) -> tuple[str, ...]:
        """The item of each row."""
        return tuple(item for item, _, _ in self.rows)


def matrix(votes: Sequence[Vote], value: Callable[[Vote], float] = lambda vote: vote.preference) -> VoteMatrix:
    """The ``value`` of votes on one criterion as a matrix. Rows and columns are sorted, whatever the order of votes.

    Raises ValueError if a judge voted twice on the same two texts.
    """
    rows = sorted({(vote.item, vote.pair, vote.comparison) for vote in votes})
    judges = sorted({vote.judge for vote in votes})
    row_of = {name: row for row, name in enumerate(rows)}
    column_of = {name: column for column, name in enumerate(judges)}
    values = np.full((len(rows), len(judges)), np.nan)
    for vote in votes:
        cell = row_of[vote.item, vote.pair, vote.comparison], column_of[vote.judge]
        if not np.isnan(values[cell]):
            raise ValueError(f"judge {vote.judge} voted twice on {vote.comparison} ({vote.criterion})")
        values[cell] = value(vote)
    return VoteMatrix(values, tuple(rows), tuple(judges))
