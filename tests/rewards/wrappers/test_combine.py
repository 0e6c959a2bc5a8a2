from __future__ import annotations

import numpy as np
import pytest

import rewards
from rewards.scoring import Inputs, score_components
from rewards.specs import TABLE
from rewards.wrappers.combine import Weighted

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


class Lowest(Weighted):
    """The lowest of some scores, each times its weight."""

    name = "lowest"
    example = "rouge-1=1, rouge-2=2"

    def score_components(self, inputs):
        _, components = super().score_components(inputs)
        return np.min([weight * scores for _, weight, scores in components], axis=0), components


def test_another_reward_of_rewards_with_weights_is_a_class_and_its_row(monkeypatch) -> None:
    monkeypatch.setitem(TABLE, "lowest", f"{__name__}:Lowest")
    monkeypatch.setattr("rewards.specs.WEIGHED", {"weighted", "lowest"})
    monkeypatch.setattr("rewards.base.WEIGHED", {"weighted", "lowest"})
    assert rewards.describe("lowest").written == "lowest(rouge-1=1, rouge-2=2)"
    assert (
        str(rewards.in_language("lowest(rouge-1=1, repetition=2)", "de"))
        == "lowest(rouge-1(language=de)=1, repetition=2)"
    )
    reward = rewards.load("lowest", **{"rouge-1": 1, "rouge-2": 2})
    assert reward(["the cat sleeps"], [["the cat runs"]]).tolist() == [pytest.approx(2 / 3)]
    with pytest.raises(rewards.RewardError, match="lowest needs at least one part"):
        rewards.check_spec("lowest")


def test_sums_nest() -> None:
    reward = rewards.from_spec("weighted(weighted(rouge-l=1, rouge-1=1)=0.5, rouge-2=1)")
    parts = [rewards.load(name)(TEXTS[:2], REFERENCES[:2]) for name in ("rouge-l", "rouge-1", "rouge-2")]
    np.testing.assert_allclose(reward(TEXTS[:2], REFERENCES[:2]), 0.5 * (parts[0] + parts[1]) + parts[2])


class Counting(rewards.BaseReward):
    """The length of a text, and how often it was asked."""

    name = signature = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def scores(self, inputs):
        self.calls += 1
        return np.array([float(len(text)) for text in inputs.candidates])


def test_components_have_names_weights_and_scores_and_are_scored_once() -> None:
    counting = Counting()
    reward = rewards.load("weighted", parts=[(counting, -0.5), ("rouge-l", 2.0), ("rouge-l(stemmer=false)", 1.0)])
    total, components = score_components(reward, Inputs(TEXTS, REFERENCES))
    assert counting.calls == 1
    expected = [[len(text) for text in TEXTS]]
    expected += [rewards.load("rouge-l", stemmer=stemmer)(TEXTS, REFERENCES) for stemmer in (True, False)]
    assert [component[:2] for component in components] == [("counting", -0.5), ("rouge-l 2", 2.0), ("rouge-l 3", 1.0)]
    np.testing.assert_array_equal([component.scores for component in components], expected)
    np.testing.assert_allclose(total, sum(weight * scores for _, weight, scores in components))
    np.testing.assert_array_equal(total, reward(TEXTS, REFERENCES))
    with pytest.raises(rewards.RewardError, match="not text"):
        score_components(reward, Inputs([None], [["a"]]))


@pytest.mark.parametrize("spec", ["rouge-l", "cached(reward=weighted(rouge-l=1))"])
def test_a_reward_that_shows_no_sum_has_no_components(spec: str) -> None:
    scores, components = score_components(rewards.from_spec(spec), Inputs(TEXTS, REFERENCES))
    np.testing.assert_array_equal(scores, rewards.load("rouge-l")(TEXTS, REFERENCES))
    assert components == []
