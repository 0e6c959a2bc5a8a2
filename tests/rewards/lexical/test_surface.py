from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewards
from rewards.lexical.surface import within
from rlsum.scoring import properties


def words(count: int) -> str:
    return " ".join(["word"] * count)


def test_length_by_hand() -> None:
    reward = rewards.load("length", low=4, high=8)
    texts = [words(count) for count in (0, 1, 3, 4, 8, 10, 12, 16, 30)]
    np.testing.assert_allclose(reward(texts), [0, 0.25, 0.75, 1, 1, 0.75, 0.5, 0, 0])


def test_length_in_lengths_of_the_reference() -> None:
    reward = rewards.load("length", low=0.5, high=1, unit="reference")
    texts = [words(1), words(2), words(4), words(6), words(6), "", "a", "a"]
    references = [[words(4)]] * 4 + [[words(4), words(5), ""], ["a"], [" "], []]
    np.testing.assert_allclose(reward(texts, references), [0.5, 1, 1, 0.5, 0.8, 0, np.nan, np.nan])
    assert reward.undefined("a", [" "]) == "its reference is empty"
    assert reward.undefined("a", []) == "it has no reference"
    with pytest.raises(rewards.RewardError, match="references"):
        reward(texts)


@given(st.floats(0, 50), st.floats(0.5, 50), st.floats(0, 200))
def test_length_is_monotone_towards_its_range(low: float, width: float, length: float) -> None:
    high = low + width
    score = within(length, low, high)
    assert 0 <= score <= 1
    assert (score == 1) == (low <= length <= high)
    nearer = (length + (low + high) / 2) / 2
    assert within(nearer, low, high) >= score


@pytest.mark.parametrize("options", ["", "low=0", "low=-1, high=3", "low=4, high=3", "high=0"])
def test_length_limits_that_make_no_sense(options: str) -> None:
    with pytest.raises(rewards.RewardError, match="length: "):
        rewards.from_spec(f"length({options})")


def test_repetition_by_hand() -> None:
    reward = rewards.load("repetition", n=2)
    # a b, b a, a b, b c: one of four said before
    np.testing.assert_allclose(reward(["a b A b c", "a b c d", "a", "", "a a a a"]), [0.75, 1, 1, 0, 1 / 3])


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20).map(" ".join))
def test_repetition_is_the_property_that_validation_logs(text: str) -> None:
    assert rewards.load("repetition")([text])[0] == pytest.approx(1 - properties.repetition(text, ""))


def test_shaping_turns_the_order_of_two_texts() -> None:
    """Repeating the reference gains ROUGE recall; with shaping beside it, it loses."""
    reference = "the cat runs home"
    given = ["the cat sleeps", " ".join([reference] * 3)], [[reference]] * 2
    recall, shaping = "rouge-1(direction=recall)", "length(low=0.5, high=1.5, unit=reference)=0.5, repetition=0.5"
    plain, shaped = (rewards.from_spec(spec)(*given) for spec in (recall, f"weighted({recall}=1, {shaping})"))
    assert plain[1] > plain[0]
    assert shaped[1] < shaped[0]


@pytest.mark.parametrize("spec", ["repetition", "length(high=9)", "rouge-1", "rouge-3", "bleu", "bleu-star", "meteor"])
@pytest.mark.parametrize("distinct", [1, 3_000])
def test_time_grows_with_the_length_and_not_with_its_square(spec, distinct):
    reward = rewards.from_spec(spec)

    def seconds(words):
        text = [f"w{n % distinct}" for n in range(words)]
        candidate, reference = " ".join(text), " ".join(reversed(text))
        started = time.process_time()
        reward([candidate], [[reference]])
        return time.process_time() - started

    seconds(16_000)  # words are stemmed once
    # 16 times the words: a square would take 256 times as long.
    assert min(seconds(16_000) for _ in range(2)) < 90 * max(min(seconds(1_000) for _ in range(3)), 1e-4)
