"""Numbers of parts, put together."""

import math

import pytest

from rlsum.training.parallel.log_averaging import TrainingLog, averaged


def test_one_part_is_left_as_it_is_but_for_what_is_undefined():
    assert averaged([(3, {"loss": 0.1, "reward": math.nan, "tokens": 7})]) == {"loss": 0.1, "tokens": 7}


def test_means_are_over_articles_and_those_of_tokens_over_tokens():
    first = {"loss": 1.0, "nll": 2.0, "tokens": 30, "sample_length": 2.0, "entropy": 1.0}
    second = {"loss": 4.0, "nll": 5.0, "tokens": 10, "sample_length": 5.0, "entropy": 3.0}
    found = averaged([(2, first), (1, second)])
    assert found["loss"] == pytest.approx(2.0)
    assert found["tokens"] == 40
    assert found["nll"] == pytest.approx((2.0 * 30 + 5.0 * 10) / 40)
    assert found["entropy"] == pytest.approx((1.0 * 4 + 3.0 * 5) / 9)


def test_the_spread_of_advantages_is_that_of_all_of_them():
    logs = [
        (2, {"advantage_mean": 1.0, "advantage_std": 1.0, "undefined_rewards": 0.0, "advantage_min": 0.0}),
        (2, {"advantage_mean": 4.0, "advantage_std": 0.0, "undefined_rewards": 0.5, "advantage_min": 4.0}),
    ]
    found = averaged(logs)  # 0, 2; 4 and one that is not defined
    assert found["advantage_mean"] == pytest.approx(2.0)
    assert found["advantage_std"] == pytest.approx(math.sqrt(8 / 3))
    assert found["advantage_min"] == 0.0
    assert found["undefined_rewards"] == 0.25


def test_numbers_that_are_undefined_in_all_parts_are_left_out():
    parts = [(2, {"reward": math.nan, "loss": 1.0}), (2, {"reward": 0.5, "loss": 3.0})]
    assert averaged(parts) == {"reward": 0.5, "loss": 2.0}
    assert averaged([(1, {"reward": math.nan}), (1, {"reward": math.nan})]) == {}


def test_a_line_of_the_log_is_the_mean_of_its_updates_over_all_processes():
    log = TrainingLog(OneOfTwo())
    log.add([(2, {"loss": 1.0, "tokens": 5})], {"learning_rate": 0.1})
    log.add([(1, {"loss": 4.0, "tokens": 5})], {"learning_rate": 0.3})
    line = log.flush()
    assert line["loss"] == pytest.approx(((2 * 1.0 + 2 * 3.0) / 4 + 4.0) / 2)  # the other had no articles in the second
    assert line["learning_rate"] == pytest.approx(0.2)
    assert line["tokens_per_second"] == pytest.approx(18 / 2 * line["updates_per_second"])
    assert "tokens" not in line
    assert "reward_share" not in line


def test_the_share_of_the_reward_is_its_seconds_of_all_seconds_of_all_processes():
    log = TrainingLog(OneOfTwo())
    log.add([(2, {"loss": 1.0, "reward_seconds": 5.0}), (1, {"loss": 1.0, "reward_seconds": 2.0})], {})
    log.add([(1, {"loss": 4.0, "reward_seconds": 3.0})], {})
    line = log.flush()
    seconds = 2 / line["updates_per_second"]
    assert line["reward_share"] == pytest.approx((5 + 2 + 3) / (2 * seconds))
    assert "reward_seconds" not in line


class OneOfTwo:
    """The first of two processes."""

    def gather_all(self, updates):
        return [updates, [[(2, {"loss": 3.0, "tokens": 8, "learning_rate": 0.1})], []]]
