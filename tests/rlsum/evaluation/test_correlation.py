from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rlsum.evaluation.coefficients import kendall
from rlsum.evaluation.coefficients.table import STATISTICS, named
from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.population import system_means
from rlsum.evaluation.rows import judged_rows
from rlsum.evaluation.statistics import Uncertainty

NONE, FEW, MANY = (Uncertainty(resamples=number) for number in (0, 20, 300))
NAN = float("nan")
ORACLES = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
}
CLASSIC = list(ORACLES)


def some_rows(inputs: int = 12, systems: int = 5, seed: int = 0, missing: float = 0.0):
    """Human scores with many ties, a metric near them, and the input and system of each row."""
    generator = np.random.default_rng(seed)
    human = generator.integers(0, 4, inputs * systems).astype(float)
    metric = np.round(human + generator.normal(0, 1.5, len(human)), 1)
    metric[generator.random(len(human)) < missing] = NAN
    names = [f"input {k}" for k in range(inputs) for _ in range(systems)]
    return human, metric, names, [f"system {s}" for _ in range(inputs) for s in range(systems)]


@pytest.mark.parametrize("statistic", CLASSIC)
def test_pooled_is_what_scipy_says(statistic):
    human, metric, inputs, _ = some_rows()
    found = correlate(human, metric, statistic=statistic, inputs=inputs, how=NONE)
    assert found.value == pytest.approx(ORACLES[statistic](human, metric), abs=1e-12)
    assert (found.n, found.over, found.coverage) == (60, 60, 1.0)


@pytest.mark.parametrize("statistic", CLASSIC)
def test_levels_by_hand(statistic):
    human, metric, inputs, systems = some_rows(missing=0.1)
    kept = ~np.isnan(metric)
    oracle = ORACLES[statistic]
    within = [
        oracle(human[rows], metric[rows])
        for name in dict.fromkeys(inputs)
        if len(set(human[rows := (np.array(inputs) == name) & kept])) > 1 and len(set(metric[rows])) > 1
    ]
    found = correlate(human, metric, statistic=statistic, level="input", inputs=inputs, how=NONE)
    assert found.value == pytest.approx(np.mean(within), abs=1e-12)
    assert (found.over, found.left_out) == (len(within), 12 - len(within))
    means = [
        [scores[(np.array(systems) == name) & kept].mean() for name in dict.fromkeys(systems)]
        for scores in (human, metric)
    ]
    found = correlate(human, metric, statistic=statistic, level="system", inputs=inputs, systems=systems, how=NONE)
    assert found.value == pytest.approx(oracle(*means), abs=1e-12)
    assert found.over == 5


@pytest.mark.parametrize(("statistic", "by_hand"), [("spearman", 4.5 / 22.5**0.5), ("kendall", 5 / 30**0.5)])
def test_means_that_are_equal_but_for_rounding_are_tied(statistic, by_hand):
    """The human means of the first two systems are .2: (.1 + .2 + .3) / 3 is more than (.3 + .2 + .1) / 3 in floats."""
    people = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.4, 0.4, 0.4], [0.5, 0.5, 0.5]]
    human, metric = np.ravel(people), np.repeat([2.0, 1.0, 3.0, 4.0], 3)
    inputs, systems = [1, 2, 3] * 4, np.repeat([*"abcd"], 3)
    found = correlate(human, metric, statistic=statistic, level="system", inputs=inputs, systems=systems, how=NONE)
    assert found.value == pytest.approx(by_hand, abs=1e-12)
    means = system_means(judged_rows(human, metric, inputs, systems))
    assert means.human[0] == means.human[1]


def test_a_long_input_has_scipys_kendall():
    human, metric, _, _ = some_rows(inputs=50, systems=6)
    found = correlate(human, metric, statistic="kendall", level="input", inputs=["a"] * 300, how=NONE)
    assert found.value == pytest.approx(stats.kendalltau(human, metric).statistic)


def test_constant_inputs_are_counted_and_not_averaged_as_zero():
    human = [1, 2, 3, 5, 5, 5, 1, 2, 3, 4]
    metric = [1, 2, 3, 1, 2, 3, 7, 7, 7, 0]
    inputs = ["rises"] * 3 + ["people alike"] * 3 + ["metric alike"] * 3 + ["alone"]
    found = correlate(human, metric, level="input", inputs=inputs)
    assert (found.value, found.over, found.left_out) == (1.0, 1, 3)


def test_long_data_give_the_same_kendall(monkeypatch):
    human, metric, inputs, _ = some_rows(inputs=30)
    usual = correlate(human, metric, statistic="kendall", inputs=inputs, how=FEW)
    monkeypatch.setattr(kendall, "MOST", 3)
    again = correlate(human, metric, statistic="kendall", inputs=inputs, how=FEW)
    assert (again.low, again.high) == pytest.approx((usual.low, usual.high))


@pytest.mark.parametrize(
    ("statistic", "level"),
    [("acc-t", "input"), *((name, level) for name in CLASSIC for level in ("pooled", "input", "system"))],
)
def test_weights_are_copies_of_inputs(statistic, level):
    human, metric, inputs, systems = some_rows(missing=0.1)
    rows = judged_rows(human, metric, inputs, systems)
    times = np.random.default_rng(1).multinomial(12, np.ones(12) / 12, size=20)
    values = named(statistic).engine(rows, level)(times.astype(float))
    for time, value in zip(times, values, strict=True):
        take = np.repeat(np.arange(len(rows)), time[rows.unit])
        copy = np.concatenate([np.arange(t) for t in time[rows.unit]])  # copies of an input are inputs of their own
        copies = [f"{unit} {which}" for unit, which in zip(rows.unit[take], copy, strict=True)]
        options = {"statistic": statistic, "level": level, "inputs": copies, "systems": rows.system[take]}
        drawn = correlate(rows.human[take], rows.metric[take], how=NONE, **options)
        assert value == pytest.approx(drawn.value, abs=1e-9, nan_ok=True)


def test_interval_is_clustered_by_input():
    # Ten copies of each row under one input are no new evidence: the interval is that of the ten times smaller data.
    generator = np.random.default_rng(0)
    human, metric = generator.normal(size=(2, 60))
    once = correlate(human, metric, statistic="pearson")
    names = np.repeat(np.arange(60), 10)
    copied = correlate(human.repeat(10), metric.repeat(10), statistic="pearson", inputs=names)
    as_if_new = correlate(human.repeat(10), metric.repeat(10), statistic="pearson")
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high))
    assert as_if_new.high - as_if_new.low < 0.5 * (once.high - once.low)


def test_interval_of_independent_normal_rows_is_fishers():
    generator = np.random.default_rng(3)
    human = generator.normal(size=800)
    metric = human + generator.normal(size=800)
    found = correlate(human, metric, statistic="pearson")
    low, high = np.tanh(np.arctanh(found.value) + np.array([-1.96, 1.96]) / np.sqrt(797))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


@pytest.mark.parametrize(("statistic", "level"), [(name, at) for name in STATISTICS for at in named(name).levels])
def test_intervals_hold_the_value_and_are_the_same_every_time(statistic, level):
    human, metric, inputs, systems = some_rows(inputs=40)
    found = correlate(human, metric, statistic=statistic, level=level, inputs=inputs, systems=systems, how=MANY)
    if level == "system" and statistic in CLASSIC:
        assert found.reason.startswith("no interval")  # few systems, or ranks of given ones
        return
    assert found.low <= found.value <= found.high
    assert found.reason == ""
    again = correlate(human, metric, statistic=statistic, level=level, inputs=inputs, systems=systems, how=MANY)
    np.testing.assert_equal(found.__dict__, again.__dict__)  # NaN equals NaN here


@pytest.mark.parametrize(
    ("human", "metric", "level", "words"),
    [
        ([NAN, NAN], [1, 2], "pooled", "no row has a human score"),
        ([1, 2], [NAN, NAN], "pooled", "undefined on every judged row"),
        ([1, NAN], [1, 2], "pooled", "only one row"),
        ([3, 3, 3], [1, 2, 3], "pooled", "human scores are constant"),
        ([1, 2, 3], [0.3, 0.1 + 0.2, 0.3], "pooled", "metric's scores are constant"),
        ([1, 2, 3], [1, 2, 3], "input", "no input has two rows"),
        ([1, 2, 3], [1, 2, 3], "system", "only one system"),
    ],
)
def test_undefined_is_nan_with_a_reason(human, metric, level, words):
    names = list(range(len(human)))
    found = correlate(human, metric, statistic="pearson", level=level, inputs=names, systems=["s"] * len(human))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert words in found.reason


def test_huge_and_tiny_scores_correlate_as_any_others():
    human, metric = np.array([1.0, 2, 3, -1]), np.array([1.0, 2, 4, 3])
    found = correlate(1e300 * human, 1e-300 * metric, statistic="pearson", how=NONE)
    assert found.value == pytest.approx(stats.pearsonr(human, metric).statistic)


def test_coverage_is_the_share_of_judged_rows():
    found = correlate([1, 2, 3, NAN, 5], [1, 3, NAN, 4, 6])
    assert (found.n, found.coverage) == (3, 0.75)


def test_one_input_has_no_interval():
    found = correlate([1, 2, 3], [1, 3, 2], inputs=["a", "a", "a"])
    assert found.value == 0.5
    assert np.isnan(found.low)
    assert "1 input" in found.reason


def test_a_system_that_is_often_not_drawn_leaves_no_interval():
    human, names = np.arange(40.0), {"inputs": list(range(40)), "systems": ["a"] * 39 + ["b"]}
    found = correlate(human, human, statistic="acc-t", level="system", **names)
    assert found.value == 1
    assert "undefined in" in found.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"statistic": "tau"}, f"statistic='tau' is unknown; use one of {', '.join(STATISTICS)}"),
        ({"level": "segment"}, "level='segment' is unknown; use one of pooled, input, system"),
        ({"statistic": "spa"}, "level='system'"),
        ({"level": "input"}, "needs inputs"),
        ({"level": "system"}, "needs systems"),
        ({"inputs": ["a"]}, "inputs has 1 entries for 3 scores"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        correlate([1, 2, 3], [1, 2, 3], **options)


@pytest.mark.parametrize(
    ("human", "metric", "told"),
    [
        ([1, 2, 3], [1, 2], "metric has 2 entries for 3 scores"),
        ([1, 2, 3], [1, float("-inf"), 2], "metric is infinite in row 1"),
        ([], [], "human has shape"),
    ],
)
def test_wrong_vectors_are_named(human, metric, told):
    with pytest.raises(ValueError, match=told):
        correlate(human, metric)


columns = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 4)), min_size=3, max_size=25)


@settings(max_examples=40, deadline=None)
@given(columns, st.randoms(use_true_random=False), st.sampled_from(CLASSIC))
def test_neither_order_nor_scale_matters_and_the_sign_follows(rows, random, statistic):
    human, metric, inputs = (np.array(column) for column in zip(*rows, strict=True))
    found = correlate(human, metric, statistic=statistic, inputs=inputs, how=FEW)
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = correlate(human[order], metric[order], statistic=statistic, inputs=inputs[order], how=FEW)
    assert [shuffled.value, shuffled.low] == pytest.approx([found.value, found.low], abs=1e-9, nan_ok=True)
    scaled = correlate(human, 1000 + 3 * metric, statistic=statistic, inputs=inputs, how=NONE)
    assert scaled.value == pytest.approx(found.value, abs=1e-9, nan_ok=True)
    flipped = correlate(human, -metric, statistic=statistic, inputs=inputs, how=NONE)
    assert flipped.value == pytest.approx(-found.value, abs=1e-9, nan_ok=True)
    if statistic != "pearson":
        bent = correlate(human, np.exp(metric), statistic=statistic, inputs=inputs, how=NONE)
        assert bent.value == pytest.approx(found.value, abs=1e-9, nan_ok=True)
    with_gap = correlate([*human, 1, NAN], [*metric, NAN, 1], statistic=statistic, how=NONE)
    assert with_gap.value == pytest.approx(found.value, abs=1e-9, nan_ok=True)
