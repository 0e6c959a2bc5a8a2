"""A language model on a server as a judge, asked for a number.

G-Eval (Liu et al. 2023): the expectation over the numbers of the scale by the probabilities of their tokens where the
server returns them, else the mean of several answers. A text may ask for a high number itself: read what wins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.models.answers import Asker
from rewards.models.asking import AskingOptions
from rewards.models.loading import ranges
from rewards.models.pairs import Given, Matrix, Pair
from rewards.models.prompts import check_prompt, prompt_hash
from rewards.options import takes
from rewards.scoring import Inputs

PROMPT = """You are given a text and a summary. Rate the summary.

Criterion: {criterion}

Text:
{given}

Summary:
{candidate}

Answer with one whole number from {low} (worst) to {high} (best), and with nothing else."""
FIELDS = {"given", "candidate", "low", "high"}
WORD = re.compile(r"\S+")


@dataclass(kw_only=True)
class JudgeOptions(AskingOptions):
    """Options of judge."""

    given: Given = "source"
    """the text beside the summary: its article, or a reference"""
    scale: str = "1-5"
    """the lowest and the highest number; only those of one digit have probabilities"""
    prompt: str | None = None
    """the question, with {candidate} and any of {given}, {criterion}, {low}, {high}; none: PROMPT of the module"""
    window: Annotated[int, Ge(1)] | None = None
    """words of the given text in a question; about a longer one several are asked, whose windows overlap by a quarter,
    and the best counts; none: all"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prompt is not None:
            check_prompt("judge", self.prompt, FIELDS | {*self.values()}, needed={"candidate"})

    def ends(self) -> tuple[int, int]:
        """Those of the scale. Raises RewardError."""
        ends = re.fullmatch(r"(-?\d{1,9})-(-?\d{1,9})", self.scale)
        if ends is None or int(ends[1]) >= int(ends[2]):
            raise RewardError(f"judge: scale={self.scale!r} is not LOW-HIGH; write 1-5 for instance")
        return int(ends[1]), int(ends[2])


@takes(JudgeOptions)
class Judge(Asker):
    """A language model on an OpenAI-compatible server that rates a summary (G-Eval).

    Range: the scale, by default 1 to 5. Reads no references unless given=reference.
    """

    name = "judge"
    options: JudgeOptions

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64, the best of several references; NaN where the text is empty, the judge's answers are no
        numbers of the scale, or the server refuses the question. An empty candidate gets the lowest number, unasked.

        Raises RewardError where the server cannot be used or the limit is reached. Answers are kept until then.
        """
        return self.best(inputs)

    @property
    def floor(self) -> float:
        """The lowest number of the scale."""
        return float(self.options.ends()[0])

    @property
    def signature(self) -> str:
        """The model as the server names it, the hash of the question, the scale, and how answers are drawn."""
        options, prompt = self.options, prompt_hash(self._prompt("{given}", "{candidate}"))
        own = {"given": options.given, "prompt": prompt, "scale": options.scale}
        return self._signed(own | {"window": str(options.window).lower()})

    def pair_scores(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """The best number of the windows of each pair."""
        prompts = [self._prompts(pair) for pair in pairs]
        judged = self._answers.judged(list(dict.fromkeys(prompt for of_pair in prompts for prompt in of_pair)))
        scores = [float(np.fmax.reduce([judged[prompt].number for prompt in of_pair])) for of_pair in prompts]
        for pair, of_pair, score in zip(pairs, prompts, scores, strict=True):
            if math.isnan(score):
                self._reasons[pair] = judged[of_pair[0]].reason
        return scores

    def matrix(self, pair: Pair) -> Matrix:
        """The probability of each number of the scale, or its share of the answers, for the best window."""
        judged = self._answers.judged(self._prompts(pair)).values()
        best = max(judged, key=lambda one: -math.inf if math.isnan(one.number) else one.number)
        low, high = self.options.ends()
        scale = range(low, high + 1)
        drawn = [round(number) for number in best.drawn]
        shares = best.shares or [drawn.count(number) / len(drawn) for number in scale]
        return Matrix(["the summary"], [str(number) for number in scale], np.array([shares]), "shares of the numbers")

    def _prompts(self, pair: Pair) -> list[str]:
        """A question for each window of the text."""
        words = [word.span() for word in WORD.finditer(pair.given)]
        cuts = ranges(len(words), self.options.window)
        return [self._prompt(pair.given[words[start][0] : words[end - 1][1]], pair.candidate) for start, end in cuts]

    def _prompt(self, given: str, candidate: str) -> str:
        low, high = self.options.ends()
        return self._question(PROMPT, {"given": given, "candidate": candidate, "low": low, "high": high})
