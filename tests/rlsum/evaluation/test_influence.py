import numpy as np
import pytest

from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.influence import influence, row_influence
from rlsum.evaluation.rows import judged_rows


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("ties", [False, True])
def test_influence_is_the_change_by_a_grain_of_weight(statistic, ties):
    x, y = np.random.default_rng(1).normal(size=(2, 30))
    y += x
    if ties:
        x, y = np.round(x), np.round(y)
    value, change = influence(x, y, statistic)
    assert value == pytest.approx(named(statistic).of(x, y))
    weighted, grain = named(statistic).engine(judged_rows(x, y), "pooled"), 1e-6
    derivative = (weighted(1 + grain * np.eye(30)) - weighted(np.ones((1, 30)))) / grain
    assert change / 30 == pytest.approx(derivative, abs=1e-6)


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall"])
def test_at_level_input_a_system_changes_the_mean_over_inputs(statistic):
    systems, inputs = 40, 6
    system, unit = np.indices((systems, inputs)).reshape(2, -1)
    generator = np.random.default_rng(2)
    human = generator.normal(size=systems * inputs)
    rows = judged_rows(human, human + generator.normal(size=len(human)), unit, system)
    value, change = row_influence(rows, statistic, "input")
    without = [row_influence(rows.where(system != one), statistic, "input")[0] for one in range(systems)]
    lost = (value - np.array(without)) * (systems - 1)
    assert np.bincount(system, change) * systems == pytest.approx(lost - lost.mean(), abs=0.1 * np.ptp(lost))
    by_input = np.bincount(unit, change) * inputs
    values = [row_influence(rows.where(unit == one), statistic, "input")[0] for one in range(inputs)]
    assert by_input == pytest.approx(np.array(values) - value)


def test_a_constant_input_counts_for_nothing():
    rows = judged_rows([1, 2, 3, 5, 5, 5], [1, 2, 4, 1, 2, 3], ["a"] * 3 + ["b"] * 3, [1, 2, 3] * 2)
    value, change = row_influence(rows, "spearman", "input")
    assert value == 1
    assert change == pytest.approx(np.zeros(6))
