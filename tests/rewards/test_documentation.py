from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

import pytest

import rewards
from rewards.documentation import flowing, stated_range
from rewards.options import takes


def build(size: int = 3) -> rewards.Reward:
    """Build something.

    ``size``: how big it is, over
    two lines. The end.
    """
    raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Options of both.

    ``size``: the shared meaning
    """

    size: int = 3


@dataclass(frozen=True, kw_only=True)
class Coloured(Shared):
    """Options of one.

    ``colour``: of the paint
    """

    colour: Literal["red", "blue"] = "red"

    def __post_init__(self) -> None:
        if self.size < 0:
            raise rewards.RewardError(f"size={self.size} is negative")


@takes(Coloured)
def paint(options: Coloured) -> rewards.Reward:
    """Paint something."""
    raise NotImplementedError(f"{options.size} {options.colour}")


def test_options_of_a_dataclass_are_arguments_and_its_docstrings_explain_them() -> None:
    name = f"{__name__}:paint"
    described = rewards.describe(name)
    assert described.options == {"size": "3", "colour": "red"}
    assert [option.meaning for option in described.explained.values()] == ["the shared meaning", "of the paint"]
    assert described.explained["colour"].choices == ("red", "blue")
    with pytest.raises(NotImplementedError, match="4 blue"):
        rewards.load(name, size="4", colour="blue")


@pytest.mark.parametrize(("options", "part"), [("size=-1", "size=-1"), ("hue=1", "'hue'"), ("colour=pink", "pink")])
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


def test_a_shared_meaning_tells_of_the_choices_that_there_are() -> None:
    assert "official" not in rewards.describe("meteor").explained["tokenizer"].meaning


def test_an_option_is_explained_by_its_own_docstring_first() -> None:
    option = rewards.describe(f"{__name__}:build").explained["size"]
    assert option.meaning == "how big it is, over two lines. The end"
    assert (option.default, option.choices) == ("3", ())
    assert "size" not in rewards.describe(f"{__name__}:build").text


def test_choices_come_from_the_annotation() -> None:
    assert rewards.describe("rouge-l").explained["direction"].choices == ("precision", "recall", "f1")
    assert rewards.describe("bleu-neighbors").options["examples"] == "..."


def test_flowing() -> None:
    assert flowing("a\nb ``c``\n\n  d\n") == "a b c\n\nd"
