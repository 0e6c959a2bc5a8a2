"""Votes on pairs of texts of one article: from judgments, and how a score agrees with them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from rewards.models.pairs import Given
from rewards.text.words import units
from rlsum.errors import UserError
from rlsum.evaluation.rows import Floats, Ints, numbered
from rlsum.evaluation.statistics import LEVEL, Interval
from rlsum.judgments.aggregation import apart
from rlsum.judgments.choices import choices
from rlsum.judgments.records import Judgment
from rlsum.metric_fitting.examples import scored
from rlsum.records import finite

if TYPE_CHECKING:
    from torch import Tensor

RESAMPLES = 1000
Text = tuple[tuple[str, ...], str]  # what it is read with, and the text itself
S = TypeVar("S", float, "Tensor")


@dataclass(frozen=True)
class JudgedVote:
    """One judge's choice between two texts of an article: 1 for the second, -1 for the first, 0 for neither.

    ``given``: what the texts are read with, the article or its references. ``judge``: "" if nobody is named.
    """

    article: str
    given: tuple[str, ...]
    texts: tuple[str, str]
    judge: str
    choice: int
    nouns: ClassVar = ("votes", "votes, by their articles,")

    @property
    def key(self) -> object:
        """The article, whatever the input was called."""
        return self.article

    @property
    def seen(self) -> object:
        """The article or its references, which may have other names elsewhere."""
        return self.given

    @property
    def longer(self) -> int:
        """By how many words the second text is longer."""
        first, second = (len(units(text)) for text in self.texts)
        return second - first


def votes(judgments: Sequence[Judgment], score: str, groups: str, given: Given) -> list[JudgedVote]:
    """The votes of all judges on all pairs of different texts of an input; without names, of the texts' scores.

    Texts of one id are of different inputs where their articles tell: ids of several files may be alike.
    Raises UserError for names that are not there, texts without what they are read with, and no pair.
    """
    inputs: dict[tuple[str, str], list[Judgment]] = {}
    for row in scored(judgments, score, groups):
        inputs.setdefault((row.group, row.id), []).append(row)
    pairs = (pair for rows in inputs.values() for pair in combinations(rows, 2) if not apart(*pair))
    judged = [vote for pair in pairs if pair[0].candidate != pair[1].candidate for vote in _votes(*pair, score, given)]
    if not judged:
        raise UserError(
            f"--score {score!r}: no input has two texts with this score, so there is nothing to choose from"
        )
    return judged


def texts_of(judged: Sequence[JudgedVote]) -> list[Text]:
    """The texts that were voted on, each once, with what they are read with."""
    return list(dict.fromkeys((vote.given, text) for vote in judged for text in vote.texts))


def gaps(scores: Mapping[Text, S], judged: Sequence[JudgedVote]) -> list[S]:
    """The score of each vote's second text minus that of the first."""
    return [scores[vote.given, vote.texts[1]] - scores[vote.given, vote.texts[0]] for vote in judged]


def _votes(first: Judgment, second: Judgment, score: str, given: Given) -> Iterator[JudgedVote]:
    contexts = tuple(text for text in ((first.source,) if given == "source" else first.references) if text.strip())
    if not contexts:
        alternative = "given=reference" if given == "source" else "given=source"
        raise UserError(
            f"judgment {first.id!r} of system {first.system!r} has no {given}, with which its text is read; give it, "
            f"or reward-model({alternative})"
        )
    gaps = list(choices(*((row.judges, row.raw_scores.get(score, ())) for row in (first, second))))
    if not gaps:
        gaps = [("", (second.scores[score] or 0.0) - (first.scores[score] or 0.0))]
    article = first.source or f"{first.group}/{first.id}"
    for judge, gap in gaps:
        yield JudgedVote(article, contexts, (first.candidate, second.candidate), judge, int(np.sign(gap)))


@dataclass(frozen=True)
class Agreement:
    """How a score agrees with ``votes``, of which ``ties`` prefer neither and ``undefined`` have no score.

    ``accuracy``: the share of the other votes for the text with the higher score, equal scores being half;
    ``longer_accuracy``: the same of the longer text; ``kendall``: tau-b of votes and scores within articles, their
    mean; ``longer_chosen``: the share of votes on pairs whose longer text has the higher score.
    """

    accuracy: Interval
    longer_accuracy: Interval
    kendall: Interval
    longer_chosen: Interval
    votes: int
    ties: int
    undefined: int
    articles: int
    judges: int

    def to_json(self) -> dict[str, Any]:
        """The values for JSON: null if undefined."""
        values = vars(self).items()
        return {name: finite(value._asdict()) if isinstance(value, Interval) else value for name, value in values}


def agreement(gaps: ArrayLike, judged: Sequence[JudgedVote], seed: int = 0) -> Agreement:
    """Of ``gaps`` (n,), the scores of second texts minus those of the first; NaN is left out.

    Intervals are Student's t. Their squared error adds those of resampling articles and judges (if several), which
    counts chance twice (Owen 2007); degrees of freedom by Satterthwaite (1946). NaN where no resample differs.
    """
    values = np.asarray(gaps, dtype=np.float64)
    compared = [vote for vote, value in zip(judged, values, strict=True) if not np.isnan(value)]
    scores = np.sign(values[~np.isnan(values)])
    vote = np.array([entry.choice for entry in compared], dtype=np.float64)
    longer = np.sign(np.array([entry.longer for entry in compared], dtype=np.float64))
    article, articles = numbered("articles", [entry.article for entry in compared], len(compared))
    judge, judges = numbered("judges", [entry.judge for entry in compared], len(compared))

    def measured(of_articles: Ints, of_judges: Ints) -> list[float]:
        weight = np.asarray(of_judges[judge], dtype=np.float64)
        within = [np.bincount(article, weight * row, articles) for row in (vote * scores, vote**2, scores**2)]
        with np.errstate(invalid="ignore"):
            taus = within[0] / np.sqrt(within[1] * within[2])
        defined, weight = ~np.isnan(taus) * of_articles, weight * of_articles[article]
        return [
            _share(vote * scores, weight * vote**2),
            _share(vote * longer, weight * vote**2),
            float(np.nansum(taus * defined) / defined.sum()) if defined.any() else math.nan,
            _share(scores * longer, weight * longer**2),
        ]

    def draw(count: int) -> Ints:
        return rng.multinomial(count, np.full(count, 1 / count))

    rng, rows, counts = np.random.default_rng(seed), np.full((3, 4), math.nan), np.array([articles, judges])
    if compared:
        once = [np.ones(count, dtype=np.int64) for count in counts]
        rows[0] = measured(*once)
    if articles > 1:
        drawn = [[measured(draw(articles), once[1]), measured(once[0], draw(judges))] for _ in range(RESAMPLES)]
        half = _half_width(np.array(drawn), counts)
        rows[1:] = np.clip([rows[0] - half, rows[0] + half], [0, 0, -1, 0], 1)
    decided = int((vote != 0).sum())
    numbers = (decided, decided, articles, int((longer != 0).sum()))
    ends = zip(rows.T.tolist(), numbers, strict=True)
    accuracy, longest, kendall, chosen = (Interval(value, low, high, n) for (value, low, high), n in ends)
    ties, undefined = len(compared) - decided, len(values) - len(compared)
    return Agreement(accuracy, longest, kendall, chosen, len(values), ties, undefined, articles, judges)


def _half_width(resampled: Floats, counts: Ints) -> Floats:
    """Of intervals of values (v,), from those (draws, sources, v) where one source of chance is drawn again, of which
    there are ``counts`` (sources,). NaN where none differs.
    """
    several = counts > 1
    degrees = counts[several] - 1
    with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):  # undefined ones
        squares = np.nanvar(resampled[:, several], axis=0).T * (degrees + 1) / degrees
        total = squares.sum(1)
        half: Floats = student.ppf((1 + LEVEL) / 2, total**2 / (squares**2 / degrees).sum(1)) * np.sqrt(total)
    return half


def _share(agreeing: Floats, weight: Floats) -> float:
    """The weighted share of agreement, of signs that agree (1), disagree (-1) or are undecided (0)."""
    return float((1 + agreeing @ weight / weight.sum()) / 2) if weight.sum() > 0 else math.nan
