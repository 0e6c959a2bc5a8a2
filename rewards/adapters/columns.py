"""Rewards over columns: ``dataset.map(scored("rouge-l"), batched=True)`` adds a column of scores to a Dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rewards.base import Reward
from rewards.errors import RewardError
from rewards.scoring import Inputs, check_columns, columns_for
from rewards.wrappers.cleaned import Cleaned
from rewards.wrappers.parts import Part, made


class ScoredColumns:
    """A reward (a spec, or a reward) as a function of a batch of columns for ``Dataset.map(..., batched=True)``.

    ``references`` names a column that holds a text or a list of texts per row; None for a reward without. Other columns
    are found by their own names. ``name`` is the new column's, by default the reward's. ``strip``: score the texts
    without what is no part of them, see ``cleaned``. Can be pickled, so ``num_proc`` works.
    """

    def __init__(
        self,
        reward: Part,
        candidates: str = "candidate",
        references: str | None = "references",
        sources: str | None = None,
        name: str | None = None,
        strip: bool = False,
    ) -> None:
        inner = made(reward)
        self.reward = stripped(inner, strip)
        self.candidates, self.references, self.sources = candidates, references, sources
        self.name = inner.name if name is None else name

    def __call__(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[float | None]]:
        """One new column: the scores, None (null) if undefined. Raises RewardError as ``inputs``."""
        scores = self.reward(*self.inputs(columns))
        return {self.name: [None if score != score else float(score) for score in scores]}

    def inputs(self, columns: Mapping[str, Sequence[Any]]) -> Inputs:
        """What the reward reads. Raises RewardError for a missing column, and for references that are not text."""
        check_columns(self.reward, columns)
        for name in (self.candidates, self.references, self.sources):
            if name is not None and name not in columns:
                raise RewardError(f"{self.name}: no column {name!r} among {', '.join(columns)}; name the column")
        return Inputs(
            list(columns[self.candidates]),
            None if self.references is None else as_lists(self.name, self.references, columns[self.references]),
            None if self.sources is None else texts_of(self.name, self.sources, columns[self.sources]),
            columns_for(self.reward, columns),
        )


scored = ScoredColumns


def stripped(reward: Part, strip: bool) -> Reward:
    """The reward, of clean texts with ``strip``."""
    inner = made(reward)
    return Cleaned(inner) if strip and not isinstance(inner, Cleaned) else inner


def as_lists(name: str, column: str, rows: Sequence[Any]) -> list[list[str]]:
    """A list of references per row; a row may also be a single text. Raises RewardError for what is neither."""
    lists = []
    for number, row in enumerate(rows):
        alone = isinstance(row, str | Mapping) or not isinstance(row, Iterable)
        texts = [row] if alone else list(row)
        if wrong := [text for text in texts if not isinstance(text, str)]:
            what = f"row {number} of the column {column!r} has the reference {wrong[0]!r}, which is not text"
            raise RewardError(f"{name}: {what}; where there is none give an empty list: its score is undefined")
        lists.append(texts)
    return lists


def texts_of(name: str, column: str, rows: Sequence[Any]) -> list[str]:
    """A text per row. Raises RewardError for anything else."""
    for number, row in enumerate(rows):
        if not isinstance(row, str):
            what = f"row {number} of the column {column!r} is {row!r}, which is not text"
            raise RewardError(f"{name}: {what}; where there is none give an empty text")
    return list(rows)
