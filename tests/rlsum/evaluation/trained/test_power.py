from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rlsum.evaluation.trained.hierarchical import components, critical
from rlsum.evaluation.trained.power import (
    DEFAULTS,
    Variances,
    detectable,
    fewest_seeds,
    power,
    smallest,
)


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_power_is_the_share_of_simulated_comparisons_that_reject(seeds):
    of, gain, articles = Variances(0.02, 0.3, 1.0), 0.4, 100
    generator = np.random.default_rng(0)
    tables = gain + generator.standard_normal((3000, seeds, articles))
    tables += np.sqrt(of.seed) * generator.standard_normal((3000, seeds, 1))
    tables += np.sqrt(of.article) * generator.standard_normal((3000, 1, articles))
    found = components(tables)
    simulated = np.mean(np.abs(found.mean) > critical(found, 0.05))
    assert power(gain, of, seeds, articles) == pytest.approx(simulated, abs=0.03)


def test_where_seeds_dominate_it_is_the_power_of_the_t_test():
    gain, sd, seeds = 1.0, 0.8, 6
    t, noncentrality = stats.t.isf(0.025, seeds - 1), gain / sd * np.sqrt(seeds)
    oracle = stats.nct.sf(t, seeds - 1, noncentrality) + stats.nct.cdf(-t, seeds - 1, noncentrality)
    assert power(gain, Variances(sd**2, 0, 0), seeds, 1000) == pytest.approx(oracle, abs=0.005)


def test_no_gain_leaves_the_level():
    assert power(0, DEFAULTS, 3, 1000) == pytest.approx(0.05, abs=0.01)


def test_more_seeds_more_articles_and_larger_gains_help():
    assert power(0.01, DEFAULTS, 2, 500) < power(0.01, DEFAULTS, 3, 500) < power(0.01, DEFAULTS, 6, 500)
    assert power(0.01, DEFAULTS, 5, 200) < power(0.01, DEFAULTS, 5, 2000)
    assert power(0.005, DEFAULTS, 5, 1000) < power(0.01, DEFAULTS, 5, 1000)


def test_the_detectable_gain_has_the_power():
    gain = detectable(DEFAULTS, 3, 1000)
    assert power(gain, DEFAULTS, 3, 1000) == pytest.approx(0.8, abs=1e-4)


def test_the_smallest_design_cannot_be_smaller():
    found = fewest_seeds(0.01, DEFAULTS, 1000)
    assert found is not None
    assert power(0.01, DEFAULTS, found.seeds, 1000) == found.power >= 0.8
    assert power(0.01, DEFAULTS, found.seeds - 1, 1000) < 0.8
    cheapest = smallest(0.01, DEFAULTS)
    assert cheapest is not None
    assert cheapest.power >= 0.8
    assert cheapest.seeds <= found.seeds


def test_a_hopeless_gain_has_no_design():
    assert smallest(1e-6, DEFAULTS) is None


def test_bad_input():
    with pytest.raises(ValueError, match="seeds=1"):
        power(0.01, DEFAULTS, 1, 100)
    with pytest.raises(ValueError, match="seed=-1"):
        Variances(-1, 0, 0)
