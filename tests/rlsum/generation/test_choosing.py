"""Choosing among samples: hand-made rewards against brute force, undefined scores, and what is refused."""

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st

import rewards
from rewards.scoring import Inputs, signature
from rlsum.errors import UserError
from rlsum.generation.choosing import SampleChoice, agreement, best, best_of
from rlsum.generation.options import Generating, choice_of
from rlsum.records import Output, inputs_of

NAN, INF = float("nan"), float("inf")


class Recorded(rewards.BaseReward):
    """A reward by a table of letters, NaN for "x" on either side, that records its calls."""

    name = "recorded"

    def __init__(self):
        self.calls: list[Inputs] = []

    @property
    def signature(self):
        return signature(self.name)

    def scores(self, inputs):
        self.calls.append(inputs)
        references = inputs.references or [[""]] * len(inputs.candidates)
        rows = zip(inputs.candidates, references, inputs.sources, strict=True)
        return np.array([self.one(text, listed[0], source) for text, listed, source in rows])

    def reason(self, item):
        listed = item.references or [""]
        return "it is an x" if np.isnan(self.one(item.candidate, listed[0], item.source)) else None

    @staticmethod
    def one(text, reference, source):
        """Not symmetric, and another one for each source."""
        return (
            NAN
            if "x" in text + reference
            else float(ord(text[0]) * 7 % 5 + ord(reference[:1] or "a") * 3 % 4 + len(source))
        )


def outputs(articles, source=lambda number: "s" * number):
    return [
        Output(str(number), source(number), ("a human text",), text, "s")
        for number, texts in enumerate(articles)
        for text in texts
    ]


def inputs(articles):
    rows = outputs(articles)
    return Inputs([row.candidate for row in rows], [row.references for row in rows], [row.source for row in rows])


samples = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from("abcx"), min_size=n, max_size=n), min_size=1, max_size=3)
)


def test_the_highest_score_wins_the_first_of_equal_ones_and_never_nan():
    scores = [[0, 2, 1], [2, 2, 1], [NAN, -1, -2], [NAN, -INF, NAN], [NAN, NAN, NAN], [1, INF, INF]]
    assert best(np.array(scores)).tolist() == [1, 0, 1, 1, 0, 1]
    assert best(np.empty((0, 3))).tolist() == []


@given(samples)
def test_best_of_n_equals_brute_force_in_one_call_that_sees_no_reference(articles):
    reward, n = Recorded(), len(articles[0])
    expected = [[reward.one(text, "", "s" * i) for text in texts] for i, texts in enumerate(articles)]
    np.testing.assert_array_equal(best_of(reward, inputs(articles), n), expected)
    (call,) = reward.calls
    assert call.references is None
    assert len(call.candidates) == sum(len(set(texts)) for texts in articles), "equal samples are scored once"


@given(samples)
def test_minimum_bayes_risk_equals_brute_force_in_a_call_an_article(articles):
    reward, n = Recorded(), len(articles[0])
    for i, (texts, row) in enumerate(zip(articles, agreement(reward, inputs(articles), n), strict=True)):
        for j, text in enumerate(texts):
            pairs = [reward.one(text, other, "s" * i) for k, other in enumerate(texts) if k != j]
            known = [score for score in pairs if score == score]
            np.testing.assert_allclose(row[j], np.mean(known) if known else NAN)
    assert len(reward.calls) == len(articles)
    for call in reward.calls:
        pairs = list(zip(call.candidates, [texts[0] for texts in call.references], strict=True))
        assert len(set(pairs)) == len(pairs), "equal pairs are scored once"


def test_samples_that_are_all_equal_score_as_often_as_one_pair():
    reward = Recorded()
    agreement(reward, inputs([["a"] * 9]), 9)
    assert [len(call.candidates) for call in reward.calls] == [1]


@pytest.mark.parametrize("rule", ["best-of", "mbr"])
def test_without_a_score_the_first_sample_is_chosen_and_the_reason_known(rule):
    rows = outputs([["xa", "xb"], ["b", "a"]])
    chosen, reasons = SampleChoice(rule, Recorded(), 2).choose(rows)
    assert [output.candidate for output in chosen] == ["xa", "a"]
    assert [output.id for output in chosen] == ["0", "1"]
    assert reasons == {"0": "it is an x"}


def test_the_sample_closest_to_the_others_is_chosen():
    texts = ["a dog barks", "the cat sat down", "the cat sat", "the cat lay down"]
    (chosen,), reasons = SampleChoice("mbr", rewards.load("rouge-l"), 4).choose(outputs([texts]))
    assert chosen.candidate == "the cat sat down"
    assert reasons == {}


def test_the_key_tells_choices_apart():
    keys = [
        SampleChoice(rule, rewards.load("repetition", n=n), count).key()
        for rule, n, count in (("best-of", 2, 4), ("mbr", 2, 4), ("best-of", 3, 4), ("best-of", 2, 5))
    ]
    assert all(keys.count(key) == 1 for key in keys)


@pytest.mark.parametrize("reward", [rewards.load("rouge-l"), tiny.Overlap()], ids=["of this package", "function"])
def test_a_reward_that_needs_references_is_refused_for_best_of_n(reward):
    with pytest.raises(UserError, match=rf"by='{reward.name}': cannot score without .* mbr='{reward.name}' samples=4"):
        SampleChoice("best-of", reward, 4).check("an article", {})
    SampleChoice("mbr", reward, 4).check("an article", {})
    SampleChoice("best-of", rewards.load("repetition"), 4).check("an article", {})


def test_a_reward_whose_scores_depend_on_the_batch_is_refused():
    for rule in ("best-of", "mbr"):
        with pytest.raises(rewards.RewardError, match="depend on the batch"):
            SampleChoice(rule, rewards.load("source_rewards:Ranked"), 4).check("an article", {})


def test_samples_of_a_model_that_answers_a_prompt_are_chosen_by_their_answers():
    how = Generating(mbr="rouge-1", samples=3)
    texts = ["Sure! Here is a summary: a b", "Sure! Here is a summary: x y", "**a b**"]
    outputs = [Output("1", "", (), text, "s") for text in texts]
    assert choice_of(how).choose(outputs)[0][0].candidate == texts[0]  # which shares its preamble with the second
    assert choice_of(how, clean=True).scores(inputs_of(outputs)).tolist() == [[0.5, 0.0, 0.5]]
