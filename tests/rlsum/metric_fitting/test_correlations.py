import math

import pytest

from rlsum.metric_fitting.correlations import Correlations, average, correlations


def test_by_hand():
    """Deviations (-1, 0, 1) and (-4/3, 5/3, -1/3): r = 1 / sqrt(2 * 42/9). Pairs: 2 concordant, 1 discordant."""
    found = correlations([1.0, 2.0, 3.0], [0.0, 3.0, 1.0])
    assert found.pearson == pytest.approx(1 / math.sqrt(2 * 42 / 9))
    assert found.kendall == pytest.approx(1 / 3)
    assert found.n == 3


def test_ties_are_corrected_for_as_in_tau_b():
    """Of 3 pairs 2 are concordant and one is tied on one side: 2 / sqrt(3 * 2)."""
    assert correlations([1.0, 2.0, 3.0], [0.0, 0.0, 1.0]).kendall == pytest.approx(2 / math.sqrt(6))


def test_undefined_scores_are_left_out_and_counted():
    assert correlations([1.0, math.nan, 2.0], [0.0, 9.0, 1.0]) == Correlations(
        pytest.approx(1.0), pytest.approx(1.0), 2
    )
    for scores, n in (([1.0, 1.0], 2), ([1.0, math.nan], 1), ([], 0)):
        found = correlations(scores, [0.0, 1.0][: len(scores)])
        assert math.isnan(found.pearson)
        assert math.isnan(found.kendall)
        assert found.n == n


def test_groups_count_alike_whatever_their_size():
    pairs = {"a": ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), "b": ([2.0, 1.0], [1.0, 2.0]), "c": ([5.0], [0.0])}
    mean = average({name: correlations(*scores) for name, scores in pairs.items()})  # "c" has one item
    assert (mean.pearson, mean.kendall, mean.n) == (pytest.approx(0.0), pytest.approx(0.0), 6)
    assert math.isnan(average({}).pearson)
