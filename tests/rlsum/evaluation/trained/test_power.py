from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rlsum.evaluation.trained.hierarchical import compare_systems, components, critical
from rlsum.evaluation.trained.power import (
    DEFAULTS,
    Family,
    Variances,
    detectable,
    fewest_seeds,
    power,
    smallest,
)
from rlsum.evaluation.trained.verdicts import verdicts


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_power_is_the_share_of_simulated_comparisons_that_reject(seeds):
    of, gain, articles = Variances(0.02, 0.3, 1.0), 0.4, 100
    generator = np.random.default_rng(0)
    tables = gain + generator.standard_normal((3000, seeds, articles))
    tables += np.sqrt(of.seed) * generator.standard_normal((3000, seeds, 1))
    tables += np.sqrt(of.article) * generator.standard_normal((3000, 1, articles))
    found = components(tables)
    simulated = np.mean(found.mean > critical(found, 0.05))
    assert power(gain, of, seeds, articles) == pytest.approx(simulated, abs=0.03)


def test_where_seeds_dominate_it_is_the_power_of_the_t_test():
    gain, sd, seeds = 1.0, 0.8, 6
    t, noncentrality = stats.t.isf(0.025, seeds - 1), gain / sd * np.sqrt(seeds)
    oracle = stats.nct.sf(t, seeds - 1, noncentrality) + stats.nct.cdf(-t, seeds - 1, noncentrality)
    assert power(gain, Variances(sd**2, 0, 0), seeds, 1000) == pytest.approx(oracle, abs=0.03)


def test_no_gain_leaves_half_the_level():
    assert power(0, DEFAULTS, 3, 1000) == pytest.approx(0.025, abs=0.01)


def simulated_verdicts(family: Family, gain: float, of: Variances, seeds: int, articles: int, draws: int) -> float:
    """How often `verdicts` calls the last reward better, from whole tables of scores."""
    generator = np.random.default_rng(1)
    better = 0
    for _ in range(draws):
        scores = [
            generator.normal(0, np.sqrt(of.seed / 2), (seeds, 1))
            + generator.normal(0, np.sqrt(of.article / 2), (1, articles))
            + generator.normal(0, np.sqrt(of.residual / 2), (seeds, articles))
            for _ in range(family.opponents + family.rewards)
        ]
        scores[-1] += gain
        tests = [
            [compare_systems(own, other) for other in scores[: family.opponents]] for own in scores[family.opponents :]
        ]
        better += verdicts(tests)[-1].word == "better"
    return better / draws


@pytest.mark.parametrize("family", [Family(1, 2), Family(3, 2), Family(6, 1)])
def test_it_is_the_power_of_the_verdict(family):
    of = Variances(0.004**2, 0.04**2, 0.06**2)
    assert power(0.02, of, 4, 200, family) == pytest.approx(
        simulated_verdicts(family, 0.02, of, 4, 200, 400), abs=0.05 + 0.03
    )


def test_the_detectable_gain_has_the_power():
    gain = detectable(DEFAULTS, 3, 1000)
    assert power(gain, DEFAULTS, 3, 1000) == pytest.approx(0.8, abs=0.01)


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
