from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.population import chosen_random, deletions
from rlsum.evaluation.rows import judged_rows
from rlsum.evaluation.significance import compare_metrics

STATISTICS = ["pearson", "spearman", "kendall"]


def world(systems=20, inputs=30, seed=0):
    """People and two metrics on every input and system, with their names."""
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=(systems, 1))
    human, a, b = (
        quality + 0.8 * generator.normal(size=(systems, 1)) + generator.normal(size=(systems, inputs)) for _ in range(3)
    )
    system, unit = np.indices(human.shape).reshape(2, -1)
    return human.ravel(), a.ravel(), b.ravel(), {"systems": system, "inputs": unit}


@pytest.mark.parametrize("level", ["input", "pooled"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_deletions_are_the_statistic_of_what_is_left(statistic, level):
    human, a, _, names = world(systems=5, inputs=4)
    left = deletions(judged_rows(human, a, **names), statistic, level)

    def value(kept):
        return correlate(
            human[kept], a[kept], statistic=statistic, level=level, resamples=0,
            **{name: ids[kept] for name, ids in names.items()},
        ).value  # fmt: skip

    system, unit = names["systems"], names["inputs"]
    assert left.value[0] == pytest.approx(value(system >= 0))
    assert left.by_system == pytest.approx([value(system != one) for one in range(5)])
    assert left.by_inputs == pytest.approx([value(unit != one) for one in range(4)])
    cells = [value((system != one) | (unit != other)) for one in range(5) for other in range(4)]
    assert left.by_cell == pytest.approx(cells)


def test_level_system_is_fishers_interval_of_the_systems():
    human, a, _, names = world()
    found = correlate(human, a, statistic="pearson", level="system", random="both", **names)
    means = [scores.reshape(20, 30).mean(1) for scores in (human, a)]
    wanted = pearsonr(*means).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


@pytest.mark.parametrize("level", ["input", "pooled", "system"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_new_systems_are_less_certain_than_these(statistic, level):
    human, a, b, names = world(systems=20, inputs=40, seed=3)
    options = {"statistic": statistic, "level": level, "resamples": 200, **names}
    given, new = (correlate(human, a, random=random, **options) for random in ("inputs", "both"))
    assert new.value == given.value
    assert new.low < new.value < new.high
    assert new.high - new.low > given.high - given.low
    test = compare_metrics(human, a, b, random="both", **options)
    assert 0 < test.p <= 1
    assert "new systems" in test.why
    swapped = compare_metrics(human, b, a, random="both", **options)
    assert (swapped.difference, swapped.p) == pytest.approx((-test.difference, test.p))


@pytest.mark.parametrize("level", ["input", "pooled", "system"])
def test_few_systems_have_no_interval_and_no_test_but_the_reason(level):
    human, a, b, names = world(systems=4)
    found = correlate(human, a, level=level, random="both", **names)
    assert np.isnan(found.low)
    assert found.reason.startswith("no interval: 4 systems")
    test = compare_metrics(human, a, b, level=level, random="systems", **names)
    assert np.isnan(test.p)
    assert test.reason.startswith("no test: 4 systems")


def test_a_worse_metric_is_found_among_new_systems():
    human, a, _, names = world(systems=24, inputs=40, seed=5)
    noise = np.random.default_rng(1).normal(size=len(a))
    for level in ("input", "pooled", "system"):
        assert compare_metrics(human, a, noise, statistic="pearson", level=level, random="both", **names).p < 0.01


def test_what_is_random_unless_said():
    _, _, _, many = world(systems=24)
    _, _, _, few = world(systems=4)
    assert chosen_random("pearson", "system", many["inputs"], many["systems"]) == "both"
    assert chosen_random("pearson", "system", few["inputs"], few["systems"]) == "inputs"
    assert chosen_random("spa", "system", many["inputs"], many["systems"]) == "inputs"
    assert chosen_random("pearson", "pooled", range(50), range(50)) == "inputs"  # no input has two systems


def test_few_inputs_have_a_wider_interval_than_percentiles():
    human, a, _, names = world(systems=6, inputs=10, seed=2)
    few = correlate(human, a, statistic="pearson", level="input", **names)
    assert few.low < few.value < few.high
    ranks = correlate(human, a, statistic="kendall", level="system", **names)
    assert "no interval: 6 systems" in ranks.reason


def test_unknown_and_impossible_options():
    human, a, b, names = world()
    with pytest.raises(ValueError, match="random='articles' is unknown"):
        correlate(human, a, random="articles", **names)
    with pytest.raises(ValueError, match="needs inputs and systems"):
        correlate(human, a, random="both")
    with pytest.raises(ValueError, match="takes the systems as given"):
        compare_metrics(human, a, b, random="both", test="williams", **names)
