"""The pictures of gains: what is drawn, beside what it stands, and what is cut has a sign."""

import comparisons
import numpy as np
import pytest

from rlsum.compare.report.gains import _of_fractions, _span, by_seed, gain_pictures, gains_beside
from rlsum.compare.results import gather
from rlsum.pages.blocks import Beside


def test_a_picture_for_each_trained_system_with_lengths(tmp_path):
    legend, beside = gain_pictures(gather(*comparisons.finished(tmp_path, {"rouge-l": 0.2}), "beam"))
    assert isinstance(beside, Beside)
    assert [picture.title for picture in beside.blocks] == ["Trained on rouge-l", "Trained on rouge-2"]
    assert all("3.0 tokens a summary; start 3.0" in picture.description for picture in beside.blocks)
    assert all(picture.width <= 358 for picture in beside.blocks)  # a telephone of 390 pixels
    assert "dots are seeds" in legend.text


def test_without_a_start_or_a_trained_system_there_is_no_picture(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {})
    results = gather(folder, cells, "beam")
    assert gain_pictures(gather(folder, [cell for cell in cells if cell.kind == "outputs"], "beam")) == []
    results.against.clear()
    assert gain_pictures(results) == []


def test_seeds_are_means_over_what_both_have(tmp_path):
    results = gather(*comparisons.finished(tmp_path, {}, articles=4), "beam")
    system, start = results.systems["rouge-l"], results.systems["start"]
    start.metrics["rouge-l"][:] = 0.25
    system.metrics["rouge-l"][:] = [[0.5, np.nan, 0.75, 0.25], [0.25] * 4, [np.nan] * 4]
    assert by_seed(system, start, "rouge-l") == pytest.approx([0.25, 0, np.nan], nan_ok=True)


def test_a_wide_interval_does_not_hide_the_means(tmp_path):
    tests = gather(*comparisons.finished(tmp_path, {"rouge-l": 0.02}, seeds=(1, 2)), "beam").against["start"]
    low, high = _span(tests, {(test.system, test.metric): np.zeros(0) for test in tests})
    means = [100 * test.difference.mean for test in tests]
    assert low < min(0, *means)
    assert max(0, *means) < high
    assert high - low < 3 * (max(0, *means) - min(0, *means))


def test_a_reward_on_another_scale_does_not_hide_the_others(tmp_path):
    results = gather(*comparisons.finished(tmp_path, {"rouge-l": 0.02}, seeds=(1, 2)), "beam")
    for system in results.systems.values():
        system.metrics["rouge-l"] *= 100  # such as log-probabilities
    tests = results.against["start"]
    assert {test.metric for test in _of_fractions(tests, results)} == {test.metric for test in tests} - {"rouge-l"}
    assert len(gain_pictures(results)[1].blocks) == 2  # also of the reward whose gain is beyond the picture
    for system in results.systems.values():
        for values in system.metrics.values():
            values *= 100
    assert _of_fractions(tests, results) == tests


def test_some_rewards_by_some_metrics_are_one_picture(tmp_path):
    results = gather(*comparisons.finished(tmp_path, {"rouge-l": 0.2}), "beam")
    wide, narrow = (
        gains_beside(results, names, ["rouge-1", "rouge-l"]) for names in (["rouge-l", "rouge-2"], ["rouge-l"])
    )
    assert wide.width == pytest.approx(2 * narrow.width, abs=2)
    with pytest.raises(KeyError):
        gains_beside(results, ["start"], ["rouge-1"])
