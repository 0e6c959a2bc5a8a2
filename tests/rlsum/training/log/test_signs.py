"""Signs that a reward is gamed, from histories of validations made by hand."""

import pytest

from rlsum.training.checkpoint import Progress
from rlsum.training.log.signs import History, news, signs, summary

START = {"step": 0, "reward": 0.2, "rouge-1": 0.4, "length": 50.0, "repetition": 0.05}


def run(validations, *metrics):
    return History([], validations, Progress(), metrics)


def after(step=100, **values):
    return {**START, "step": step, "reward": 0.25, **values}


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, []),
        ({"rouge-1": 0.391}, ["rouge-1"]),
        ({"rouge-1": 0.393}, []),
        ({"rouge-1": 0.5}, []),
        ({"length": 55.5}, ["length"]),
        ({"length": 44.5}, ["length"]),
        ({"length": 54.0}, []),
        ({"repetition": 0.061}, ["repetition"]),
        ({"repetition": 0.059}, []),
        ({"repetition": 0.0}, []),
        ({"rouge-1": 0.1, "length": 90.0, "repetition": 0.4}, ["rouge-1", "length", "repetition"]),
        ({"rouge-1": None, "length": None, "repetition": None}, []),
        ({"rouge-1": 0.1, "length": 90.0, "reward": 0.2}, []),  # it pays for nothing
        ({"rouge-1": 0.1, "length": 90.0, "reward": 0.1}, []),
        ({"rouge-1": 0.1, "length": 90.0, "reward": None}, []),
    ],
)
def test_what_moves_with_the_reward_is_a_sign(values, names):
    found = signs(START, after(**values), ["rouge-1"])
    assert [sign.name for sign in found] == names


def test_a_sentence_has_both_numbers_of_both_sides():
    (sign,) = signs(START, after(length=60.0), ["rouge-1"])
    assert sign.size == pytest.approx(2.0)
    for number in ("0.2", "0.25", "50", "60", "length"):
        assert number in sign.sentence


def test_a_metric_that_is_trained_on_is_no_sign_and_negative_or_zero_starts_are():
    assert signs(START, after(**{"rouge-1": 0.1}), []) == []
    start = {"reward": -0.2, "bleu": 0.0, "meteor": 0.0, "loss": -1.0}
    now = {"reward": -0.1, "bleu": 0.0, "meteor": -0.1, "loss": -1.5}
    assert [sign.name for sign in signs(start, now, ["bleu", "meteor", "loss"])] == ["meteor", "loss"]


def test_each_sign_is_said_once_and_again_when_it_is_twice_as_large():
    history, said = [START], []
    for step, length in enumerate([51.0, 56.0, 57.0, 50.0, 61.0, 63.0, 74.0, 76.0]):
        history.append(after(step + 1, length=length))
        said.append(len(news(run(history))))
    #   moved by .02, .12, .14, 0, .22, .26, .48, .52: said at .12, .26 and .52
    assert said == [0, 1, 0, 0, 0, 1, 0, 1]
    assert news(run(history[:1])) == news(run([])) == []


def test_the_end_has_every_sign_where_it_was_largest():
    history = [START, after(1, length=56.0), after(2, length=70.0, repetition=0.1), after(3, length=60.0)]
    lines = summary(run(history, "rouge-1"))
    assert len(lines) == 2
    assert all("after 2 updates" in line for line in lines)
    assert "70" in lines[0]
    assert "repetition" in lines[1]
    assert summary(run(history[:1], "rouge-1")) == summary(run([])) == []
