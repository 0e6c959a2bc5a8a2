from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsum.evaluation.trained.equal_length import at_equal_length, influence
from rlsum.evaluation.trained.hierarchical import compare_systems


def test_a_line_worked_by_hand():
    # Score differences 1, 2, 3, 4 at length differences -1, 0, 1, 2: the line is d = 2 + l.
    found = at_equal_length([1.0, 2, 3, 4], [0] * 4, [4.0, 5, 6, 7], [5] * 4)
    assert (found.raw.mean, found.length, found.slope) == (2.5, 0.5, 1)
    assert found.adjusted.mean == pytest.approx(2)
    assert (found.shorter, found.longer) == (0.5, 0.75)
    assert found.reason == ""


def test_the_value_and_its_error_are_those_of_least_squares():
    generator = np.random.default_rng(0)
    lengths = generator.normal(1.5, 3, 400)
    scores = 0.3 + 0.1 * lengths + generator.normal(0, 1, 400)
    found = at_equal_length(scores, np.zeros(400), lengths, np.zeros(400))
    design = np.stack([np.ones(400), lengths], axis=1)
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ scores
    error = (scores - design @ beta).std(ddof=2) * np.sqrt(inverse[0, 0])
    assert (found.adjusted.mean, found.slope) == pytest.approx(beta)
    assert float(found.adjusted.components.error) == pytest.approx(error, rel=0.05)


def test_slopes_are_within_seeds():
    # Each seed: no effect of length; but the seed with longer texts scores higher. The slope must be 0.
    lengths = np.array([[-1.0, 0, 1, 0], [9, 10, 11, 10]])
    scores = np.array([[0.0, 0, 0, 0], [5, 5, 5, 5]])
    values, slope = influence(scores, lengths)
    assert slope == 0
    assert values.mean() == 2.5


@given(st.integers(1, 3), st.integers(0, 10_000), st.floats(-2, 2))
def test_a_gain_by_length_alone_vanishes_and_a_constant_stays(seeds, seed, constant):
    generator = np.random.default_rng(seed)
    lengths_a, lengths_b = generator.normal(2, 5, (seeds, 60)), generator.normal(0, 5, (seeds, 60))
    found = at_equal_length(0.7 * lengths_a + constant, 0.7 * lengths_b, lengths_a, lengths_b)
    assert found.adjusted.mean == pytest.approx(constant, abs=1e-9)
    mirrored = at_equal_length(0.7 * lengths_b, 0.7 * lengths_a + constant, lengths_b, lengths_a)
    assert mirrored.adjusted.mean == pytest.approx(-constant, abs=1e-9)


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
    assert found.adjusted.p == found.raw.p == compare_systems(scores, np.zeros((1, 50))).p
    shifted = at_equal_length(scores, np.zeros((1, 50)), lengths + 2, lengths)
    assert np.isnan(shifted.adjusted.mean)
    assert shifted.reason


def test_undefined_scores_are_left_out_with_their_lengths():
    scores = np.array([1.0, np.nan, 3, 4, 2])
    found = at_equal_length(scores, np.zeros(5), [4.0, 100, 6, 7, 5], [5.0] * 5)
    assert found.adjusted.mean == pytest.approx(2)
    assert at_equal_length([1.0], [0.0], [1.0], [2.0]).reason


def test_lengths_of_other_texts_are_refused():
    with pytest.raises(ValueError, match="same texts"):
        at_equal_length(np.zeros((2, 5)), np.zeros((2, 5)), np.zeros(5), np.zeros(5))
