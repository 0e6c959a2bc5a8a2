import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsum.evaluation.trained.equal_length import at_equal_length, closeness, influence
from rlsum.evaluation.trained.hierarchical import compare_systems


def test_a_line_worked_by_hand():
    # Score differences 1, 2, 3, 4 at length differences -1, 0, 1, 2: the line is d = 2 + l, whatever the weights.
    scores, lengths = np.array([[1.0, 2, 3, 4]]), np.array([[-1.0, 0, 1, 2]])
    for weights in (np.ones((1, 4)), np.array([[1.0, 0.5, 0.2, 0]])):
        values, slope = influence(scores, lengths, weights)
        assert (values.mean(), slope) == pytest.approx((2, 1))
    assert closeness(np.array([[0.0, 1, -1, 4, -4]])) == pytest.approx(np.array([[1, 1 - 5 / 34, 1 - 5 / 34, 0, 0]]))


def test_the_value_and_its_error_are_those_of_weighted_least_squares():
    generator = np.random.default_rng(0)
    lengths = generator.normal(1.5, 3, 400)
    scores = 0.3 + 0.1 * lengths + generator.normal(0, 1, 400)
    found = at_equal_length(scores, np.zeros(400), lengths, np.zeros(400))
    weights = closeness(lengths[None])[0]
    design = np.stack([np.ones(400), lengths], axis=1)
    inverse = np.linalg.inv(design.T * weights @ design)
    beta = inverse @ (design.T * weights) @ scores
    residual = scores - design @ beta  # heteroscedastic standard error (White 1980)
    error = np.sqrt((inverse @ (design.T * (weights * residual) ** 2) @ design @ inverse)[0, 0])
    assert (found.adjusted.mean, found.slope) == pytest.approx(beta)
    assert float(found.adjusted.components.error) == pytest.approx(error, rel=0.01)


def test_slopes_are_within_seeds():
    # Each seed: no effect of length; but the seed with longer texts scores higher. The slope must be 0.
    lengths = np.array([[-1.0, 0, 1, 0], [9, 10, 11, 10]])
    scores = np.array([[0.0, 0, 0, 0], [5, 5, 5, 5]])
    values, slope = influence(scores, lengths, np.ones((2, 4)))
    assert slope == 0
    assert values.mean() == 2.5


@given(st.integers(1, 3), st.integers(0, 10_000), st.floats(-2, 2))
def test_a_gain_by_length_alone_vanishes_and_a_constant_stays(seeds, seed, constant):
    generator = np.random.default_rng(seed)
    lengths_a, lengths_b = generator.normal(2, 5, (seeds, 200)), generator.normal(0, 5, (seeds, 200))
    found = at_equal_length(0.7 * lengths_a + constant, 0.7 * lengths_b, lengths_a, lengths_b)
    assert found.adjusted.mean == pytest.approx(constant, abs=1e-9)
    mirrored = at_equal_length(0.7 * lengths_b, 0.7 * lengths_a + constant, lengths_b, lengths_a)
    assert mirrored.adjusted.mean == pytest.approx(-constant, abs=1e-9)


def test_a_cap_leaves_no_gain_by_length():
    generator = np.random.default_rng(0)
    lengths_a, lengths_b = (np.round(generator.normal(mean, 10, (3, 2000))) for mean in (75, 55))
    cap = at_equal_length(np.minimum(lengths_a, 60), np.minimum(lengths_b, 60), lengths_a, lengths_b)
    line, _ = influence(cap_difference := np.minimum(lengths_a, 60) - np.minimum(lengths_b, 60), lengths_a - lengths_b,
                        np.ones(cap_difference.shape))  # fmt: skip
    assert abs(line.mean()) > 1
    assert abs(cap.adjusted.mean) < 0.15


def test_few_pairs_of_about_equal_length_allow_no_number():
    generator = np.random.default_rng(0)
    lengths = np.where(np.arange(60) % 2, 50.0, -50.0)  # never about equal
    lengths[:10] = generator.normal(0, 1, 10)
    found = at_equal_length(generator.normal(0, 1, 60), np.zeros(60), lengths + 100, np.full(60, 100.0))
    assert np.isnan(found.adjusted.mean)
    assert found.reason == "fewer than 30 pairs are about equally long"


def test_nothing_is_extrapolated():
    generator = np.random.default_rng(0)
    lengths = generator.uniform(5, 15, 100)
    found = at_equal_length(lengths, np.zeros(100), lengths + 30, np.full(100, 30.0))
    assert np.isnan(found.adjusted.mean)
    assert found.raw.mean == pytest.approx(lengths.mean())
    assert "100%" in found.reason


def test_equal_lengths_leave_the_difference():
    scores = np.random.default_rng(0).normal(0.3, 1, (2, 50))
    lengths = np.full((2, 50), 20.0)
    found = at_equal_length(scores, np.zeros((1, 50)), lengths, lengths)
    assert found.adjusted.p == pytest.approx(found.raw.p)
    assert found.raw.p == compare_systems(scores, np.zeros((1, 50))).p
    shifted = at_equal_length(scores, np.zeros((1, 50)), lengths + 2, lengths)
    assert np.isnan(shifted.adjusted.mean)
    assert shifted.reason


def test_undefined_scores_are_left_out_with_their_lengths():
    generator = np.random.default_rng(0)
    scores, lengths = generator.normal(0, 1, 101), generator.normal(0, 3, 101)
    scores[1], lengths[1] = np.nan, 1000
    found = at_equal_length(scores, np.zeros(101), lengths, np.zeros(101))
    kept = np.delete(scores, 1), np.zeros(100), np.delete(lengths, 1), np.zeros(100)
    assert found.adjusted.mean == pytest.approx(at_equal_length(*kept).adjusted.mean)
    assert at_equal_length([1.0], [0.0], [1.0], [2.0]).reason


def test_lengths_of_other_texts_are_refused():
    with pytest.raises(ValueError, match="same texts"):
        at_equal_length(np.zeros((2, 5)), np.zeros((2, 5)), np.zeros(5), np.zeros(5))
