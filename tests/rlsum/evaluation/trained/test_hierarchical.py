from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rlsum.evaluation.trained.hierarchical import (
    Components,
    compare_systems,
    complete,
    components,
    critical,
    degrees_of_freedom,
    interval,
    p_no_worse,
    p_value,
    paired_table,
)


def drawn(seeds: int, articles: int, seed: int = 0, *, of_seed: float = 0.1, of_article: float = 0.5) -> np.ndarray:
    generator = np.random.default_rng(seed)
    effects = of_seed * generator.standard_normal((seeds, 1)) + of_article * generator.standard_normal(articles)
    return effects + generator.standard_normal((seeds, articles))


def test_mean_squares_of_a_table_worked_by_hand():
    # Rows 1 2 3 and 3 4 8: seed means 2, 5; article means 2, 3, 5.5; mean 3.5.
    found = components(np.array([[1.0, 2, 3], [3, 4, 8]]))
    assert found.mean == 3.5
    assert found.by_seed == pytest.approx(3 * (1.5**2 + 1.5**2))  # 13.5
    assert found.by_article == pytest.approx(2 * (1.5**2 + 0.5**2 + 2**2) / 2)  # 6.5
    # Residuals of the first row: 1-2-2+3.5 = .5, 2-2-3+3.5 = .5, 3-2-5.5+3.5 = -1; the second row is their negative.
    assert found.residual == pytest.approx(2 * (0.25 + 0.25 + 1) / 2)  # 1.5
    assert found.from_articles == pytest.approx((6.5 - 1.5) / 6)
    assert found.from_seeds == pytest.approx(13.5 / 6)
    assert found.error == pytest.approx(np.sqrt(18.5 / 6))


def test_without_article_effect_it_is_the_t_test_over_seeds():
    of_seed = np.array([0.5, -0.1, 0.3, 0.7])
    pattern = np.outer([1, 1, -1, -1], np.tile([1.0, -1.0], 20))  # every article has the same mean over seeds
    table = of_seed[:, None] + pattern
    found = compare_systems(table, np.zeros((4, 40)))
    oracle = stats.ttest_1samp(table.mean(1), 0)
    assert found.components.from_articles == 0
    assert found.p == pytest.approx(oracle.pvalue)
    assert (found.low, found.high) == pytest.approx(oracle.confidence_interval())


@pytest.mark.parametrize("shape", [(3, 1), (1, 1), 1])
def test_equal_seeds_and_one_leave_the_t_test_over_articles(shape):
    of_article = np.random.default_rng(0).normal(0.2, 1, 50)
    scores = np.tile(of_article, shape)
    found = compare_systems(scores, np.zeros(50))
    oracle = stats.ttest_1samp(of_article, 0)
    assert found.p == pytest.approx(oracle.pvalue)
    assert (found.low, found.high) == pytest.approx(oracle.confidence_interval())
    assert found.seeds == np.atleast_2d(scores).shape[0]


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_intervals_and_p_values_are_dual(seeds, level):
    found = components(drawn(seeds, 60, seeds))
    for end in interval(found, level):
        assert p_value(found, float(end)) == pytest.approx(1 - level, rel=1e-6)


def test_a_smaller_level_is_never_easier():
    found = components(drawn(2, 100, 5, of_article=3))
    levels = np.logspace(-6, np.log10(0.9), 200)
    assert (np.diff([critical(found, level) for level in levels]) <= 1e-12).all()


def test_degrees_of_freedom_run_from_seeds_to_articles():
    one = np.ones(())

    def df(of_seed: float, of_article: float, seeds: int = 3) -> float:
        return float(degrees_of_freedom(Components(one, one * of_seed, one * of_article, one, seeds, 100), 0.05))

    assert df(1, 0.5) == 2  # no article variance
    assert df(1, 2) == pytest.approx(2 * (1 + 1))  # A = B
    assert df(1, 1e6) == 99
    assert df(1, 3, seeds=2) == pytest.approx(1 + (0.21 * 2) ** 5)


@given(st.integers(1, 4), st.integers(2, 12), st.integers(0, 1000), st.floats(0.01, 50))
def test_order_sign_and_scale_change_nothing_else(seeds, articles, seed, scale):
    generator = np.random.default_rng(seed)
    table = drawn(seeds, articles, seed)
    shuffled = table[generator.permutation(seeds)][:, generator.permutation(articles)]
    p = p_value(components(table))
    assert p_value(components(-scale * shuffled)) == pytest.approx(p, rel=1e-6)
    assert 0 < p <= 1


def test_many_tables_at_once_are_each_alone():
    tables = np.stack([drawn(3, 20, seed) for seed in range(4)])
    assert p_value(components(tables)) == pytest.approx([float(p_value(components(table))) for table in tables])


def test_undefined_scores_leave_out_a_seed_or_an_article():
    a = np.array([[1.0, 2, np.nan, 4], [np.nan] * 4, [2, 2, 3, 5]])
    assert complete(paired_table(a, np.ones((1, 4)))).tolist() == [[0, 1, 3], [1, 1, 4]]


def test_shapes_that_do_not_pair_are_refused():
    with pytest.raises(ValueError, match="same seeds and articles"):
        paired_table(np.zeros((2, 5)), np.zeros((3, 5)))
    with pytest.raises(ValueError, match="same seeds and articles"):
        paired_table(np.zeros((2, 5)), np.zeros((2, 4)))


@pytest.mark.parametrize("table", [np.zeros((2, 0)), np.ones((2, 1)), np.zeros((0, 3))])
def test_too_few_articles_or_no_seed_have_no_p(table):
    assert np.isnan(p_value(components(table)))


@pytest.mark.parametrize("seeds", [1, 2, 3])
@pytest.mark.parametrize("gain", [0, 0.01, -1])
def test_equal_differences_tell_nothing_of_their_spread(seeds, gain):
    scores = np.random.default_rng(0).uniform(size=(seeds, 6))
    found = compare_systems(scores + gain, scores)  # with the rounding of their subtraction
    assert found.mean == pytest.approx(gain)
    assert np.isnan([found.low, found.high]).all()
    assert np.isnan(p_no_worse(found.components, 0.5))
    assert found.p == 1 if gain == 0 else np.isnan(found.p)
    assert not components(scores).equal


def test_no_worse_agrees_with_the_90_percent_interval():
    found = components(drawn(3, 80, 2))
    low = float(interval(found, 0.9)[0])
    assert p_no_worse(found, -low * 1.01 if low < 0 else 0.01) < 0.05
    assert float(p_no_worse(found, -low)) == pytest.approx(0.05, rel=1e-6)
    assert p_no_worse(found, 0.5 * -low) > 0.05
    with pytest.raises(ValueError, match="margin=0"):
        p_no_worse(found, 0)


def test_the_error_is_never_below_that_of_articles_alone():
    for seed in range(40):
        found = components(drawn(2, 30, seed, of_seed=0, of_article=0))
        assert found.error**2 >= found.by_article / (found.seeds * found.articles) * (1 - 1e-12)


def test_seeds_of_equal_means_on_few_different_articles_are_no_certainty():
    table = np.zeros((2, 100))
    table[0, :2] = table[1, 2:4] = 1  # each seed improves two articles, different ones
    found = compare_systems(table, np.zeros((1, 100)))
    assert found.components.by_seed == 0
    assert found.low < 0.001 < found.mean < found.high
    assert found.p == pytest.approx(stats.ttest_1samp(table.mean(0), 0).pvalue)


@pytest.mark.parametrize("seeds", [2, 3])
@pytest.mark.parametrize("level", [0.05, 0.0028])
@pytest.mark.parametrize("share", [0.02, 0.1])
def test_rare_changes_of_0_1_scores_give_no_false_certainty(seeds, level, share):
    chance = np.random.default_rng(0).random((4000, seeds, 100))
    found = components((chance < share).astype(float) - (chance > 1 - share))
    with np.errstate(invalid="ignore"):
        assert np.mean(np.abs(found.mean) > critical(found, level)) < 1.2 * level


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize(("of_seed", "of_article"), [(0, 0), (0, 1), (0.1, 1), (1, 0.5)])
def test_false_alarms_stay_near_five_percent_or_below(seeds, of_seed, of_article):
    generator = np.random.default_rng(0)
    tables = generator.standard_normal((4000, seeds, 100))
    tables += of_seed * generator.standard_normal((4000, seeds, 1))
    tables += of_article * generator.standard_normal((4000, 1, 100))
    found = components(tables)
    rejected = np.mean(np.abs(found.mean) > critical(found, 0.05))
    assert rejected < 0.05 + 0.01 + 2 * 0.0035
    assert rejected > 0.03 or of_seed == 0  # seeds without any effect of their own: fewer than 5%
