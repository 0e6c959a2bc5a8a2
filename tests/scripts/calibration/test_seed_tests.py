import numpy as np
import pytest
from calibration.seed_tests import TESTS, World, bootstrap_rate, ours, rates

from rlsum.evaluation.trained.hierarchical import compare_systems, components


def test_mean_squares_drawn_directly_are_those_of_tables():
    world = World(3, 40, 0.2, 0.7)
    generator = np.random.default_rng(0)
    direct, whole = world.squares(4000, generator), components(world.tables(4000, generator))
    for name in ("mean", "by_seed", "by_article", "residual"):
        one, other = getattr(direct, name), getattr(whole, name)
        assert one.mean() == pytest.approx(other.mean(), rel=0.07, abs=0.02)
        assert one.std() == pytest.approx(other.std(), rel=0.07)


def test_the_simulated_test_is_the_one_of_the_library():
    tables = World(2, 30, 0.3, 0.5).tables(20, np.random.default_rng(1))
    rejected = [compare_systems(table, np.zeros((1, 30))).p <= 0.05 for table in tables]
    assert ours(components(tables)).tolist() == rejected


def test_few_draws_show_the_same_picture():
    dominated = rates(World(2, 300, 0.3, 1.0), 4000, seed=0)
    assert dominated["ours"] < 0.07
    assert dominated["Satterthwaite"] > 0.1
    assert dominated["t, articles"] > 0.4
    shared = rates(World(5, 300, 0.0, 2.0), 4000, seed=0)
    assert shared["ours"] < 0.07
    assert shared["t, seeds"] > 0.4
    assert bootstrap_rate(World(2, 50, 1.0, 0.5), 500, 100, seed=0)["bootstrap"] > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("articles", [100, 1000])
@pytest.mark.parametrize(("seed", "article"), [(0, 0), (0, 1), (0.1, 0.5), (0.3, 1), (1, 0), (1, 2)])
def test_levels(seeds, articles, seed, article):
    found = rates(World(seeds, articles, seed, article), 40_000, seed=0)
    assert set(found) == set(TESTS)
    assert 0.038 <= found["ours"] <= 0.062
