from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import _lcs_table, lcs_ind

from rewards.lexical.rouge_tokens import lcs_length, lcs_places, rouge_l, rouge_lsum


@given(st.lists(st.integers(0, 4), max_size=40), st.lists(st.integers(0, 4), max_size=40))
def test_lcs_equals_the_table(first: list[int], second: list[int]) -> None:
    left, right = [str(item) for item in first], [str(item) for item in second]
    assert lcs_length(left, right) == _lcs_table(left, right)[-1][-1]


@given(st.lists(st.integers(0, 4), max_size=40), st.lists(st.integers(0, 4), max_size=40))
def test_of_several_common_subsequences_the_one_of_rouge_score(first: list[int], second: list[int]) -> None:
    """The union over sentences depends on which one it is."""
    left, right = [str(item) for item in first], [str(item) for item in second]
    assert lcs_places(left, right) == sum(1 << place for place in lcs_ind(left, right))


def test_lsum_by_hand() -> None:
    """Lin 2004, section 3.2: w1 w2 and w1 w3 w5 unite to four of five; three candidate words are spurious."""
    reference = [("w1", "w2", "w3", "w4", "w5")]
    candidate = [("w1", "w2", "w6", "w7", "w8"), ("w1", "w3", "w8", "w9", "w5")]
    score = rouge_lsum(candidate, reference)
    assert score.recall == 4 / 5
    assert score.precision == 4 / 10


def test_lsum_counts_a_word_as_often_as_the_candidate_holds_it() -> None:
    assert rouge_lsum([("a", "b")], [("a",), ("a",), ("b", "a")]).recall == 2 / 4


def test_rouge_l_by_hand() -> None:
    score = rouge_l(["the", "cat", "sat", "on", "the", "mat"], ["the", "cat", "lay", "on", "a", "mat", "today"])
    assert score.precision == pytest.approx(4 / 6)  # the cat on mat
    assert score.recall == pytest.approx(4 / 7)
    assert score.f1 == pytest.approx(8 / 13)
