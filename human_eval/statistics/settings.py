"""The choices of an analysis: how intervals and tests are computed, what is primary, whom a verdict is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from human_eval.answers import PAIR
from human_eval.votes.exclusion import ExclusionRules
from rlsum.errors import UserError
from rlsum.evaluation.statistics import ALPHA, Uncertainty

About = Literal["judges like these", "these judges"]
LIKE_THESE, THESE = get_args(About)


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
        super().__post_init__()
        if not 0 < self.alpha < 1:
            raise UserError(f"--alpha {self.alpha}: expected a number between 0 and 1")
