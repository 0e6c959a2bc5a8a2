from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.text import chunks
from rewards.text import sentences as text


def test_tokens_keep_case_and_drop_spaces() -> None:
    assert chunks.tokens("Mr. Smith  didn't\ngo.") == ["Mr.", "Smith", "did", "n't", "go", "."]


RUN = st.integers(1, 4) | st.sampled_from([chunks.NEAR - 1, chunks.NEAR, chunks.NEAR + 1, 150])

# Special cases of spaCy and what they are made of, marks, and white space of several kinds.
PIECES = "it's Inc. :) :)) ._. a.m. x-Inc. x:D don't 's D ... The cat 7 km \u00e9t\u00e9 \U0001f600"
MARKS = '()._:"-!?\u3002 \n\t\u00a0\u3000'


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from([*PIECES.split(), *MARKS]) | st.text(max_size=4), max_size=14).map("".join))
def test_remembered_chunks_change_nothing(content: str) -> None:
    """``located_words`` asks spaCy for the whole text."""
    assert chunks.tokens(content) == tokens_of_spacy(content)
    splits: tuple[text.Split, ...] = ("auto", "lines", "spacy")
    for split in splits:
        _, found = text.located_words(content, "spacy", split)
        assert text.content_words(content, "spacy", split) == tuple(sentence.words for sentence in found)


@settings(deadline=None, max_examples=300)
@given(st.text("abcdeghiklmnorstuwyABCDGIKMPSTU", min_size=1, max_size=7) | st.from_regex(chunks.PLAIN, fullmatch=True))
def test_plain_letters_are_one_token_unless_a_special_case(word: str) -> None:
    assert chunks.tokens(word) == tokens_of_spacy(word)


MIXED = ["12", "7", "8", "gonna", "Inc", "cannot", "it", "km", "well", "U", "PM", "D", "dont", "vs", "e", "g", "em"]
BEFORE = ["", *"\"'(\u2018\u201c"]
AFTER = ["", *",;:!?)\"'.\u2019\u201d", "'s", "'S", "\u2019s", ".)"]


@settings(deadline=None, max_examples=500)
@given(st.sampled_from(BEFORE), st.lists(st.sampled_from(MIXED), min_size=1, max_size=4), st.sampled_from(AFTER))
def test_hyphens_and_marks_cut_and_special_cases_between_them_are_found(before, parts, after):
    chunk = before + "-".join(parts) + after
    assert chunks.tokens(chunk) == tokens_of_spacy(chunk)


@pytest.mark.parametrize(
    ("chunk", "tokens"), {"8-D-printed": ["8-D", "-", "printed"], "Inc.": ["Inc."], "(it's": ["(", "it", "'s"]}.items()
)
def test_special_cases_among_plain_parts(chunk: str, tokens: list[str]) -> None:
    assert chunks.tokens(chunk) == tokens_of_spacy(chunk) == tokens


def test_most_chunks_of_plain_english_are_cut_without_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(chunks, "cut")
    found = chunks.tokens("\"Zebras! (said) the mayor's 12-year-old zookeeper: \"70, zoologists' zoos.")
    assert (
        " ".join(found) == "\" Zebras ! ( said ) the mayor 's 12 - year - old zookeeper : \" 70 , zoologists ' zoos ."
    )


def test_a_special_case_over_white_space_hides_another() -> None:
    # In "x-Inc." alone spaCy finds the special case "Inc."; here "._." takes its full stop, and then is none.
    content = "x-Inc. _ ."
    assert "Inc." in chunks.tokens("x-Inc.")
    assert chunks.tokens(content) == tokens_of_spacy(content) == ["x", "-", "Inc", ".", "_", "."]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.sampled_from([*"[('\".,$…+-!a1°", "a.b", "'s", "...-", "http://a.b/"]), RUN), max_size=5))
def test_long_runs_of_marks_are_split_as_by_spacy(runs: list[tuple[str, int]]) -> None:
    chunk = "".join(piece * times for piece, times in runs)
    assert chunks.tokens(chunk) == tokens_of_spacy(chunk)


@pytest.mark.parametrize("piece", ["[", "'", "$", "!?", "...-", "http://a."])
def test_long_chunks_of_marks_take_no_time(piece: str) -> None:
    begun = time.process_time()
    chunks.tokens((piece * 20_000)[:20_000])
    assert time.process_time() - begun < 10  # spaCy: minutes


@lru_cache(maxsize=1)
def spacys_own() -> Callable[[str], Iterable[Any]]:
    import spacy

    return spacy.blank("en").tokenizer


def tokens_of_spacy(content: str) -> list[str]:
    return [token.text for token in spacys_own()(chunks.encodable(content)) if not token.is_space]
