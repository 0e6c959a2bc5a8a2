"""Votes: what the judges said, with the systems' names, as rows and as matrices. All statistics start here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Vote:
    """One judge's choice between two texts on one criterion.

    ``preference`` is 1 for the second system of ``pair``, -1 for the first, 0 for no difference. ``item`` is the
    article: the independent unit. ``comparison`` names the two texts compared; an item may have several where a system
    wrote several texts. ``longer`` is 1 where the second system's text has more words, -1 where the first's has, 0
    where they have as many. ``left`` is the system shown on the left, ``position`` the place in the judge's booklet,
    ``seconds`` the time the whole task took; None where nobody knows.
    """

    criterion: str
    pair: Pair
    item: str
    comparison: str
    judge: str
    task: str
    preference: int
    longer: int
    left: str | None = None
    position: int | None = None
    seconds: float | None = None

    @property
    def chose_left(self) -> int:
        """1 where the text on the left was chosen, -1 where the one on the right, 0 for no difference or not known."""
        return {None: 0, self.pair[0]: -self.preference}.get(self.left, self.preference)


@dataclass(frozen=True)
class Check:
    """One judge's answers to a task whose right answer is known."""

    judge: str
    task: str
    kind: str
    failed: bool


@dataclass(frozen=True)
class Votes:
    """The votes of a study, and its checks. ``same`` holds (pair, item) whose two texts are equal: ties unjudged.

    ``notes`` say what was left out, and why. ``naming``: the tasks shown in which a text names a system, () for none,
    None where nobody knows what was shown.
    """

    title: str
    criteria: tuple[str, ...]
    pairs: tuple[Pair, ...]
    rows: tuple[Vote, ...]
    checks: tuple[Check, ...] = ()
    same: tuple[tuple[Pair, str], ...] = ()
    notes: tuple[str, ...] = ()
    naming: tuple[str, ...] | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in the order in which the pairs name them."""
        return tuple(dict.fromkeys(system for pair in self.pairs for system in pair))

    @property
    def judges(self) -> tuple[str, ...]:
        """Everyone who judged anything, checks too, by name."""
        return tuple(sorted({row.judge for row in self.rows} | {check.judge for check in self.checks}))

    def of(self, criterion: str, pair: Pair | None = None) -> tuple[Vote, ...]:
        """The votes on one criterion, of one pair or of all."""
        return tuple(row for row in self.rows if row.criterion == criterion and pair in (None, row.pair))

    def same_items(self, pair: Pair) -> int:
        """On how many items the two systems of a pair wrote the same text."""
        return sum(tied == pair for tied, _ in self.same)

    def without(self, judges: Iterable[str]) -> Votes:
        """The votes of everyone else; checks stay, for they are why somebody was left out."""
        gone = set(judges)
        return replace(self, rows=tuple(row for row in self.rows if row.judge not in gone))


class Judged(NamedTuple):
    """Votes as a matrix: ``values`` (comparisons, judges), NaN = not judged; the item of each row; the judges."""

    values: Floats
    items: tuple[str, ...]
    judges: tuple[str, ...]


def preference_of(vote: Vote) -> int:
    """What `matrix` holds unless asked for something else."""
    return vote.preference


def matrix(votes: Sequence[Vote], value: Callable[[Vote], float] = preference_of) -> Judged:
    """Votes on one criterion as a matrix, rows and columns by name, so that the order of the votes changes nothing.

    Raises ValueError where a judge voted twice on the same two texts.
    """
    rows = sorted({(vote.item, vote.pair, vote.comparison) for vote in votes})
    judges = sorted({vote.judge for vote in votes})
    row_of = {name: place for place, name in enumerate(rows)}
    judge_of = {name: place for place, name in enumerate(judges)}
    values = np.full((len(rows), len(judges)), np.nan)
    for vote in votes:
        place = row_of[vote.item, vote.pair, vote.comparison], judge_of[vote.judge]
        if not np.isnan(values[place]):
            raise ValueError(f"judge {vote.judge} voted twice on {vote.comparison} ({vote.criterion})")
        values[place] = value(vote)
    return Judged(values, tuple(item for item, _, _ in rows), tuple(judges))
