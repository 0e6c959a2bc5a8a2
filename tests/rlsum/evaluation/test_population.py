import numpy as np
import pytest
from metric_pairs import compare_metrics
from scipy.stats import pearsonr, ttest_1samp, ttest_rel

from rlsum.evaluation.coefficients.table import named
from rlsum.evaluation.correlation import bootstrap_values, correlate
from rlsum.evaluation.population import chosen_random, system_interval
from rlsum.evaluation.rows import judged_rows
from rlsum.evaluation.statistics import Uncertainty

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


def test_level_system_is_fishers_interval_of_the_systems():
    human, a, _, names = world()
    found = correlate(human, a, statistic="pearson", level="system", random="both", **names)
    means = [scores.reshape(20, 30).mean(1) for scores in (human, a)]
    wanted = pearsonr(*means).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


@pytest.mark.parametrize("statistic", ["spearman", "kendall"])
@pytest.mark.parametrize("value", [-0.4, 0.0, 0.75, 0.99])
def test_intervals_of_ranks_hold_the_value_and_are_symmetric(statistic, value):
    low, high = system_interval(value, 16, statistic, 0.95)
    assert -1 <= low <= value <= high <= 1
    assert 0.005 < high - low < 1.1
    assert (-high, -low) == pytest.approx(system_interval(-value, 16, statistic, 0.95), abs=1e-6)


@pytest.mark.parametrize(
    ("statistic", "level", "tested"),
    [
        *((statistic, "system", True) for statistic in STATISTICS),
        ("spearman", "pooled", False),
        *(("kendall", "input", False), ("spearman", "input", False)),
    ],
)
def test_new_systems_are_less_certain_than_these(statistic, level, tested):
    human, a, b, names = world(systems=24, inputs=100, seed=3)
    options = {"statistic": statistic, "level": level, **names}
    how = Uncertainty(resamples=200)
    given, new = (correlate(human, a, random=random, how=how, **options) for random in ("inputs", "both"))
    assert new.value == pytest.approx(given.value)
    assert new.low < new.value < new.high
    assert np.isnan(given.low) or new.high - new.low > given.high - given.low
    test = compare_metrics(human, a, b, random="both", resamples=200, **options)
    assert "new systems" in test.why
    assert np.isnan(test.p) != tested
    assert tested or "is known to hold its level" in test.reason
    swapped = compare_metrics(human, b, a, random="both", resamples=200, **options)
    assert (swapped.difference, swapped.p) == pytest.approx((-test.difference, test.p), nan_ok=True)


@pytest.mark.parametrize(
    ("statistic", "level", "random"),
    [("pearson", "input", "both"), ("pearson", "pooled", "both"), ("spearman", "pooled", "systems")],
)
def test_where_no_method_holds_its_level_there_is_the_reason(statistic, level, random):
    human, a, _, names = world(systems=24, inputs=100)
    found = correlate(human, a, statistic=statistic, level=level, random=random, **names)
    assert np.isnan(found.low)
    assert "is known to hold its level" in found.reason


@pytest.mark.parametrize("level", ["pooled", "system"])
def test_few_systems_have_no_interval_and_no_test_but_the_reason(level):
    human, a, b, names = world(systems=4)
    found = correlate(human, a, statistic="spearman", level=level, random="both", **names)
    assert np.isnan(found.low)
    assert found.reason.startswith("no interval: 4 systems")
    test = compare_metrics(human, a, b, statistic="pearson", level=level, random="both", **names)
    assert np.isnan(test.p)
    assert test.reason.startswith("no test: 4 systems")


def test_a_worse_metric_is_found_among_new_systems():
    human, a, _, names = world(systems=24, inputs=100, seed=5)
    noise = np.random.default_rng(1).normal(size=len(a))
    for level, statistic in (("pooled", "pearson"), ("system", "pearson"), ("system", "kendall")):
        assert compare_metrics(human, a, noise, statistic=statistic, level=level, random="both", **names).p < 0.05


def test_what_is_random_unless_said():
    _, _, _, many = world(systems=24)
    _, _, _, few = world(systems=4)
    assert chosen_random("pearson", "system", many["inputs"], many["systems"]) == "both"
    assert chosen_random("pearson", "system", few["inputs"], few["systems"]) == "inputs"
    assert chosen_random("spa", "system", many["inputs"], many["systems"]) == "inputs"
    assert chosen_random("pearson", "pooled", range(50), range(50)) == "inputs"  # no input has two systems


def test_given_systems_have_no_interval_and_no_test_of_few_inputs_or_of_system_ranks():
    human, a, b, names = world(systems=6, inputs=9, seed=2)
    few = correlate(human, a, statistic="pearson", level="input", **names)
    assert few.reason.startswith("no interval: 9 inputs")
    assert compare_metrics(human, a, b, statistic="pearson", level="input", **names).reason.startswith("no test: 9")
    human, a, b, names = world(systems=6, inputs=50, seed=2)
    ranks = correlate(human, a, statistic="kendall", level="system", **names)
    assert "no method for kendall" in ranks.reason
    assert "no method for kendall" in compare_metrics(human, a, b, statistic="kendall", level="system", **names).reason


def test_an_input_with_two_systems_is_few_systems_however_many_there_are_in_all():
    human, a, b, names = world(systems=24, inputs=120)
    kept = (names["systems"] - names["inputs"]) % 24 < 2  # each input has two of the 24
    names = {name: ids[kept] for name, ids in names.items()}
    options = {"statistic": "spearman", "level": "input", **names}
    assert chosen_random("spearman", "input", *names.values()) == "inputs"
    for random in ("inputs", "both"):
        assert correlate(human[kept], a[kept], random=random, **options).reason.startswith("no interval: 2 systems an")
    assert compare_metrics(human[kept], a[kept], b[kept], **options).reason.startswith("no test: 2 systems an input")


def test_a_reason_offers_only_what_gives_a_number():
    human, a, b, names = world(systems=12)
    reason = compare_metrics(human, a, b, statistic="kendall", level="system", random="both", **names).reason
    assert reason.startswith("no test: 12 systems")
    assert "use random" not in reason  # ranks of given systems have no test, either
    pooled = correlate(human, a, statistic="spearman", level="pooled", random="both", **names)
    assert pooled.reason.endswith("use random='inputs'")


def test_few_inputs_have_no_test_whichever_it_would_be():
    human, a, b, _ = world(systems=1, inputs=20)
    for scores in (human, np.exp(2 * human)):  # Williams' test, and swaps for what is skewed
        assert compare_metrics(scores, a, b, statistic="pearson").reason.startswith("no test: 20 inputs")


def test_accuracies_have_no_interval_of_few_inputs_and_no_default_test_of_system_means():
    human, a, b, names = world(systems=6, inputs=12)
    for statistic, level in (("acc-t", "input"), ("spa", "system")):
        found = correlate(human, a, statistic=statistic, level=level, how=Uncertainty(resamples=50), **names)
        assert found.reason.startswith("no interval: 12 inputs")
    for statistic in ("acc-t", "spa"):
        options = {"statistic": statistic, "level": "system", "resamples": 50, **names}
        assert "is known to hold its level" in compare_metrics(human, a, b, **options).reason
        asked = compare_metrics(human, a, b, test="clustered permutation", **options)
        assert 0 < asked.p <= 1
        assert "too often" in asked.warnings[0]


@pytest.mark.parametrize(
    ("level", "options"), [("pooled", {}), ("input", {}), ("system", {"statistic": "spearman", "random": "both"})]
)
def test_a_perfect_metric_has_no_interval(level, options):
    human, _, _, names = world()
    found = correlate(human, human, **{"statistic": "pearson", "level": level, **options}, **names)
    assert (found.value, np.isnan(found.low)) == (pytest.approx(1), True)
    assert "perfect" in found.reason


def test_the_reason_where_no_input_has_two_systems():
    human, a, b, _ = world(systems=1)
    reason = compare_metrics(human, a, b, statistic="pearson", level="input", inputs=range(30), systems=[0] * 30).reason
    assert reason.startswith("no input has two rows")


def test_at_level_input_given_systems_have_the_t_test_of_the_inputs_coefficients():
    human, a, b, names = world(systems=6, inputs=50, seed=2)
    values = [[pearsonr(x, y).statistic for x, y in zip(people, scores.reshape(6, 50).T, strict=True)]
              for people, scores in ((human.reshape(6, 50).T, a), (human.reshape(6, 50).T, b))]  # fmt: skip
    found = compare_metrics(human, a, b, statistic="pearson", level="input", **names)
    assert (found.test, found.p) == ("clustered t", pytest.approx(ttest_rel(*values).pvalue))
    low, high = ttest_1samp(values[0], 0).confidence_interval(0.95)
    one = correlate(human, a, statistic="pearson", level="input", **names)
    assert (one.low, one.high) == pytest.approx((low, high), abs=0.02)  # Fisher's z bends it a little


def test_inputs_without_a_value_are_no_sample():
    human, a, _, names = world(systems=6, inputs=50, seed=2)
    a = np.where(names["inputs"] < 42, 1.0, a)
    found = correlate(human, a, statistic="pearson", level="input", **names)
    assert (found.over, found.left_out) == (8, 42)
    assert found.reason.startswith("no interval: 8 inputs")


@pytest.mark.parametrize("level", ["input", "pooled", "system"])
def test_intervals_over_new_inputs_are_about_the_bootstraps(level):
    human, a, _, names = world(systems=20, inputs=200, seed=4)
    found = correlate(human, a, statistic="pearson", level=level, **names)
    rows = judged_rows(human, a, **names)
    values = bootstrap_values(named("pearson").engine(rows, level), 200, 2000, 0)
    assert [found.low, found.high] == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.012)


def test_unknown_and_impossible_options():
    human, a, b, names = world()
    with pytest.raises(ValueError, match="random='articles' is unknown"):
        correlate(human, a, random="articles", **names)
    with pytest.raises(ValueError, match="needs inputs and systems"):
        correlate(human, a, random="both")
    with pytest.raises(ValueError, match="takes the systems as given"):
        compare_metrics(human, a, b, random="both", test="williams", **names)
