"""What holds for every statistic of the table, a new one too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rlsum.evaluation.coefficients.table import DEFAULT, STATISTICS, named
from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.significance import compare_all_metrics

PAGE = Path(__file__).parents[4] / "docs" / "meta_evaluation.md"
LEVELS = [(name, level) for name in STATISTICS for level in named(name).levels]
NAMES = {"inputs": np.repeat(np.arange(40), 5), "systems": np.tile(np.arange(5), 40)}


def scores():
    """People, a good metric and a bad one; each system has its quality."""
    generator = np.random.default_rng(0)
    quality = np.tile(np.arange(5.0), 40)
    human = quality + generator.normal(size=200)
    return human, human + generator.normal(size=200), -0.2 * quality + generator.normal(size=200)


@pytest.mark.parametrize(("name", "level"), LEVELS)
def test_agreement_is_highest_of_people_themselves(name, level):
    human, good, bad = scores()
    low, high = named(name).span
    best, one, other = (
        correlate(human, metric, statistic=name, level=level, resamples=0, **NAMES).value
        for metric in (human, good, bad)
    )
    assert best == pytest.approx(high)
    assert low <= other < one <= high


@pytest.mark.parametrize(("name", "level"), LEVELS)
def test_a_difference_is_that_of_the_values_and_has_p_or_a_reason(name, level):
    human, good, bad = scores()
    options = {"statistic": name, "level": level, "resamples": 200, **NAMES}
    values = [correlate(human, metric, **options).value for metric in (good, bad)]
    for test in ("auto", "clustered permutation"):
        (found,) = compare_all_metrics(human, {"good": good, "bad": bad}, test=test, **options)
        if np.isnan(found.p):
            assert found.reason
        elif named(name).influence or level == "input":
            assert found.difference == pytest.approx(values[0] - values[1])
            assert found.p < 0.05


@pytest.mark.parametrize("name", STATISTICS)
def test_a_function_is_of_the_last_axis(name):
    of = named(name)
    assert of.name == name
    if of.function is not None:
        x, y = np.random.default_rng(1).normal(size=(2, 3, 4, 6))
        one_by_one = [[of.of(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]
        np.testing.assert_allclose(of.of(x, y), one_by_one)


def test_the_documentation_names_every_statistic():
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in STATISTICS)
    assert set(DEFAULT) <= set(STATISTICS)
