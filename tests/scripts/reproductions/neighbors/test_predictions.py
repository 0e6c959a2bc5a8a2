import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproductions.neighbors.kernels import similarities
from reproductions.neighbors.predictions import Thresholds, bootstrap_mean, mean_score, predict, quality
from reproductions.neighbors.tasks import JudgedTexts, NeighborTask

import rewards

texts = st.lists(st.sampled_from(["the", "fox", "is", "quick", "quickly", "dog", "ran"]), max_size=7).map(" ".join)
pairs = st.lists(st.tuples(texts, st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=9)


def texts_of(found, name="t"):
    names = tuple(map(str, range(len(found))))
    scores = np.array([score for _, score in found], dtype=np.float64)
    return JudgedTexts(name, tuple(text for text, _ in found), scores, names, np.empty((len(found), 0)))


HAND = np.array([[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]])  # two texts, three examples of .0, .5 and 1


def by_hand():
    examples = texts_of([("x", 0.0), ("y", 0.5), ("z", 1.0)], "examples")
    return NeighborTask("hand", texts_of([("p", 0.5), ("q", 0.25)]), examples)


def test_a_prediction_is_the_mean_score_of_the_neighbours():
    task = by_hand()
    assert predict(HAND, task, Thresholds(0.3, a=1, b=1)).tolist() == [0.25, 0.75]
    assert predict(HAND, task, Thresholds(0.4, a=2, b=1)) == pytest.approx([0.25, np.nan], nan_ok=True)
    assert predict(HAND, task, Thresholds(0.1, a=1, b=0.67)) == pytest.approx([np.nan, np.nan], nan_ok=True)
    assert predict(HAND, task, Thresholds(0.5, a=1, b=0.67)) == pytest.approx([0.25, np.nan], nan_ok=True)


def test_an_undefined_kernel_is_no_neighbour():
    similar = np.array([[np.nan, 0.5, 0.5], [np.nan, np.nan, np.nan]])
    assert predict(similar, by_hand(), Thresholds(0.1, a=1, b=1)) == pytest.approx([0.75, np.nan], nan_ok=True)


def test_figures_by_hand():
    task = by_hand()
    found = quality(np.array([0.25, np.nan]), task)
    assert found.error.value == 0.0625
    assert mean_score(task).tolist() == [0.5, 0.5]
    assert found.baseline.value == 0.0  # the covered text alone: .5 is what it got
    assert found.gain.value == -0.0625
    assert found.coverage.value == 0.5
    assert found.n == 1
    assert found.correlation.reason == "only one row has both scores; at least two are needed"


@pytest.mark.parametrize("kernel", ["bleu-star(zero_order=stop)", "bleu-star(zero_order=zero)", "rouge-l", "meteor"])
@pytest.mark.parametrize("own", [True, False])
@settings(deadline=None, max_examples=25)
@given(pairs, pairs, st.sampled_from([0.06, 0.4]), st.integers(1, 3), st.sampled_from([0.3, 0.66, 1.0]))
def test_equals_the_reward(kernel, own, judged, tested, tau, a, b):
    """The same numbers from a matrix made once as from the reward that looks up each text."""
    examples = texts_of(judged)
    task = NeighborTask("t", examples if own else texts_of(tested), examples)
    reward = rewards.load("bleu-neighbors", examples=judged, kernel=kernel, tau=tau, a=a, b=b, leave_one_out=own)
    similar = similarities(rewards.from_spec(kernel), task.tested.texts, examples.texts)
    found = predict(similar, task, Thresholds(tau, a, b))
    assert found == pytest.approx(reward(task.tested.texts), nan_ok=True, abs=1e-11)


def test_intervals_draw_whole_inputs():
    values = np.repeat([0.0, 1.0] * 10, 5)
    apart = bootstrap_mean(values, tuple(map(str, range(100))))
    shared = bootstrap_mean(values, tuple(str(place // 5) for place in range(100)))
    assert apart.value == shared.value == 0.5
    assert shared.high - shared.low > 1.8 * (apart.high - apart.low)  # 20 inputs of 5 like rows, not 100 rows
    assert np.isnan(bootstrap_mean(np.full(3, np.nan), ("1", "2", "3")).value)
    assert np.isnan(bootstrap_mean(np.array([1.0, 2.0]), ("1", "1")).low)  # one input says nothing about spread
