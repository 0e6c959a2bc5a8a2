from __future__ import annotations

import numpy as np
import pytest
from reproductions.claims import above, against, all_of, both, undetected, within
from reproductions.estimate import Estimate, best, estimate, mean, mean_estimate, spread

from rlsum.evaluation.correlation import correlate


def around(value: float, width: float = 0.01) -> Estimate:
    return Estimate(value, value + width * np.linspace(-1, 1, 101))


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        *(((0.1, 0.2), "holds"), ((0.1, -0.2), "does not hold"), ((0.005, -0.2), "does not hold")),
        *(((0.1, 0.005), "cannot be said"), ((), "cannot be said")),
    ],
)
def test_a_finding_holds_where_every_interval_says_so(values: tuple[float, ...], verdict: str) -> None:
    found = {f"m{place}": around(value) for place, value in enumerate(values)}
    assert within("better", found, low=0.0).verdict == verdict


def test_the_numbers_are_told() -> None:
    claim = within("nothing", {"CKA": around(0.001, 0.002)}, -0.005, 0.005)
    assert claim.verdict == "holds"
    assert claim.numbers == "CKA +0.10 (-0.09 to +0.29)"


def test_without_an_interval_nothing_can_be_said() -> None:
    assert within("better", {"a": Estimate(0.3, np.empty(0))}, low=0.0).verdict == "cannot be said"
    assert within("better", {"a": Estimate(np.nan, np.full(5, np.nan))}, low=0.0).verdict == "cannot be said"


def test_findings_combine() -> None:
    yes, no, unsure = (within(name, {"x": around(value)}, low=0.0) for name, value in (("y", 1), ("n", -1), ("o", 0)))
    assert [each.verdict for each in (yes, no, unsure)] == ["holds", "does not hold", "cannot be said"]
    assert both("all", yes, yes).verdict == "holds"
    assert both("all", yes, unsure).verdict == "cannot be said"
    assert both("all", unsure, no).verdict == "does not hold"
    assert [against("not", each).verdict for each in (yes, no, unsure)] == ["does not hold", "holds", "cannot be said"]
    assert "n: does not hold" in both("all", yes, no).numbers


def test_no_difference_is_found_where_every_interval_holds_0() -> None:
    nothing, more, less = around(0.005), around(0.1), around(-0.1)
    assert undetected("alike", {"a": nothing, "b": around(-0.005)}).verdict == "holds"
    assert undetected("alike", {"a": nothing, "b": more}).verdict == "does not hold"
    assert undetected("alike", {"a": less, "b": nothing}).verdict == "does not hold"
    assert undetected("alike", {}).verdict == "cannot be said"
    assert undetected("alike", {"a": nothing, "b": Estimate(0.3, np.empty(0))}).verdict == "cannot be said"
    assert undetected("alike", {"a": nothing}).numbers == "a +0.50 (-0.45 to +1.45)"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        *((0.3, 0.5, "holds"), (0.1, 0.2, "does not hold")),
        *((0.1, 0.3, "cannot be said"), (np.nan, np.nan, "cannot be said")),
    ],
)
def test_above_a_bound(low: float, high: float, verdict: str) -> None:
    assert above(low, high, 0.25) == verdict


def test_one_failure_refutes_and_one_doubt_leaves_open() -> None:
    assert all_of(["holds", "holds"]) == "holds"
    assert all_of(["holds", "cannot be said", "does not hold"]) == "does not hold"
    assert all_of(["holds", "cannot be said"]) == "cannot be said"
    assert all_of([]) == "cannot be said"


def test_estimates_are_near_those_of_the_statistics_room() -> None:
    random = np.random.default_rng(0)
    human, metric = random.normal(size=(2, 360))
    metric[4] = np.nan
    inputs = [str(place // 3) for place in range(360)]
    found = estimate(human, metric, inputs, "pearson", 2000, seed=3)
    wanted = correlate(human, metric, statistic="pearson", inputs=inputs)
    assert found.value == pytest.approx(wanted.value)
    assert found.interval == pytest.approx((wanted.low, wanted.high), abs=0.015)  # bootstrap, and t
    assert np.isnan(estimate(human, metric, inputs, "kendall", 0).interval).all()


def test_the_difference_of_a_metric_with_itself_is_nothing() -> None:
    human, metric = np.random.default_rng(1).normal(size=(2, 40))
    first, second = (estimate(human, each, range(40), "pearson", 101) for each in (metric, 3 * metric + 1))
    assert (first - second).interval == pytest.approx((0, 0))
    assert spread([first, second]).value == pytest.approx(0)
    assert best([first, around(-2)]).value == first.value


def test_means_of_estimates() -> None:
    found = mean([Estimate(1, np.array([1.0, 2])), Estimate(4, np.array([4.0, 5]))], [2, 1])
    assert found.value == 2
    assert found.draws.tolist() == [2, 3]
    values = np.random.default_rng(2).normal(3, 1, size=400)
    low, high = mean_estimate(values, 2_000).interval
    assert (high - low) / (2 * 1.96) == pytest.approx(values.std() / 20, rel=0.1)
    assert low < values.mean() < high
