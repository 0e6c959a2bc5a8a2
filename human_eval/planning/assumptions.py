"""What is assumed of the judges of a planned study. The fields are options of ``rlsum human-eval plan``."""

from __future__ import annotations

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from rlsum.evaluation.rows import Floats

SPREAD = 0.1  # of a plan, unless a pilot or the user gives another


@dataclass(frozen=True)
class Assumptions:
    """How judges vote.

    ``correlation`` is intraclass, of votes coded -1, 0, 1. The shares of each item are drawn from a Dirichlet
    distribution, under which every coding of votes has exactly this correlation. A judge who leans towards a system by
    d turns so many votes for the other into votes for it that the judge's share is d higher.

    Raises pydantic's ValidationError for values out of range.
    """

    preference: float = Field(default=0.6, ge=0.5, lt=1)
    """preference to detect: .6 means 60 to 40 among votes for one of the two systems; default: .6"""
    ties: float = Field(default=0.0, ge=0, lt=1)
    """share of votes for no difference; default: 0"""
    correlation: float = Field(default=0.3, ge=0, le=1)
    """correlation of votes on an item; default: .3"""
    spread: float = Field(default=0.0, ge=0, lt=0.5)
    """standard deviation of the judges' own shares of a system; default: that of the pilot, or .1"""

    def shares(self) -> Floats:
        """Shares of votes for the first system, neither, the second (3,)."""
        decided = 1 - self.ties
        return np.array([decided * (1 - self.preference), self.ties, decided * self.preference])
