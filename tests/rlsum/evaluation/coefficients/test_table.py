"""What holds for every statistic of the table, a new one too."""

import numpy as np
import pytest

from rlsum.evaluation.coefficients.table import STATISTICS, named
from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.statistics import Uncertainty

NONE = Uncertainty(resamples=0)
NAMES = {"inputs": np.repeat(np.arange(40), 5), "systems": np.tile(np.arange(5), 40)}


@pytest.mark.parametrize(("name", "level"), [(name, level) for name in STATISTICS for level in named(name).levels])
def test_agreement_is_highest_of_people_with_themselves(name, level):
    generator, quality = np.random.default_rng(0), np.tile(np.arange(5.0), 40)  # of the systems
    human = quality + generator.normal(size=200)
    good, bad = human + generator.normal(size=200), -0.2 * quality + generator.normal(size=200)
    low, high = named(name).span
    best, one, other = (
        correlate(human, metric, statistic=name, level=level, how=NONE, **NAMES).value for metric in (human, good, bad)
    )
    assert best == pytest.approx(high)
    assert low <= other < one <= high


@pytest.mark.parametrize("name", STATISTICS)
def test_a_function_is_of_the_last_axis(name):
    of = named(name)
    assert of.name == name
    if of.function is not None:
        x, y = np.random.default_rng(1).normal(size=(2, 3, 4, 6))
        one_by_one = [[of.of(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]
        np.testing.assert_allclose(of.of(x, y), one_by_one)
        alone = of.of(x[..., :1], y[..., :1])  # as of a group with one system
        assert np.isnan(alone).all()
        assert alone.shape == (3, 4)
