"""What a planned study is to detect, and how. The fields are options of ``rlsum human-eval plan``."""

from __future__ import annotations

from pydantic import Field
from pydantic.dataclasses import dataclass

from human_eval.answers import PAIR
from human_eval.statistics.settings import LIKE_THESE, THESE
from rlsum.evaluation.rows import Ints
from rlsum.evaluation.statistics import ALPHA


@dataclass(frozen=True, config={"extra": "forbid"})
class PlannedDesign:
    """What the study is to detect, and how.

    Each pair is tested at ``alpha / pairs``, the strictest step of Holm's correction. ``about`` is an `About`: the test
    is that of `random_judges` or of `preference`. ``answers``: their kind, in `human_eval.answers.KINDS`.
    Raises pydantic's ValidationError for values out of range.
    """

    judges: int = Field(default=3, ge=1, le=100)
    """judges per item"""
    booklet: int = Field(default=20, ge=1)
    """most pairs for one judge, as in `build`"""
    about: str = LIKE_THESE
    """whom the verdict is about: 'judges like these', or 'these judges' alone"""
    items: int | None = Field(default=None, ge=1, le=10_000)
    """items; default: the fewest that reach the power"""
    power: float = Field(default=0.8, gt=0, lt=1)
    """probability of detecting the preference"""
    alpha: float = Field(default=ALPHA, gt=0, lt=1)
    """significance level of the test"""
    pairs: int = Field(default=1, ge=1, le=1_000)  # more fill the memory
    """pairs of systems compared on the primary criterion"""
    answers: str = PAIR
    """what judges answer, as in `build`"""
    texts: int = 2
    """systems shown at once, up to 5 where answers are not about a pair"""
    primary: str = "overall"
    """primary criterion"""

    def tasks(self, items: int) -> int:
        """The number of tasks of one judge of every item."""
        return items * (self.pairs if self.texts == 2 else 1)

    def people(self, items: int, judges: int) -> int:
        """The number of booklets, which is that of people, for a number of items and of ``judges`` per item."""
        return judges * self.booklets(items)

    def booklets(self, items: int) -> int:
        """Booklets in which every task of every item is once."""
        return -(-self.tasks(items) // self.booklet)

    def assigned(self, items: int, judges: int) -> Ints:
        """The judge of each vote (items, judges)."""
        from human_eval.planning.simulation import dealt

        return dealt(items, judges, self.booklets(items))

    def refused(self, items: int, judges: int) -> str:
        """Why an analysis will have no test of the verdict, and what it needs; "" if it will have one."""
        from human_eval.planning.simulation import layout_of
        from human_eval.statistics.random_judges import to_claim

        reason = "" if self.about == THESE else layout_of(self.assigned(items, judges)).refused
        return f"{reason}; {to_claim(items, self.tasks(items), judges)}" if reason else ""
