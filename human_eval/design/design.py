"""What is judged, by how many, with which checks. The fields are options of ``rlsum human-eval build``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from human_eval.design.checks import SHUFFLED_NEEDS, articles_to_shuffle
from human_eval.design.outputs import AlignedOutputs
from human_eval.formatting import counted
from human_eval.study import CHECKS, Criterion, StudyError

ITEMS = 100
IDENTICAL, SHUFFLED = 2, 3  # with one criterion 4.5% of judges who click at random are kept, see `error_rates`
SHUFFLED_ALONE = 6  # in a booklet that can have no identical texts
MOST_CHECKS = 100  # of a kind in a booklet; ten are enough to find judges who click at random


@dataclass(frozen=True, config={"extra": "forbid"})
class StudyDesign:
    """What is judged, by how many, with which checks; None: as the outputs allow, see `settled`.

    Where answers are about several texts at once, a task shows those of all systems and takes the place of a pair.
    Raises pydantic's ValidationError for values out of range.
    """

    items: int | None = Field(default=None, ge=1)
    """articles, sampled from those that all systems have; default: 100, or all if fewer"""
    baseline: str | None = None
    """system to compare with each other one; default: compare all pairs"""
    judges: int = Field(default=3, ge=1)
    """judges of each pair on each article"""
    booklet: int = Field(default=20, ge=1)
    """most pairs for a judge, without checks; no two of one article"""
    identical: int | None = Field(default=None, ge=0, le=MOST_CHECKS)
    """checks per booklet that show the same summary twice; default: 2; 0 without ties"""
    shuffled: int | None = Field(default=None, ge=0, le=MOST_CHECKS)
    """checks per booklet that show a summary and its shuffled words; default: 3, or 6 without ties; fewer where few
    articles have an output that is long enough"""
    swapped: int = Field(default=0, ge=0, le=MOST_CHECKS)
    """checks per booklet that repeat a pair with its sides swapped"""
    spare: int = Field(default=0, ge=0)
    """further booklets, for those of judges who will be excluded (see `plan --excluded`)"""

    @property
    def checks(self) -> dict[str, int]:
        """Kind of check -> number in each booklet."""
        return {kind: getattr(self, kind) for kind in CHECKS}

    def settled(self, outputs: AlignedOutputs, criteria: Sequence[Criterion]) -> tuple[StudyDesign, list[str]]:
        """The design with a number in place of each None, and a line on each that is smaller than usual.

        Raises StudyError for more ``items`` than the outputs have.
        """
        # Careful judges may miss an error in one of two equal texts.
        ties = bool(criteria) and all(criterion.kind.can_tie(2) for criterion in criteria)
        shuffled = SHUFFLED if ties else SHUFFLED_ALONE
        there, numbers, notes = len(outputs.articles), dict[str, Any](), []
        if self.items is None:
            numbers["items"] = min(there, ITEMS)
            if there < ITEMS:
                notes.append(f"{counted(there, 'article')} in all systems, fewer than {ITEMS}: all are judged")
        elif self.items > there:
            raise StudyError(
                f"--items {self.items}: only {counted(there, 'article')} with an output of every system; give --items "
                f"{there} or less, or more outputs"
            )
        for kind, usual, suitable, needs in (
            ("identical", IDENTICAL if ties else 0, there, "outputs"),
            ("shuffled", shuffled, articles_to_shuffle(outputs, shuffled), SHUFFLED_NEEDS),
        ):
            if getattr(self, kind) is None:
                numbers[kind] = min(usual, suitable)
                if suitable < usual:
                    have = f"only {counted(suitable, 'article')}" if suitable else "no article"
                    notes.append(f"--{kind} {suitable} instead of {usual}: {have} can have one, with {needs}")
        return replace(self, **numbers), notes
