"""What an option means is read where it is declared."""

from __future__ import annotations

from dataclasses import dataclass

from rewards.options import meanings


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
