"""Rewards over columns: ``dataset.map(scored("rouge-l"), batched=True)`` adds a column of scores to a Dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from rewards.base import from_spec
from rewards.errors import RewardError
from rewards.references import Lists, NotText, members, reference_columns, references
from rewards.scoring import Inputs, check_columns, columns_for
from rewards.wrappers.cleaned import Cleaned


class ScoredColumns:
    """A reward (a spec, or a reward) as a function of a batch of columns for ``Dataset.map(..., batched=True)``.

    ``references`` names a column that holds a text or a list of texts per row, alone or with others that differ in a
    number (``reference2``); None for a reward without. ``reference_lists``: what such a list is, ``alternatives`` or
    the ``sentences`` of one text, unless the column's name ends in `references` or `summaries`: alternatives. Other
    columns are found by their own names. ``name`` is the new column's, by default the reward's. ``strip``: score texts
    without what is no part of them, see ``cleaned``. Can be pickled, so ``num_proc`` works.
    """

    def __init__(
        self,
        reward: Any,
        candidates: str = "candidate",
        references: str | None = "references",
        sources: str | None = None,
        name: str | None = None,
        strip: bool = False,
        reference_lists: Lists | None = None,
    ) -> None:
        inner = from_spec(reward)
        self.reward = Cleaned(inner) if strip and not isinstance(inner, Cleaned) else inner
        self.candidates, self.references, self.sources = candidates, references, sources
        self.name = inner.name if name is None else name
        self.lists = reference_lists

    def __getstate__(self) -> dict[str, Any]:
        """With the signature, so that ``map`` does not take the scores of another version from its cache."""
        with suppress(RewardError):  # without a signature: not written in Python
            return {**vars(self), "signature": self.reward.signature}
        return dict(vars(self))

    def __call__(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[float | None]]:
        """One new column: the scores, None (null) if undefined. Raises RewardError as ``inputs``."""
        scores = self.reward(*self.inputs(columns))
        return {self.name: [None if score != score else float(score) for score in scores]}

    def inputs(self, columns: Mapping[str, Sequence[Any]]) -> Inputs:
        """What the reward reads. Raises RewardError for a missing column, and for references that are not text."""
        check_columns(self.reward, columns)
        fixed = {self.candidates, self.sources}
        named = reference_columns(self.references or "", tuple(name for name in columns if name not in fixed))
        alternatives = [name for name in named if name in columns]
        for name in (self.candidates, None if alternatives else self.references, self.sources):
            if name is not None and name not in columns:
                raise RewardError(f"{self.name}: no column {name!r} among {', '.join(columns)}; name the column")
        return Inputs(
            list(columns[self.candidates]),
            None if self.references is None else self._references({name: columns[name] for name in alternatives}),
            None if self.sources is None else texts_of(self.name, self.sources, columns[self.sources]),
            columns_for(self.reward, columns),
        )

    def _references(self, columns: Mapping[str, Sequence[Any]]) -> list[list[str]]:
        alone = len(columns) == 1
        lists = [as_lists(self.name, name, rows, self.lists, alone) for name, rows in columns.items()]
        return [list(chain(*texts)) for texts in zip(*lists, strict=True)]


scored = ScoredColumns


def as_lists(
    name: str, column: str, rows: Sequence[Any], lists: Lists | None = None, present: bool = True
) -> list[list[str]]:
    """The references of each row: a text, or a list as `rewards.references` reads it. Raises RewardError.

    With ``present`` every row and every member of a list must be a text; otherwise missing ones are left out.
    """
    listed_references = []
    for number, row in enumerate(rows):
        listed = members(row) if isinstance(row, str | Mapping) or not isinstance(row, Iterable) else list(row)
        cells = [row] if listed is None else listed
        for cell in cells:
            if not isinstance(cell, str | list) and (present or cell is not None):
                what = f"row {number} of the column {column!r} has the reference {cell!r}, which is not text"
                raise RewardError(f"{name}: {what}; where there is none give an empty list: its score is undefined")
        try:
            texts = references({column: listed}, column, lists) if listed is not None else cells
        except NotText as error:
            raise RewardError(f"{name}: row {number}: {error}") from error
        listed_references.append([text for text in texts if text is not None])
    return listed_references


def texts_of(name: str, column: str, rows: Sequence[Any]) -> list[str]:
    """A text per row. Raises RewardError for anything else."""
    for number, row in enumerate(rows):
        if not isinstance(row, str):
            what = f"row {number} of the column {column!r} is {row!r}, which is not text"
            raise RewardError(f"{name}: {what}; where there is none give an empty text")
    return list(rows)
