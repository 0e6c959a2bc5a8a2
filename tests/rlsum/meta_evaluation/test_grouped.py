import numpy as np
import pytest
from scipy.stats import pearsonr

from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.grouped import compare_within, correlate_within
from rlsum.meta_evaluation.scores import Column, ScoreTable

NAN = float("nan")


def two_groups(n=40, seed=0):
    """Group a of n rows where the metric is good, b of 2n rows where it is worse and on another scale."""
    draw = np.random.default_rng(seed)
    human = draw.normal(size=3 * n)
    noise = draw.normal(size=3 * n)
    groups = ["a"] * n + ["b"] * (2 * n)
    good = np.array([1.0 if group == "a" else 0.3 for group in groups])
    return human, good * human + noise * 0.5 + 10 * (np.array(groups) == "b"), groups


def table_of(human, metrics, groups):
    inputs = tuple((group, str(number)) for number, group in enumerate(groups))
    columns = {name: Column(scores, name) for name, scores in metrics.items()}
    return ScoreTable("data", "overall", human, inputs, ("s",) * len(human), tuple(groups), columns)


def within(human, metric, groups, average="groups"):
    table = table_of(human, {"metric": metric}, groups)
    return correlate_within(table, "metric", "pearson", "pooled", Choices(average=average, resamples=200))


def test_averages_are_of_the_groups_own_correlations():
    human, metric, groups = two_groups()
    chosen = np.array(groups) == "a"
    a, b = (pearsonr(human[part], metric[part]).statistic for part in (chosen, ~chosen))
    even, by_rows = within(human, metric, groups), within(human, metric, groups, average="rows")
    assert [each.value for each in even.groups.values()] == pytest.approx([a, b])
    assert even.average.value == pytest.approx((a + b) / 2)
    assert by_rows.average.value == pytest.approx((a + 2 * b) / 3)
    assert even.average.low < even.average.value < even.average.high
    assert (even.average.n, even.average.over, even.average.coverage) == (120, 2, 1)


def test_the_interval_of_one_group_is_its_own():
    human, metric, _ = two_groups(120)
    found = within(human[:120], metric[:120], ["a"] * 120)
    assert (found.average.low, found.average.high) == pytest.approx((found.groups["a"].low, found.groups["a"].high))


def test_inputs_without_a_value_are_no_sample():
    draw = np.random.default_rng(0)
    human, metric = draw.normal(size=(2, 200))
    metric[: 4 * 35] = 1.0  # the same for all four systems of 35 inputs
    inputs = tuple(("g", str(number)) for number in np.repeat(np.arange(50), 4))
    columns = {"metric": Column(metric, "metric")}
    table = ScoreTable("data", "overall", human, inputs, tuple("abcd") * 50, ("g",) * 200, columns)
    found = correlate_within(table, "metric", "pearson", "input", Choices(average="groups"))
    assert (found.groups["g"].over, found.groups["g"].left_out) == (15, 35)
    assert (found.average.low, found.average.high) == pytest.approx((found.groups["g"].low, found.groups["g"].high))


def test_groups_without_a_value_are_named():
    human, metric, groups = two_groups()
    metric[:40] = 3.0
    found = within(human, metric, groups)
    assert found.left_out == ("a",)
    assert found.average.n == found.groups["b"].n
    assert found.average.reason == "1 of 2 groups left out (the metric's scores are constant)"
    assert found.average.value == found.groups["b"].value
    nothing = within(human, np.full(120, NAN), groups)
    assert np.isnan(nothing.average.value)
    assert "undefined in every group" in nothing.average.reason


def compared(human, metrics, groups, resamples=500):
    choices = Choices(average="groups", resamples=resamples)
    return compare_within(table_of(human, metrics, groups), "pearson", "pooled", choices)[0]


def test_a_better_metric_is_found_and_equal_ones_are_not():
    human, metric, groups = two_groups()
    noise = np.random.default_rng(1).normal(size=len(human))
    found = compared(human, {"x": metric, "y": noise}, groups)
    assert found.p < 0.01
    assert found.difference == pytest.approx(
        within(human, metric, groups).average.value - within(human, noise, groups).average.value
    )
    assert compared(human, {"x": noise, "y": metric}, groups).difference == pytest.approx(-found.difference)
    assert compared(human, {"x": metric, "y": metric}, groups).p == 1
    assert compared(human, {"x": metric, "y": np.full(120, 2.0)}, groups).reason == "undefined in every group"


def test_metrics_that_are_equal_in_one_group_are_tested_in_the_others():
    human, metric, groups = two_groups()
    other = np.where(np.array(groups) == "a", metric, np.random.default_rng(1).normal(size=len(human)))
    both = compared(human, {"x": metric, "y": other}, groups)
    alone = compared(human[40:], {"x": metric[40:], "y": other[40:]}, groups[40:])
    assert (both.difference, both.p) == pytest.approx((alone.difference / 2, alone.p))
    assert "in 1 of them the metrics are equal" in both.why


def test_the_reason_names_the_group_or_that_there_is_none():
    human, metric, _ = two_groups()
    for group, named in (("a", "group a: 20 inputs"), ("", "rows without a group: 20 inputs")):
        assert compared(human[:20], {"x": metric[:20], "y": -(human[:20] ** 2)}, [group] * 20).reason.startswith(
            f"no test: {named}"
        )


def test_the_test_holds_its_level_where_metrics_are_alike():
    draw = np.random.default_rng(0)
    rejected = 0
    for _ in range(200):
        human = draw.normal(size=120)
        metrics = {name: human + draw.normal(size=120) for name in "xy"}
        rejected += compared(human, metrics, ["a"] * 40 + ["b"] * 80).p <= 0.05
    assert 2 <= rejected <= 19  # 5% of 200 is 10, three deviations about 9


def test_accuracies_of_a_group_with_few_inputs_have_no_interval_and_spa_no_test():
    draw = np.random.default_rng(0)
    groups = ("a",) * 4 * 40 + ("b",) * 4 * 5
    human, metric, other = draw.normal(size=(3, len(groups)))
    inputs = tuple((group, str(row // 4)) for row, group in enumerate(groups))
    columns = {"metric": Column(metric, "m"), "other": Column(other, "o")}
    table = ScoreTable("data", "overall", human, inputs, tuple("abcd") * 45, groups, columns)
    choices = Choices(average="groups", resamples=50)
    found = correlate_within(table, "metric", "acc-t", "input", choices)
    assert found.groups["a"].low < found.groups["a"].high
    assert np.isnan(found.average.low)
    assert found.average.reason == f"no interval: group b: {found.groups['b'].reason.removeprefix('no interval: ')}"
    (test,) = compare_within(table, "spa", "system", choices)
    assert "is known to hold its level" in test.reason
    (accuracy,) = compare_within(table, "acc-t", "input", choices)
    assert 0 < accuracy.p <= 1
