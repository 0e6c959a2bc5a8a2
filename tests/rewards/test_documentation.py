from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from annotated_types import Ge

import rewards
from rewards.documentation import Option, flowing, stated_range
from rewards.options import takes


def build(size: int = 3) -> rewards.Reward:
    """Build something.

    The end.
    """
    raise NotImplementedError


@dataclass(kw_only=True)
class Shared:
    """Options of both."""

    size: Annotated[int, Ge(0)] = 3
    """the shared meaning"""


@dataclass(kw_only=True)
class Coloured(Shared):
    """Options of one."""

    colour: Literal["red", "blue"] = "red"
    """of the paint"""

    def __post_init__(self) -> None:
        if self.size > 9 and self.colour == "blue":
            raise rewards.RewardError(f"size={self.size} is too much blue")


@takes(Coloured)
def paint(options: Coloured) -> rewards.Reward:
    """Paint something."""
    raise NotImplementedError(f"{options.size} {options.colour}")


def test_options_of_a_dataclass_are_arguments_with_their_meaning_choices_and_range() -> None:
    name = f"{__name__}:paint"
    described = rewards.describe(name)
    assert described.options == {"size": "3", "colour": "red"}
    assert [option.meaning for option in described.explained.values()] == ["the shared meaning", "of the paint"]
    assert described.explained["colour"].choices == ("red", "blue")
    assert described.explained["size"].range == ">= 0"
    with pytest.raises(NotImplementedError, match="4 blue"):
        rewards.load(name, size="4", colour="blue")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ("size=-1", "size=-1 must be >= 0"),
        ("size=10, colour=blue", "too much blue"),
        ("hue=1", "'hue'"),
        ("colour=pink", "pink"),
    ],
)
def test_options_of_a_dataclass_are_checked_without_a_build(options: str, part: str) -> None:
    with pytest.raises(rewards.RewardError, match=part):
        rewards.check_spec(f"{__name__}:paint({options})")


@pytest.mark.parametrize("name", rewards.base.TABLE)
def test_every_reward_documents_itself(name: str) -> None:
    told = rewards.describe(name)
    assert told.summary
    assert told.text.startswith(told.summary)
    assert "``" not in told.text + told.scores
    assert "(n,)" in told.scores, "what a call returns"
    assert re.search(r"empty|without a (word|token)|nothing|floor|inner", told.scores), "what an empty candidate gets"
    assert re.search(r"[Rr]ange|in \[|1 for equal|inner|[Ww]eighted|control", told.text + told.scores), "its range"
    assert told.source
    for option, explained in told.explained.items():
        assert explained.meaning, f"{name}: {option} is explained nowhere"


def test_the_range_is_the_one_described() -> None:
    assert stated_range("rouge-2") == stated_range("meteor") == (0, 1)
    assert stated_range("bertscore") == stated_range("weighted") == stated_range("mine:score") == (-math.inf, math.inf)


@pytest.mark.parametrize("name", rewards.base.TABLE)
def test_it_is_written_as_one_may_write_it(name: str) -> None:
    written = rewards.describe(name).written
    rewards.check_spec(written)
    if "..." not in written:
        rewards.from_spec(written)


def test_normalize_means_vector_scaling_or_self_normalisation() -> None:
    scaling, normalisation = (rewards.describe(name).explained["normalize"] for name in ("wms", "twmd"))
    assert (scaling.choices, normalisation.choices) == (("none", "unit"), ("self", "none"))
    assert "unit:" in scaling.meaning
    assert "self:" not in scaling.meaning
    assert "self:" in normalisation.meaning
    assert "unit:" not in normalisation.meaning


def test_options_of_a_function_have_no_meaning_but_a_default() -> None:
    described = rewards.describe(f"{__name__}:build")
    assert described.explained == {"size": Option("3", (), "")}
    assert described.text == "Build something.\n\nThe end."


def test_choices_come_from_the_annotation() -> None:
    assert rewards.describe("rouge-l").explained["direction"].choices == ("precision", "recall", "f1")
    assert rewards.describe("bleu-neighbors").options["examples"] == "..."


def test_flowing() -> None:
    assert flowing("a\nb ``c``\n\n  d\n") == "a b c\n\nd"
