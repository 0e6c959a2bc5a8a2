"""What wrappers of one reward share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rewards.base import Inner, Reward, from_spec
from rewards.errors import RewardError
from rewards.scoring import BaseReward, columns_read


@dataclass(eq=False, repr=False)
class Wrapper(BaseReward):
    """A reward around another one, whose columns it passes on."""

    example: ClassVar[str] = "reward=rouge-l"

    reward: Inner
    """the inner reward"""

    def __post_init__(self) -> None:
        self.reward: Reward = from_spec(self.reward)
        self.columns, self.optional_columns = columns_read([self.reward])

    @property
    def weights(self) -> Mapping[str, float]:
        """Those of the components of a weighted sum, by name."""
        return getattr(self.reward, "weights", {})

    @property
    def notes(self) -> Sequence[str]:
        """Those of the reward."""
        return getattr(self.reward, "notes", ())

    @property
    def heading(self) -> str:
        """That of the reward."""
        return str(getattr(self.reward, "heading", self.reward.name))


def innermost(reward: Any) -> Iterator[Any]:
    """The rewards within wrappers and sums, which score by themselves."""
    inner = [reward.reward] if isinstance(reward, Wrapper) else [member for member, _ in getattr(reward, "parts", ())]
    if not inner:
        yield reward
    for member in inner:
        yield from innermost(member)


def check_alone(name: str, reward: Reward) -> None:
    """Raise RewardError if a score depends on the rest of its batch. Reads the signature, which loads models."""
    if mark := depends_on_batch(reward):
        why = f"depend on the batch ({mark}), but texts are scored one by one"
        raise RewardError(f"{name}: the scores of {reward.name} {why}; use another reward or centering")


def depends_on_batch(reward: Reward) -> str:
    """The part of the signature that makes a score depend on the rest of the batch; "" if it does not."""
    signature = reward.signature
    return next((mark for mark in ("centering:batch", "idf:references") if mark in signature), "")
