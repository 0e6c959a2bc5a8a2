"""What an option means is read where it is declared."""

from __future__ import annotations

import re
from dataclasses import dataclass, make_dataclass
from typing import Annotated

import pytest
from annotated_types import Ge, Gt, Le, Lt

from rewards.errors import RewardError
from rewards.options import bounds, coerce, meanings, metadata


@dataclass
class Base:
    """Not a meaning."""

    words: int = 3
    """words that are
    compared"""
    unexplained: int = 0
    lowercase: bool = False
    """compare without case"""


@dataclass
class Derived(Base):
    lowercase: bool = True
    """of this class"""
    beam: int = 1
    """alone"""

    def method(self) -> int:
        """Not a meaning."""
        return self.words


def test_the_string_under_a_field_is_its_meaning_also_of_bases():
    assert meanings(Base) == {"words": "words that are compared", "lowercase": "compare without case"}
    assert meanings(Derived) == {"words": "words that are compared", "lowercase": "of this class", "beam": "alone"}


def test_a_class_without_a_file_has_no_meanings():
    made = make_dataclass("Typed", [("words", int, 3)])
    assert meanings(made) == {}


@pytest.mark.parametrize(
    ("annotation", "value", "told"),
    [
        (Annotated[int, Ge(1)], 0, "x=0 must be >= 1"),
        (Annotated[float, Gt(0), Le(1)] | None, "1.5", "x=1.5 must be > 0, <= 1"),
        (Annotated[float, Lt(2)], 2, "x=2.0 must be < 2"),
    ],
)
def test_a_value_outside_its_range_is_named_with_the_range(annotation, value, told):
    with pytest.raises(RewardError, match=re.escape(told)):
        coerce("x", value, annotation)
    assert coerce("x", 1, annotation) == 1
    assert told.endswith(bounds(metadata(annotation)))
