"""Rewards over columns: ``dataset.map(scored("rouge-l"), batched=True)`` adds a column of scores to a Dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewards.errors import RewardError
from rewards.scoring import check_columns, columns_for
from rewards.wrappers.parts import Part, made


class ScoredColumns:
    """A reward (a spec, or a reward) as a function of a batch of columns for ``Dataset.map(..., batched=True)``.

    ``references`` names a column that holds a text or a list of texts per row; None for a reward without. Other columns
    are found by their own names. ``name`` is the new column's, by default the reward's. Can be pickled, so ``num_proc``
    works.
    """

    def __init__(
        self,
        reward: Part,
        candidates: str = "candidate",
        references: str | None = "references",
        sources: str | None = None,
        name: str | None = None,
    ) -> None:
        self.reward = made(reward)
        self.candidates, self.references, self.sources = candidates, references, sources
        self.name = self.reward.name if name is None else name

    def __call__(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[float | None]]:
        """One new column: the scores, None (null) if undefined. Raises RewardError for a missing column."""
        check_columns(self.reward, columns)
        for name in (self.candidates, self.references, self.sources):
            if name is not None and name not in columns:
                raise RewardError(f"{self.name}: no column {name!r} among {', '.join(columns)}; name the column")
        scores = self.reward(
            list(columns[self.candidates]),
            None if self.references is None else as_lists(columns[self.references]),
            None if self.sources is None else list(columns[self.sources]),
            columns_for(self.reward, columns),
        )
        return {self.name: [None if score != score else float(score) for score in scores]}


scored = ScoredColumns


def as_lists(references: Sequence[Any]) -> list[list[str]]:
    """A list of references per row; a row may also be a single text."""
    return [[row] if isinstance(row, str) else list(row) for row in references]
