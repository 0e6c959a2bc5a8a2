"""The inner reward of a wrapper: built from its spec, or checked without loading anything."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isfunction
from typing import Any

from rewards.base import Reward, check_spec, complete, from_spec
from rewards.errors import RewardError
from rewards.scoring import BaseReward, columns_read

Part = Any  # a spec (text or mapping) or a reward


def made(part: Part) -> Reward:
    """The reward that ``part`` is or describes. Raises RewardError."""
    return from_spec(part) if isinstance(part, str | Mapping) or isfunction(part) else complete(part)


class Wrapper(BaseReward):
    """A reward around another one, whose columns it passes on."""

    def __init__(self, reward: Part) -> None:
        self.reward = made(reward)
        self.columns, self.optional_columns = columns_read([self.reward])

    @property
    def weights(self) -> Mapping[str, float]:
        """Those of the components of a weighted sum, by name."""
        return getattr(self.reward, "weights", {})

    @property
    def heading(self) -> str:
        """That of the reward."""
        return str(getattr(self.reward, "heading", self.reward.name))

    @staticmethod
    def check_options(options: Mapping[str, Any]) -> None:
        """Check name and options of the inner reward; loads nothing."""
        check_part(options["reward"])


def check_part(part: Part) -> None:
    """Raise RewardError unless name and options of ``part`` are valid; cheap."""
    if isinstance(part, str | Mapping):
        check_spec(part)


def check_alone(name: str, reward: Reward) -> None:
    """Raise RewardError if a score depends on the rest of its batch. Reads the signature, which loads models."""
    if mark := depends_on_batch(reward):
        why = f"depend on the batch ({mark}), but texts are scored one by one"
        raise RewardError(f"{name}: the scores of {reward.name} {why}; use another reward or centering")


def depends_on_batch(reward: Reward) -> str:
    """The part of the signature that makes a score depend on the rest of the batch; "" if it does not."""
    marks = ("centering:batch", "idf:references")
    return next((mark for mark in marks if mark in reward.signature), "")
