"""A language model on a server as a judge of two summaries of a text, asked in both orders.

Such judges prefer a place, often the first (Wang et al. 2023). The score is the mean over both orders, and what the
place does is reported beside it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.models.answers import Asker
from rewards.models.asking import AskingOptions
from rewards.models.pairs import Matrix, Pair
from rewards.models.prompts import check_prompt, prompt_hash
from rewards.options import takes
from rewards.scoring import Inputs, Item, references_of

PROMPT = """You are given a text and two summaries. Which of the summaries is better?

Criterion: {criterion}

Text:
{given}

Summary 1:
{first}

Summary 2:
{second}

Answer with 1 or 2, and with nothing else."""
TEXT = "Text:\n{given}\n\n"
FIELDS = {"given", "first", "second"}


@dataclass(kw_only=True)
class JudgePairsOptions(AskingOptions):
    """Options of judge-pairs."""

    against: str | None = None
    """the other summary of an article: in this file of outputs, lines of JSON with source and candidate; none: its
    references, the best of which counts"""
    given: Literal["source", "nothing"] = "source"
    """whether the question holds the article"""
    prompt: str | None = None
    """the question, with {first}, {second} and any of {given}, {criterion}; none: PROMPT of the module"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prompt is not None:
            check_prompt("judge-pairs", self.prompt, FIELDS | {*self.values()}, needed={"first", "second"})
        if self.against is not None and not Path(self.against).is_file():
            raise RewardError(f"judge-pairs: against={self.against!r}: no such file; give outputs of another system")

    def ends(self) -> tuple[int, int]:
        """The answers: the first or the second."""
        return 1, 2


class Contest(NamedTuple):
    """A candidate, the other summary of its article, and the article."""

    given: str
    candidate: str
    other: str


@takes(JudgePairsOptions)
class JudgePairs(Asker):
    """A language model on an OpenAI-compatible server that compares a summary with another of its article.

    Range: 0 to 1, the probability that the summary is preferred, .5 for two equal ones. Reads references, or a file
    of outputs.
    """

    name = "judge-pairs"
    floor = 0.0
    options: JudgePairsOptions

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64; 0 for an empty candidate; NaN without the article or the other summary, or where the judge
        names neither.

        Raises RewardError where the server cannot be used or the limit is reached. Answers are kept until then.
        """
        if self.options.against is None:
            references_of(self.name, inputs)
        elif inputs.sources is None:
            raise RewardError("judge-pairs: against= needs sources=[...], by which it finds the other summary")
        return self.best(inputs)

    @property
    def signature(self) -> str:
        """The model as the server names it, the hash of the question and of the other summaries, and the draws."""
        read = self.options.against is not None
        against = prompt_hash(json.dumps(sorted(self._others.items()))) if read else "reference"
        prompt = prompt_hash(self._prompt(Contest("{given}", "{first}", "{second}"), True))
        return self._signed({"against": against, "prompt": prompt})

    @property
    def reads_texts(self) -> bool:
        """Whether the other summaries are those of a file."""
        return self.options.against is not None

    @property
    def notes(self) -> list[str]:
        """The share of the text shown first, and of pairs that the place alone decided; nothing before a pair."""
        if not self._orders:
            return []
        first, second = np.array(list(self._orders.values())).T  # that the candidate wins where it is first, or second
        shown = (first + 1 - second) / 2
        half = 1.96 * shown.std(ddof=1) / math.sqrt(len(shown)) if len(shown) > 1 else math.nan
        decided = float(np.mean((first - 0.5) * (second - 0.5) < 0))
        return [
            f"{self.heading}: asked of {len(shown):,} pairs in both orders, it prefers the text shown first with "
            f"{100 * shown.mean():.1f}% ({100 * (shown.mean() - half):.1f} to {100 * (shown.mean() + half):.1f}; 50 "
            f"without position bias); of {100 * decided:.1f}% of the pairs the order alone decides."
        ]

    def pair_scores(self, pairs: Sequence[Contest]) -> Sequence[float]:  # type: ignore[override]
        """The mean probability of both orders; .5 for equal texts, which are not asked about."""
        asked = [pair for pair in pairs if pair.candidate != pair.other]
        judged = self._answers.judged([self._prompt(pair, first) for pair in asked for first in (True, False)])
        for pair in asked:
            one, other = (judged[self._prompt(pair, first)] for first in (True, False))
            if math.isnan(one.number + other.number):
                self._reasons[pair] = one.reason or other.reason
            else:
                self._orders[pair] = 2 - one.number, other.number - 1
        even = (0.5, 0.5)
        return [
            float(np.mean(even if pair.candidate == pair.other else self._orders.get(pair, math.nan))) for pair in pairs
        ]

    def matrix(self, pair: Pair) -> Matrix:
        """The probability that the candidate is preferred, by where it stands. Raises RewardError where the one text
        beside the candidate cannot be both the article and the other summary.
        """
        if self.given == "source" and self.options.against is None:
            raise RewardError("judge-pairs: give against=FILE, or given=nothing with the other summary, to explain one")
        other = self._others.get(pair.given, "") if self.given == "source" else pair.given
        contest = Contest(pair.given if self.given == "source" else "nothing", pair.candidate, other)
        self.pair_scores([contest])
        values = np.array([self._orders.get(contest, (0.5, 0.5))])
        return Matrix(["the summary"], ["shown first", "shown second"], values, "how often it is preferred")

    def reason(self, item: Item) -> str | None:
        """It has no article, no other summary, or as of any judge."""
        if self._pairs(item) or (self.given == "source" and not (item.source or "").strip()):
            return super().reason(item)
        return f"{self.options.against or 'its references'} have no text to compare with"

    def _pairs(self, item: Item) -> list[Contest]:  # type: ignore[override]
        source = item.source or ""
        others = (item.references or ()) if self.options.against is None else (self._others.get(source, ""),)
        given = source if self.given == "source" else "nothing"
        return [Contest(given, item.candidate, other) for other in others if given.strip() and other.strip()]

    @cached_property
    def _others(self) -> dict[str, str]:
        """Article -> the other summary of it. Raises RewardError for a line that has neither, or two of one article."""
        others: dict[str, str] = {}
        path = Path(str(self.options.against))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                source, text = str(row["source"]), str(row["candidate"])
            except (ValueError, LookupError, TypeError) as error:
                fix = "each line is JSON with source and candidate, as `rlsum generate` writes"
                raise RewardError(f"judge-pairs: {path}:{number}: cannot be read ({error!r}); {fix}") from error
            if others.setdefault(source, text) != text:
                raise RewardError(f"judge-pairs: {path}:{number}: a second text of one article; give one system's file")
        return others

    def _prompt(self, pair: Contest, candidate_first: bool) -> str:
        texts = (pair.candidate, pair.other) if candidate_first else (pair.other, pair.candidate)
        usual = PROMPT if self.given == "source" else PROMPT.replace(TEXT, "")
        return self._question(usual, {"given": pair.given, "first": texts[0], "second": texts[1]})

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        self._orders: dict[Contest, tuple[float, float]] = {}
