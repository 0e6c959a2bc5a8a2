from __future__ import annotations

import pytest

from rewards.text.debris import LEAST, Column, column_of


def test_rows_are_counted_by_what_is_in_any_of_their_texts() -> None:
    column = Column("references")
    for texts in (["a </s>", "b </s>"], ["a", "b"], ["*a* </s>"], ["</s>"]):
        column.add(texts)
    assert column.counts() == ["special tokens in 3 of 4 rows ('a </s>')", "nothing else in 1 text"]
    assert column.rules == {"special tokens": 3, "Markdown": 1}


@pytest.mark.parametrize(
    ("odd", "of", "told"), [(1, 1, True), (1, 2, False), (2, 3, True), (2, 100, True), (2, 101, False)]
)
def test_a_notice_needs_a_share_of_rows_and_more_than_one(odd: int, of: int, told: bool) -> None:
    texts = [f"<pad> a {number}" if number < odd else f"a {number}" for number in range(of)]
    assert bool(column_of(texts).counts(LEAST)) == told


def test_a_prefix_is_looked_for_in_distinct_clean_texts() -> None:
    texts = [f"<s> Short -> {number}" for number in range(10)]
    column = column_of([*texts, *texts])
    assert column.prefix == "Short ->"
    assert column.counts()[-1] == "shared prefix in 10 of 10 different texts ('Short ->')"
    assert column.counts(prefix=False) == ["special tokens in 20 of 20 rows ('<s> Short -> 0')"]
    assert column_of(["Short -> a"] * 20).prefix == ""


def test_a_prefix_is_what_nearly_all_texts_begin_with_up_to_a_boundary() -> None:
    names = ["Anna", "Bert", "Carl", "Dora", "Emil", "Fred", "Gerd", "Hans", "Ines", "Jens"]
    assert column_of([f"Article -> {name} came." for name in names]).prefix == "Article ->"
    assert column_of([f"News | Short: {name} came." for name in names[:9]] + ["Jens left."]).prefix == "News | Short:"
    assert column_of([f"The man {name} came." for name in names]).prefix == ""
    assert column_of([f"Article: {name} came." for name in names[:8]] + names[8:]).prefix == ""
    assert column_of([f"Article: {name} came." for name in names[:3]]).prefix == ""
    assert column_of([f"The mayor said so. {name} came." for name in names]).prefix == ""
