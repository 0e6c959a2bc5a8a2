"""Rewards as reward functions of TRL: ``GRPOTrainer(reward_funcs=[reward_function("rouge-l")], ...)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewards.adapters.columns import ScoredColumns
from rewards.wrappers.parts import Part


class RewardFunction:
    """A reward (a spec, or a reward) for TRL's ``reward_funcs``, named after the reward. Can be pickled.

    ``references`` names the column of references, a text or a list of texts per row, and ``sources`` that of sources;
    None for a reward without. Other columns are found by their own names.
    """

    def __init__(self, reward: Part, references: str | None = "reference", sources: str | None = None) -> None:
        self.scored = ScoredColumns(reward, "completions", references, sources)
        self.reward = self.scored.reward
        self.__name__ = self.reward.name  # under which TRL logs it

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Sequence[Any]
    ) -> list[float | None]:
        """A score for each completion; None if it is undefined, which TRL leaves out of its sums.

        A completion is a text or, in a conversation, a list of messages, whose contents count. TRL passes every column
        as a keyword. Raises RewardError for a missing column.
        """
        columns["completions"] = completions
        for name in ("completions", self.scored.sources):
            if name in columns:
                columns[name] = [_text(value) for value in columns[name]]
        return self.scored(columns)[self.reward.name]


reward_function = RewardFunction


def _text(value: Any) -> str:
    """A text, or the contents of a conversation's messages, joined by line breaks."""
    if isinstance(value, str):
        return value
    return "\n".join(message["content"] for message in value if isinstance(message.get("content"), str))
