"""What a user asks of `rlsum correlate`: the level, the average over groups, the population, the test, resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from rlsum.errors import UserError, option
from rlsum.evaluation.coefficients.statistic import Level
from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.statistics import ALPHA, OF_CORRELATIONS, Random, TestOption, Uncertainty

Average = Literal["groups", "rows"]

AVERAGES: dict[Average, str] = {
    "groups": "the mean over the groups, with equal weights",
    "rows": "the mean over the groups, weighted by their rows",
}


@dataclass(frozen=True)
class Choices:
    """How to compute. The fields are options of `correlate`.

    ``average`` None pools all groups; within groups tests are always clustered by input and systems taken as given.
    Raises pydantic's ValidationError for unknown values and values out of range.
    """

    level: Level = "pooled"
    """all rows; within inputs, averaged; system means"""
    average: Average | None = None
    """with --by-group: weight groups equally (groups, the default) or by rows"""
    random: Random | None = None
    """new inputs, new systems, or both (default: both where systems are enough, else inputs)"""
    test: TestOption = "auto"
    """test between metrics; auto chooses by the data"""
    resamples: int = Field(default=OF_CORRELATIONS.resamples, ge=0)
    """resamples of each interval and each test; 0: no intervals"""
    seed: int = Field(default=OF_CORRELATIONS.seed, ge=0)
    """same seed, same intervals and p-values"""
    significance: ClassVar[float] = ALPHA  # the level of tests, and one less that of intervals

    @property
    def uncertainty(self) -> Uncertainty:
        """How intervals are computed."""
        return Uncertainty(level=1 - self.significance, resamples=self.resamples, seed=self.seed)

    def check(self, statistics: Sequence[str]) -> None:
        """Raise UserError for a test or a population that the level, the statistics or the groups do not have.

        Raises ValueError for an unknown statistic.
        """
        coefficients, test, random = [named(name) for name in statistics], self.test, self.random
        if random in ("systems", "both") and (self.average or test != "auto"):
            taken = option("average", self.average, "--by-group") if self.average else option("test", test)
            raise UserError(f"{option('random', random)}: {taken} takes the systems as given; omit one of the two")
        if test in ("auto", "clustered permutation"):
            return
        if self.average:
            raise UserError(
                f"{option('test', test)}: within groups, only 'clustered permutation' is available; leave it out"
            )
        if test == "williams" and (self.level != "pooled" or not all(entry.williams for entry in coefficients)):
            needed = f"{option('level', 'pooled')} and of the statistics only pearson and spearman"
            raise UserError(f"{option('test', test)}: needs {needed}; leave it out")
        if test == "permutation" and self.level == "input":
            inputs = option("level", "input")
            raise UserError(f"{option('test', test)}: swaps rows; for {inputs} use 'clustered permutation'")


USUAL = Choices()
