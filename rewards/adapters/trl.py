"""Rewards as reward functions of TRL: ``GRPOTrainer(reward_funcs=[reward_function("rouge-l")], ...)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewards.adapters.columns import as_lists
from rewards.errors import RewardError
from rewards.scoring import check_columns, columns_for
from rewards.wrappers.parts import Part, made


class RewardFunction:
    """A reward (a spec, or a reward) for TRL's ``reward_funcs``, named after the reward. Can be pickled.

    ``references`` names the column of references, a text or a list of texts per row, and ``sources`` that of sources;
    None for a reward without. Other columns are found by their own names.
    """

    def __init__(self, reward: Part, references: str | None = "reference", sources: str | None = None) -> None:
        self.reward = made(reward)
        self.references, self.sources = references, sources
        self.__name__ = self.reward.name  # under which TRL logs it

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Sequence[Any]
    ) -> list[float | None]:
        """A score for each completion; None if it is undefined, which TRL leaves out of its sums.

        A completion is a text or, in a conversation, a list of messages, whose contents count. TRL passes every column
        as a keyword. Raises RewardError for a missing column.
        """
        references = None if self.references is None else as_lists(self._column(columns, self.references))
        sources = None if self.sources is None else [_text(source) for source in self._column(columns, self.sources)]
        check_columns(self.reward, columns)
        texts = [_text(completion) for completion in completions]
        scores = self.reward(texts, references, sources, columns_for(self.reward, columns))
        return [None if score != score else float(score) for score in scores]

    def _column(self, columns: dict[str, Sequence[Any]], name: str) -> Sequence[Any]:
        if name not in columns:
            names = ", ".join(sorted(columns)) or "none"
            raise RewardError(f"{self.__name__}: the dataset has no column {name!r} (columns: {names}); name it")
        return columns[name]


reward_function = RewardFunction


def _text(value: Any) -> str:
    """A text, or the contents of a conversation's messages, joined by line breaks."""
    if isinstance(value, str):
        return value
    return "\n".join(message["content"] for message in value if isinstance(message.get("content"), str))
