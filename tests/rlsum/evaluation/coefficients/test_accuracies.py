from __future__ import annotations

from itertools import combinations, groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlsum.evaluation.coefficients.spa import soft_pairwise_accuracy
from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.statistics import Uncertainty

NONE = Uncertainty(resamples=0)
NAN = float("nan")


def tie_calibrated(human, metric, inputs=None):
    level = "pooled" if inputs is None else "input"
    return correlate(human, metric, statistic="acc-t", level=level, inputs=inputs, how=NONE)


def test_tie_calibration_by_hand():
    # Pair (1, 2): people tie, the metric sees .1. Pairs (1, 3), (2, 3): people differ, the metric sees 1 and .9, and is
    # right. At epsilon 0 two of three are right; at .1 all are.
    found = tie_calibrated([1, 1, 2], [0.5, 0.6, 1.5])
    assert found.value == 1
    assert found.epsilon == pytest.approx(0.1)


def test_every_input_counts_alike_and_epsilon_is_one_for_all():
    # Input a: one pair, a tie of people that the metric sets 1 apart. Input b: three pairs, all right, two of them 1
    # apart. Epsilon 0: (0 + 1) / 2. Epsilon 1: (1 + 1/3) / 2, the greater.
    found = tie_calibrated([0, 0, 1, 2, 3], [0, 1, 1, 2, 3], ["a", "a", "b", "b", "b"])
    assert found.value == pytest.approx(2 / 3)
    assert found.epsilon == 1


def test_undefined_scores_leave_their_pairs_out():
    found = tie_calibrated([1, 2, NAN, 3], [1, 2, 3, NAN], ["a", "a", "a", "b"])
    assert (found.value, found.epsilon, found.over) == (1.0, 0.0, 1)
    nothing = tie_calibrated([1, 2], [1, 2], ["a", "b"])
    assert np.isnan([nothing.value, nothing.epsilon]).all()


def brute_force(rows) -> float:
    """The definition: try every gap, call nearer pairs ties, average the inputs' shares of right pairs."""
    by_input = [list(group) for _, group in groupby(sorted(rows), key=lambda row: row[0])]
    pairs = [list(combinations(group, 2)) for group in by_input if len(group) > 1]
    gaps = {0.0, *(abs(x[2] - y[2]) for group in pairs for x, y in group)}

    def accuracy(epsilon: float) -> float:
        shares = []
        for group in pairs:
            right = 0
            for (_, h1, m1), (_, h2, m2) in group:
                called = 0 if abs(m1 - m2) <= epsilon else np.sign(m1 - m2)
                right += called == np.sign(h1 - h2)
            shares.append(right / len(group))
        return float(np.mean(shares))

    return max(accuracy(epsilon) for epsilon in gaps) if pairs else NAN


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=14))
def test_tie_calibration_is_the_best_of_all_thresholds(rows):
    inputs, human, metric = zip(*rows, strict=True)
    found = tie_calibrated(human, metric, inputs)
    assert found.value == pytest.approx(brute_force(rows), nan_ok=True)
    pooled = tie_calibrated(human, metric)
    assert pooled.value == pytest.approx(brute_force([(0, *row[1:]) for row in rows]), nan_ok=True)


def test_accuracy_of_systems_is_that_of_their_means():
    human, metric = [1, 2, 3, 4], [1, 2, 4, 3]
    found = correlate(human, metric, statistic="acc-t", level="system", systems="abcd", how=NONE)
    assert found.value == pytest.approx(5 / 6)


def test_soft_accuracy_is_one_for_people_themselves_and_takes_no_notice_of_scale():
    generator = np.random.default_rng(0)
    human = generator.normal(size=60)
    inputs, systems = np.repeat(np.arange(20), 3), np.tile(["a", "b", "c"], 20)
    assert soft_pairwise_accuracy(human, human, inputs, systems) == 1
    assert soft_pairwise_accuracy(human, 5 * human - 3, inputs, systems) == pytest.approx(1)


def test_soft_accuracy_by_hand():
    # One pair of systems on two inputs. People: differences 1 and 1; of the four sign patterns one reaches 2, namely
    # the observed, which counts half: p = 1/8. The metric sees 1 and -1: half of the patterns give 0, a quarter more,
    # so p = 1/2. SPA = 1 - 3/8.
    human, metric = [1, 0, 1, 0], [1, 0, 0, 1]
    found = soft_pairwise_accuracy(human, metric, [1, 1, 2, 2], ["a", "b", "a", "b"], permutations=20_000)
    assert found == pytest.approx(5 / 8, abs=0.01)


def test_soft_accuracy_does_not_depend_on_how_systems_are_named():
    generator = np.random.default_rng(1)
    human, metric = generator.normal(size=(2, 80))
    inputs, systems = np.repeat(np.arange(20), 4), np.tile(["a", "b", "c", "d"], 20)
    renamed = np.tile(["z", "b", "k", "a"], 20)
    straight = soft_pairwise_accuracy(human, metric, inputs, systems)
    assert soft_pairwise_accuracy(human, metric, inputs, renamed) == pytest.approx(straight, abs=1e-9)


def test_permutations_of_soft_accuracy_are_near_their_limit():
    generator = np.random.default_rng(2)
    human, metric = generator.normal(size=(2, 200)) + np.tile([0, 0.1, 0.2, 0.3], 50)
    inputs, systems = np.repeat(np.arange(50), 4), np.tile(["a", "b", "c", "d"], 50)
    found = correlate(human, metric, statistic="spa", level="system", inputs=inputs, systems=systems)
    assert found.low < found.value < found.high
    exact = soft_pairwise_accuracy(human, metric, inputs, systems, permutations=20_000)
    assert found.value == pytest.approx(exact, abs=0.02)


def test_systems_without_a_common_input_are_not_compared():
    assert np.isnan(soft_pairwise_accuracy([1, 2], [1, 2], ["x", "y"], ["a", "b"]))
    found = correlate([1, 2], [1, 2], statistic="spa", level="system", inputs=["x", "y"], systems=["a", "b"])
    assert "no two systems share an input" in found.reason
