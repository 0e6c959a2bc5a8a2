"""One of an article's samples as its summary, chosen by a reward: best of n, or minimum Bayes risk.

B articles, N samples an article; rows i*N .. i*N+N-1 belong to article i. Equal samples of an article are scored once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rewards.base import Reward
from rewards.errors import RewardError
from rewards.scoring import Inputs, score_components
from rewards.wrappers.inner import check_alone
from rlsum.errors import UserError, option
from rlsum.evaluation.rows import Floats
from rlsum.records import ColumnCheck, Output, inputs_of

Rule = Literal["best-of", "mbr"]


@dataclass(frozen=True)
class SampleChoice:
    """The sample of ``samples`` with the highest score by ``rule`` and ``reward``.

    best-of  a reward of the text, its source and columns; references are never passed on (Stiennon et al. 2020)
    mbr      the mean reward of the text with each other sample as its reference (Eikema and Aziz 2020)
    """

    rule: Rule
    reward: Reward
    samples: int

    @property
    def name(self) -> str:
        """The rule and the reward."""
        return f"{self.rule} {self.reward.name}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of articles that it reads, or may read."""
        return (*self.reward.columns, *self.reward.optional_columns)

    def key(self) -> dict[str, str | int]:
        """Everything a choice depends on. Loads the reward's models."""
        return {"rule": self.rule, "reward": self.reward.signature, "samples": self.samples}

    def check_articles(self, rows: Sequence[Mapping[str, Any]], corpus: str) -> None:
        """Raise UserError for an article without a column that the reward needs, and as ``check``."""
        check = ColumnCheck([self.reward])
        columns = [json.loads(row.get("columns", "{}")) for row in rows]
        for row, fields in zip(rows, columns, strict=True):
            check.check(f"{corpus}, id {row['id']!r}", fields)
        self.check(rows[0]["source"], columns[0])

    def check(self, source: str, columns: dict[str, object]) -> None:
        """Raise UserError where the reward depends on the batch, or best of n cannot score without references."""
        check_alone(self.rule, self.reward)
        if self.rule == "mbr":
            return
        try:
            self.reward(*Inputs(["A text."], None, [source], {name: [value] for name, value in columns.items()}))
        except Exception as error:  # a plain function may raise anything
            why = str(error) if isinstance(error, RewardError) else f"{type(error).__name__}: {error}"
            raise UserError(
                f"{option('by', self.reward.name)}: cannot score without references ({why}); give a reward that reads "
                f"none, or compare the samples with each other: {option('mbr', self.reward.name)} "
                f"{option('samples', self.samples)}"
            ) from error

    def scores(self, inputs: Inputs) -> Floats:
        """Scores (B, N) of all samples, NaN where undefined."""
        return (best_of if self.rule == "best-of" else agreement)(self.reward, inputs, self.samples)

    def choose(self, outputs: Sequence[Output]) -> tuple[list[Output], dict[str, str]]:
        """The chosen outputs, one an article; and id -> reason, where no sample has a score and the first is chosen."""
        inputs = inputs_of(outputs)
        scores = self.scores(inputs)
        first = range(0, len(outputs), self.samples)
        chosen = [outputs[row + index] for row, index in zip(first, best(scores), strict=True)]
        undefined = np.isnan(scores).all(1)
        reasons = {outputs[row].id: self._reason(inputs, row) for row in np.array(first)[undefined]}
        return chosen, reasons

    def _reason(self, inputs: Inputs, row: int) -> str:
        item = inputs.item(row)
        references = None if self.rule == "best-of" else [inputs.candidates[row + 1]]
        return self.reward.undefined(*item._replace(references=references)) or "no reason given"


def best(scores: Floats) -> NDArray[np.intp]:
    """The index (B,) of the highest score in each row (B, N): the first of equal ones, 0 where all are NaN."""
    highest = np.where(np.isnan(scores), -np.inf, scores).max(1, keepdims=True)
    index: NDArray[np.intp] = (scores == highest).argmax(1)
    return index


def best_of(reward: Reward, inputs: Inputs, samples: int) -> Floats:
    """The reward (B, N) of each sample without references, in one call."""
    rows: dict[tuple[int, str], int] = {}
    for row, text in enumerate(inputs.candidates):
        rows.setdefault((row // samples, text), row)
    rewards, _ = score_components(reward, inputs._replace(references=None).take(list(rows.values())))
    scores = dict(zip(rows, rewards, strict=True))
    values = [scores[row // samples, text] for row, text in enumerate(inputs.candidates)]
    return np.array(values, dtype=np.float64).reshape(-1, samples)


def agreement(reward: Reward, inputs: Inputs, samples: int) -> Floats:
    """The mean reward (B, N) of each sample against the N - 1 others of its article, those that are NaN left out.

    One call of the reward for each article.
    """
    articles = [range(first, first + samples) for first in range(0, len(inputs.candidates), samples)]
    return np.array([_agreement(reward, inputs.take(rows)) for rows in articles]).reshape(-1, samples)


def _agreement(reward: Reward, inputs: Inputs) -> Floats:
    """The mean reward (N,) of the samples of one article, from the pairs of its U different texts."""
    texts, row, number, count = np.unique(
        np.array(inputs.candidates, dtype=object), return_index=True, return_inverse=True, return_counts=True
    )
    others = count - np.eye(len(texts), dtype=np.int64)  # (U, U): how often text j is the reference of one text i
    i, j = others.nonzero()
    pairs = inputs.take(row[i].tolist())._replace(references=[[text] for text in texts[j]])
    scores = np.full(others.shape, np.nan)
    scores[i, j], _ = score_components(reward, pairs)
    weight = others * ~np.isnan(scores)
    total = (np.where(weight > 0, scores, 0.0) * weight).sum(1)
    with np.errstate(invalid="ignore"):  # 0 / 0: no pair is defined
        means: Floats = (total / weight.sum(1))[number]
    return means
