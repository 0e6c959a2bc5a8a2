from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_pairs import compare_metrics
from scipy.stats import pearsonr, rankdata, spearmanr

from rlsum.evaluation.coefficients.table import STATISTICS, named
from rlsum.evaluation.permutation import p_values, swapped_differences
from rlsum.evaluation.rows import paired_rows
from rlsum.evaluation.significance import compare_all_metrics, williams, williams_test

NAN = float("nan")


def judged(n: int = 200, noise: tuple[float, float] = (1.0, 2.0), seed: int = 0):
    generator = np.random.default_rng(seed)
    human = generator.normal(size=n)
    return human, *(human + scale * generator.normal(size=n) for scale in noise)


@pytest.mark.parametrize(
    ("r12", "r13", "r23", "t", "p"),
    [
        (0.5, 0.4, 0.7, 1.46784, 0.07269),
        (0.4, 0.5, 0.7, -1.46784, 0.92731),
        (0.35, 0.2, -0.3, None, 0.163),  # an absolute value of r23 would give another p
    ],
)
def test_williams_vectors(r12, r13, r23, t, p):
    found, above = williams(r12, r13, r23, 100)
    assert above == pytest.approx(p, abs=5e-4 if p == 0.163 else 5e-6)
    if t:
        assert found == pytest.approx(t, abs=5e-6)
        assert 2 * min(above, 1 - above) == pytest.approx(0.14538, abs=5e-6)


def test_williams_is_the_formula_on_the_correlations_of_the_data():
    human, a, b = judged()
    found = williams_test(*paired_rows(human, a, b), "pearson")
    pairs = ((human, a), (human, b), (a, b))
    t, p = williams(*(pearsonr(x, y).statistic for x, y in pairs), 200)
    assert (found.t, found.p_greater) == pytest.approx((t, p))
    assert found.p == pytest.approx(2 * p)
    swapped = williams_test(*paired_rows(human, b, a), "pearson")
    assert (swapped.t, swapped.p, swapped.p_greater) == pytest.approx((-found.t, found.p, 1 - found.p_greater))
    ranked = williams_test(*paired_rows(human, a, b), "spearman")
    assert ranked.t == pytest.approx(williams(*(spearmanr(x, y).statistic for x, y in pairs), 200)[0])


@pytest.mark.parametrize(
    ("human", "a", "b", "words"),
    [
        ([1, 2, 3], [1, 2, 3], [3, 1, 2], "3 rows"),
        ([1, 2, 3, 4, NAN], [1, 2, 3, NAN, 5], [3, 1, 2, 5, 5], "3 rows"),
        ([1, 1, 1, 1], [1, 2, 3, 4], [3, 1, 2, 4], "constant"),
        ([1, 2, 3, 5], [2, 4, 6, 7], [2, 4, 6, 7], "is 0"),
    ],
)
def test_williams_says_why_it_is_undefined(human, a, b, words):
    found = williams_test(*paired_rows(human, a, b), "pearson")
    assert np.isnan([found.t, found.p, found.p_greater]).all()
    assert words in found.reason


def test_swaps_of_few_rows_are_all_tried():
    # Ranks (1 2 3) against (1 3 2): swapping the first row changes nothing, swapping rows 2 and 3 together turns the
    # difference of .5 into -.5. Swapping one of them leaves (1 3 3) against (1 2 2), both with r = .866. So of the 8
    # patterns 4 are as extreme as the observed, and 2 are as great.
    found = compare_metrics([1, 2, 3], [1, 2, 3], [1, 3, 2], statistic="spearman", test="permutation")
    assert found.difference == pytest.approx(0.5)
    assert found.p == pytest.approx(4 / 8)
    assert found.p_greater == pytest.approx(2 / 8)
    assert found.units == 3


def naive_permutation(human, a, b, unit, resamples, seed) -> float:
    """Swap, correlate, count: one loop, one scipy call at a time."""
    generator = np.random.default_rng(seed)
    a, b = ((scores - scores.mean()) / scores.std() for scores in (a, b))
    observed = pearsonr(human, a).statistic - pearsonr(human, b).statistic
    count = 0
    for _ in range(resamples):
        swap = generator.integers(0, 2, unit.max() + 1)[unit] == 1
        first, second = np.where(swap, b, a), np.where(swap, a, b)
        count += abs(pearsonr(human, first).statistic - pearsonr(human, second).statistic) >= abs(observed)
    return (count + 1) / (resamples + 1)


def test_permutation_is_the_plain_loop():
    generator = np.random.default_rng(5)
    unit = np.repeat(np.arange(20), 3)
    effect = generator.normal(size=(3, 20)).repeat(3, axis=1)
    human = effect[0] + generator.normal(size=60)
    a, b = human + effect[1] + generator.normal(size=60), human + 2 * effect[2] + generator.normal(size=60)
    first, second = paired_rows(human, a, b, unit)
    found = swapped_differences(first, second, "pearson", "pooled", resamples=4000)
    assert p_values(*found[:2])[0] == pytest.approx(naive_permutation(human, a, b, unit, 2000, 1), abs=0.03)
    rows = swapped_differences(first.apart(), second.apart(), "pearson", "pooled", resamples=4000)
    assert p_values(*rows[:2])[0] == pytest.approx(naive_permutation(human, a, b, np.arange(60), 2000, 1), abs=0.03)
    assert (found.units, rows.units) == (20, 60)


@pytest.mark.parametrize(
    ("statistic", "level"),
    [(name, level) for name in STATISTICS for level in named(name).levels if level not in named(name).untested],
)
def test_a_clear_difference_is_found_and_a_metric_does_not_differ_from_itself(statistic, level):
    generator = np.random.default_rng(0)
    quality = np.tile(np.linspace(-1, 1, 6), 100)
    human = quality + generator.normal(size=600)
    names = {"inputs": np.repeat(np.arange(100), 6), "systems": np.tile(np.arange(6), 100)}
    options = {"statistic": statistic, "level": level, "resamples": 199, **names}
    good, bad = human + 0.2 * generator.normal(size=600), generator.normal(size=600)
    of = named(statistic)
    swapped = of.influence is None or (not of.normal and level == "system")
    options["test"] = "clustered permutation" if swapped else "auto"
    found = compare_metrics(human, good, bad, **options)
    assert found.difference > 0
    assert found.p_greater <= (0.3 if statistic in ("acc-t", "kendall") and level == "system" else 0.05)
    assert found.test == ("clustered permutation" if swapped else "clustered t")
    same = compare_metrics(human, good, good, **options)
    assert same.difference == pytest.approx(0, abs=1e-12)  # sums over the two metrics' rows differ in their order
    assert same.p == 1


def test_the_default_fits_the_data_and_says_why():
    human, a, b = judged()
    assert compare_metrics(human, a, b, statistic="pearson").test == "williams"
    ranked = compare_metrics(human, a, b, statistic="spearman", resamples=99)
    assert (ranked.test, ranked.units) == ("clustered t", 200)
    skewed = compare_metrics(np.exp(human), a, b, statistic="pearson", resamples=99)
    assert skewed.test == "permutation"
    assert "human scores" in skewed.why
    repeated = compare_metrics(human, a, b, statistic="pearson", inputs=np.arange(200) // 2, resamples=99)
    assert (repeated.test, repeated.units) == ("clustered t", 100)
    skewed = compare_metrics(human, a, np.exp(b), statistic="pearson", inputs=np.arange(200) // 2, resamples=99)
    assert (skewed.test, skewed.units) == ("clustered permutation", 100)
    assert "the second metric" in skewed.why


def test_pairs_of_all_rows_have_no_test():
    human, a, b = judged(20)
    found = compare_metrics(human, a, b, statistic="acc-t")
    assert np.isnan(found.p)
    assert "level='input'" in found.reason


def test_tests_that_do_not_fit_are_made_with_warnings():
    human, a, b = judged()
    assert compare_metrics(human, a, b, statistic="pearson", test="williams").warnings == ()
    twice = np.arange(200) // 2
    found = compare_metrics(human, a, np.exp(b), statistic="pearson", inputs=twice, test="williams")
    assert any("inputs repeat" in warning for warning in found.warnings)
    assert any("the second metric" in warning for warning in found.warnings)
    ranked = compare_metrics(human, a, b, statistic="spearman", test="williams")
    assert any("rank correlations" in warning for warning in ranked.warnings)
    rows = compare_metrics(human, a, b, statistic="spearman", inputs=twice, test="permutation", resamples=99)
    assert any("inputs repeat" in warning for warning in rows.warnings)
    unlike = compare_metrics(human, a, np.exp(b), statistic="pearson", inputs=twice, resamples=99)
    assert any("exchangeable" in warning for warning in unlike.warnings)


def test_only_rows_with_both_metrics_count():
    human, a, b = judged(60)
    with_gaps = compare_metrics(
        [*human, 5, -5, NAN], [*a, NAN, 3, 1], [*b, 4, NAN, 2], statistic="pearson", test="williams"
    )
    assert with_gaps.n == 60
    assert with_gaps.p == pytest.approx(compare_metrics(human, a, b, statistic="pearson", test="williams").p)


@pytest.mark.parametrize(
    ("human", "a", "b", "words"),
    [
        ([NAN] * 4, [1, 2, 3, 4], [1, 2, 3, 4], "no row has a human score"),
        ([1, 2, 3, 4], [1, 2, NAN, NAN], [NAN, NAN, 1, 2], "both metrics"),
        ([2, 2, 2, 2], [1, 2, 3, 4], [2, 1, 3, 4], "human scores are constant"),
        ([1, 2, 3, 4], [1, 2, 3, 4], [5, 5, 5, 5], "one of the metrics are constant"),
        ([1, 2, 3, 4], [1, NAN, NAN, NAN], [1, 2, 3, 4], "constant"),
    ],
)
@pytest.mark.parametrize("test", ["auto", "williams", "permutation"])
def test_undefined_is_nan_with_a_reason(human, a, b, words, test):
    found = compare_metrics(human, a, b, statistic="pearson", test=test)
    assert np.isnan([found.difference, found.p, found.p_greater]).all()
    assert words in found.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test": "t"}, "test='t' is unknown; use one of auto"),
        ({"test": "williams", "level": "input", "inputs": [0, 0, 1, 1]}, "clustered permutation"),
        ({"test": "permutation", "level": "input", "inputs": [0, 0, 1, 1]}, "clustered permutation"),
        ({"test": "williams", "statistic": "kendall"}, "no Williams' test"),
        ({"resamples": 0}, "at least 1"),
        ({"level": "system"}, "needs systems"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        compare_metrics([1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 4, 3], **options)


def test_all_pairs_are_tested():
    human, a, b = judged()
    tests = compare_all_metrics(human, {"a": a, "b": b, "flat": np.ones(200)}, statistic="pearson")
    assert [(each.a, each.b) for each in tests] == [("a", "b"), ("a", "flat"), ("b", "flat")]
    assert tests[1].reason


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["pearson", "spearman", "kendall"]))
def test_changing_the_metrics_round_changes_signs_only(seed, statistic):
    human, a, b = judged(24, seed=seed)
    options = {"statistic": statistic, "inputs": np.arange(24) // 3, "resamples": 300}  # 8 inputs: all swaps are tried
    options["test"] = "clustered permutation"
    one, other = compare_metrics(human, a, b, **options), compare_metrics(human, b, a, **options)
    assert other.difference == pytest.approx(-one.difference, abs=1e-9)
    assert other.p == pytest.approx(one.p)
    if statistic != "pearson":
        bent = compare_metrics(human, np.exp(a), rankdata(b), **options)
        assert (bent.difference, bent.p) == pytest.approx((one.difference, one.p))
