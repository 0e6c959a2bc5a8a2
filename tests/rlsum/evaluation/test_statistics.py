from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rlsum.evaluation.statistics import Uncertainty, flipped_sums, holm, mean_interval, paired_difference


def paired_permutation(a, b, **options):
    return paired_difference(a, b, Uncertainty(**options))[1]


def test_every_sign_flip_of_three_items_is_tried():
    # Differences 1, 2, 3: of the 8 sign patterns only + + + and - - - reach |sum| = 6.
    assert paired_permutation([1, 2, 3], [0, 0, 0]) == pytest.approx(2 / 8)


def test_ties_between_sums_count_as_equally_extreme():
    # Differences .1, .2, -.3: the sum is 0, so every pattern is at least as extreme, in whatever order floats add up.
    assert paired_permutation([0.1, 0.2, -0.3], [0, 0, 0]) == 1


def test_random_flips_agree_with_the_exact_p():
    generator = np.random.default_rng(0)
    a, b = generator.normal(0.4, 1, 12), np.zeros(12)
    exact = paired_permutation(a, b, resamples=2**12)
    assert paired_permutation(a, b, resamples=4000) == pytest.approx(exact, abs=0.02)


def test_p_is_never_zero_and_the_same_every_time():
    a, b = np.arange(1.0, 101.0), np.zeros(100)
    assert paired_permutation(a, b, resamples=999) == pytest.approx(1 / 1000)
    noise = np.random.default_rng(1).normal(size=100)
    assert paired_permutation(noise, b, seed=3) == paired_permutation(noise, b, seed=3)
    assert paired_permutation(noise, b, seed=3) != paired_permutation(noise, b, seed=4)


def test_random_flips_are_fair_in_every_position():
    # 70 items cannot be enumerated, and 70 is no multiple of 8: the packed bits must still be one fair coin an item.
    kept = flipped_sums(np.eye(70), 20_000, seed=0).mean(axis=0)
    assert kept == pytest.approx(np.full(70, 0.5), abs=0.015)


def test_undefined_items_are_left_out_of_the_test():
    nan = np.nan
    with_gaps = paired_permutation([1, nan, 2, 3, 5], [0, 9, 0, 0, nan])
    assert with_gaps == paired_permutation([1, 2, 3], [0, 0, 0])
    assert np.isnan(paired_permutation([nan, 1], [1, nan]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mean_interval([]), "values has shape"),
        (lambda: mean_interval([[1.0]]), "values has shape"),
        (lambda: mean_interval([1.0], Uncertainty(resamples=0)), "at least 1"),
        (lambda: paired_permutation([1.0], [0.0], resamples=0), "at least 1"),
        (lambda: Uncertainty(level=95), "level=95 must lie between 0 and 1"),
        (lambda: Uncertainty(resamples=-1), "resamples=-1 be 0 or more"),
        (lambda: paired_permutation([1.0], [1.0, 2.0]), "pair them by item"),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_interval_of_few_scores_covers_the_truth():
    generator = np.random.default_rng(0)
    draws = {
        "normal": (lambda n: generator.normal(0.4, 0.1, n), 0.4),
        "skewed": (lambda n: generator.exponential(1, n), 1.0),
        "rare": (lambda n: (generator.random(n) < 0.05).astype(float), 0.05),
    }
    for draw, mean in draws.values():
        for n in (10, 30):
            found = [mean_interval(draw(n), Uncertainty(resamples=400, seed=seed)) for seed in range(300)]
            assert np.mean([np.isnan(each.low) or each.low <= mean <= each.high for each in found]) > 0.9


def test_many_scores_have_the_normal_interval():
    values = np.random.default_rng(0).normal(2.0, 3.0, 1000)
    for level in (0.95, 0.99):
        found = mean_interval(values, Uncertainty(level=level))
        oracle = stats.ttest_1samp(values, 0).confidence_interval(level)
        assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=0.002)
    oracle = stats.ttest_1samp(values, 0).confidence_interval()
    below = mean_interval(values[:999])
    assert (below.low, below.high) == pytest.approx((oracle.low, oracle.high), abs=0.02)


@pytest.mark.parametrize(
    ("values", "mean", "n"),
    [
        *(([0.5], 0.5, 1), ([0.5] * 40, 0.5, 40), ([0.0] * 19 + [1.0], 0.05, 20), ([np.nan, 0.3], 0.3, 1)),
        ([1.0, np.nan, 3.0, np.nan], 2.0, 2),
        ([4 / 11] * 6, 4 / 11, 6),  # whose deviation is not 0 in floats
        ([np.nan], np.nan, 0),
    ],
)
def test_scores_that_tell_nothing_of_their_spread_have_no_interval(values, mean, n):
    found = mean_interval(values, Uncertainty(resamples=1000))
    assert (found.mean, found.n) == (pytest.approx(mean, nan_ok=True), n)
    assert np.isnan([found.low, found.high]).all()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12))
def test_an_interval_excludes_0_exactly_where_the_test_rejects(differences):
    interval, p = paired_difference(differences, [0.0] * len(differences))
    if np.isnan(interval.low):
        assert p > 0.05 or len(differences) < 6 or np.ptp(differences) <= 1e-7 * abs(np.mean(differences))
    else:
        assert (interval.low > 0 or interval.high < 0) == (p <= 0.05)


def test_equal_differences_have_a_p_and_no_interval():
    scores = np.random.default_rng(0).uniform(size=12)
    interval, p = paired_difference(scores + 0.01, scores)  # with the rounding of their subtraction
    assert p == pytest.approx(2 / 2**12)
    assert interval.mean == pytest.approx(0.01)
    assert np.isnan([interval.low, interval.high]).all()


def test_interval_of_a_difference_by_hand():
    # Six items, 63 flips besides the observed: at 5% the interval ends where three of them count.
    interval, p = paired_difference([1.0, 2, 3, 4, 5, 6], [0.0] * 6)
    assert p == pytest.approx(2 / 64)
    assert interval.mean == 3.5
    inside, outside = (
        paired_permutation(np.arange(1.0, 7) - interval.low - step, np.zeros(6)) for step in (1e-9, -1e-9)
    )
    assert inside > 0.05 >= outside


def test_holm_by_hand():
    # Sorted .01, .02, .04 times 3, 2, 1 gives .03, .04, .04; then back in the order given, the undefined one untouched.
    assert holm([0.04, 0.01, np.nan, 0.02]) == pytest.approx([0.04, 0.03, np.nan, 0.04], nan_ok=True)
    assert holm([0.6, 0.6]) == pytest.approx([1, 1])
    assert len(holm([])) == 0
    studies = np.array([[0.04, np.nan, 0.6], [0.01, 0.02, 0.6], [0.02, np.nan, np.nan]])  # one in each column
    assert np.array_equal(holm(studies).T, [holm(study) for study in studies.T], equal_nan=True)


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=20))
def test_holm_only_raises_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    assert (adjusted >= np.array(p_values)).all()
    assert (adjusted <= np.minimum(1, np.array(p_values) * len(p_values) + 1e-12)).all()
    assert (np.diff(adjusted[np.argsort(p_values, kind="stable")]) >= 0).all()


def rejections(rounds: int, items: int, shift: float) -> float:
    generator = np.random.default_rng(7)
    p_values = [
        paired_permutation(generator.exponential(size=items) + shift, generator.exponential(size=items), resamples=400)
        for _ in range(rounds)
    ]
    return float(np.mean(np.array(p_values) <= 0.05))


def test_permutation_finds_a_difference_and_rarely_a_ghost():
    assert rejections(rounds=300, items=40, shift=0) < 0.1
    assert rejections(rounds=100, items=40, shift=1.0) > 0.9
