from __future__ import annotations

import numpy as np
import pytest

import rewards

TEXTS = ["the cat sleeps", "a red house falls", "mayor", "the storm and the river", ""]
REFERENCES = [["the cat runs"], ["the red house falls"], ["a mayor runs"], ["the river"], ["a cat"]]


def test_weighted_is_the_weighted_sum() -> None:
    reward = rewards.from_spec("weighted(rouge-l=0.7, rouge-1(direction=recall)=-2)")
    parts = rewards.load("rouge-l"), rewards.load("rouge-1", direction="recall")
    expected = 0.7 * parts[0](TEXTS, REFERENCES) - 2 * parts[1](TEXTS, REFERENCES)
    np.testing.assert_allclose(reward(TEXTS, REFERENCES), expected)
    assert all(part.signature in reward.signature for part in parts)


def test_weighted_in_every_form_is_the_same() -> None:
    forms = [
        rewards.from_spec("weighted(rouge-l=0.7, rouge-1=0.3)"),
        rewards.from_spec({"name": "weighted", "rouge-l": 0.7, "rouge-1": "0.3"}),
        rewards.from_spec({"name": "weighted", "parts": [["rouge-l", 0.7], [{"name": "rouge-1"}, 0.3]]}),
        rewards.load("weighted", parts=[(rewards.load("rouge-l"), 0.7), ("rouge-1", 0.3)]),
        rewards.load("weighted", **{"rouge-l": 0.7, "rouge-1": 0.3}),
    ]
    assert len({reward.signature for reward in forms}) == 1


def test_weighted_is_undefined_where_a_part_is() -> None:
    reward = rewards.from_spec("weighted(rouge-l=1, rouge-2=1)")
    assert np.isnan(reward(["cat"], [["cat"]])[0])
    assert reward.undefined("cat", ["cat"]) == "its reference has fewer than 2 tokens (rouge-2)"
    assert reward.undefined("cat", ["cat dog"]) is None


@pytest.mark.parametrize(
    ("spec", "part"),
    [("weighted(rouge-l=0)", "is 0"), ("weighted(rouge-l=nan)", "finite"), ("weighted(rouge-l=x)", "finite number")],
)
def test_wrong_weights(spec: str, part: str) -> None:
    with pytest.raises(rewards.RewardError, match=part):
        rewards.check_spec(spec)


def test_sums_nest() -> None:
    reward = rewards.from_spec("weighted(weighted(rouge-l=1, rouge-1=1)=0.5, rouge-2=1)")
    parts = [rewards.load(name)(TEXTS[:2], REFERENCES[:2]) for name in ("rouge-l", "rouge-1", "rouge-2")]
    np.testing.assert_allclose(reward(TEXTS[:2], REFERENCES[:2]), 0.5 * (parts[0] + parts[1]) + parts[2])


def test_shuffled_permutes_and_nobody_keeps_its_own() -> None:
    inner = rewards.load("rouge-l")(TEXTS, REFERENCES)
    assert len(set(inner)) == len(TEXTS)
    orders = set()
    for seed in range(20):
        found = rewards.load("shuffled", reward="rouge-l", seed=seed)(TEXTS, REFERENCES)
        assert sorted(found) == sorted(inner)
        assert (found != inner).all()
        orders.add(tuple(found))
    assert len(orders) > 5


def test_shuffled_repeats_itself_and_depends_on_the_texts() -> None:
    first, second = (rewards.from_spec("shuffled(reward=rouge-l, seed=3)") for _ in range(2))
    np.testing.assert_array_equal(first(TEXTS, REFERENCES), first(TEXTS, REFERENCES))
    np.testing.assert_array_equal(first(TEXTS, REFERENCES), second(TEXTS, REFERENCES))
    many = [f"{text} {place}" for place in range(8) for text in TEXTS]
    assert first.signature != rewards.load("shuffled", reward="rouge-l", seed=4).signature
    others = [f"{text} ." for text in many]  # the same scores, other texts: another order
    references = REFERENCES * 8
    assert not np.array_equal(first(many, references), first(others, references))


def test_shuffled_alone_is_undefined() -> None:
    reward = rewards.load("shuffled", reward="rouge-l")
    assert np.isnan(reward(["cat"], [["cat"]])).all()
    assert "alone" in str(reward.undefined("cat", ["cat"]))
    assert reward([], []).shape == (0,)
