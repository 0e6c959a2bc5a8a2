import numpy as np
import pytest

from human_eval.statistics.control_variate import control_variate, slopes_without

NAN = float("nan")


def simulated(useful, studies, *, judged=60, others=600, seed=0):
    """Estimates on draws of items whose quality the metric sees with correlation ``useful``; truth is a share of .6."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(studies):
        quality, noise = generator.standard_normal((2, judged + others))
        chance = 0.6 + 0.3 * np.clip(quality, -1, 1)  # symmetric about .6
        means = 2 * generator.binomial(3, chance[:judged]) / 3 - 1
        metric = 7 + useful * quality + np.sqrt(1 - useful**2) * noise
        found.append(control_variate(means, metric[:judged], metric[judged:]))
    return found


@pytest.mark.parametrize("useful", [0.0, 0.5, 1.0])
def test_no_bias_however_good_or_bad_the_metric(useful):
    found = simulated(useful, 250)
    errors = np.array([each.share for each in found]) - 0.6
    assert abs(errors.mean()) < 3.3 * errors.std() / np.sqrt(len(errors))
    held = np.mean([each.low <= 0.6 <= each.high for each in found])
    assert held > 0.95 - 3.3 * np.sqrt(0.95 * 0.05 / 250)


def test_a_good_metric_narrows_the_interval_and_a_useless_one_does_not():
    width = {useful: np.mean([each.width for each in simulated(useful, 60)]) for useful in (0.0, 0.5, 1.0)}
    assert width[0.0] == pytest.approx(1.0, abs=0.03)
    assert width[1.0] < width[0.5] < width[0.0]
    assert width[1.0] < 0.9


def test_the_width_is_what_the_correlation_promises():
    generator = np.random.default_rng(0)
    metric = generator.standard_normal(20_000)
    means = np.clip(0.2 + 0.2 * metric[:2_000] + 0.2 * generator.standard_normal(2_000), -1, 1)
    found = control_variate(means, metric[:2_000], metric[2_000:])
    # judged items keep 1 - r^2 of their variance, and the others' mean adds r^2 n / N
    promised = np.sqrt(1 - found.correlation**2 * (1 - 2_000 / 20_000))
    assert found.width == pytest.approx(promised, abs=0.03)


def test_slopes_leave_their_item_out():
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((2, 7))
    for place, slope in enumerate(slopes_without(y, x)):
        assert slope == pytest.approx(np.polyfit(np.delete(x, place), np.delete(y, place), 1)[0])
    assert slopes_without(np.ones(4), np.ones(4)).tolist() == [0, 0, 0, 0]


def test_scale_and_origin_of_the_metric_change_nothing():
    generator = np.random.default_rng(0)
    means, judged, others = generator.uniform(-1, 1, 20), generator.random(20), generator.random(100)
    found, again = control_variate(means, judged, others), control_variate(means, 5 - 3 * judged, 5 - 3 * others)
    assert (again.share, again.correlation) == pytest.approx((found.share, -found.correlation))
    assert again.width == pytest.approx(found.width, rel=0.05)
    turned = control_variate(-means, judged, others)
    assert turned.share == pytest.approx(1 - found.share)


def test_undefined_scores_leave_items_as_judged():
    generator = np.random.default_rng(0)
    means, judged, others = generator.uniform(-1, 1, 30), generator.random(30), generator.random(100)
    judged[3], others[5] = NAN, NAN
    found = control_variate(means, judged, others)
    assert found.undefined == 2
    assert found.share == pytest.approx((1 + means.mean()) / 2, abs=0.1)
    assert np.isfinite([found.low, found.high]).all()


def test_nothing_to_gain_is_said():
    means = np.array([1.0, -1, 0, 1, 0.5])
    assert "whole test set" in control_variate(means, means, []).reason
    assert "fewer than 5 judged" in control_variate([1.0], [1.0], [1.0]).reason
    assert "defined on fewer than 5" in control_variate(means, np.full(5, NAN), means).reason
    assert "the same mean vote" in control_variate(np.ones(5), means, means).reason
    assert "the same on all" in control_variate(means, np.ones(5), means).reason
    with pytest.raises(ValueError, match="pair them first"):
        control_variate(means, [1.0], [1.0])
