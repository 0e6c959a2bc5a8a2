"""Samples made ahead: however they are decoded and whoever scores them, an update is the same."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from left import assert_near, log_of

import rewards
from rlsum.config import ConfigError
from rlsum.training import build, checkpoint
from rlsum.training.earned import Earned
from rlsum.training.rollout import Rollout
from rlsum.training.start.origin import Origin, check_start
from rlsum.training.steps import controlled, training_step

SELF_CRITICAL = {"samples": 2, "gamma": 0.6}
CLIPPED = {"estimator": "rloo", "samples": 3, "clip": 0.2, "updates_per_sample": 2, "kl": 0.2}
RANKING = {"kind": "ranking", "samples": 3}
TOKEN = {"normalisation": "token", "samples": 2}


def trained(run, objective=SELF_CRITICAL, reward=None, **training):
    """The weights and the log of a short run over eleven articles, eight an update."""
    kind = objective.get("kind", "mixed")
    options = {"steps": 4, "validate_every": 4, "log_every": 1, "learning_rate": 1e-3, "row_noise": True, **training}
    trainer = tiny.trainer(
        tiny.config(run, kind, objective=objective, **options), train=tiny.stories(11), reward=reward
    )
    tiny.calm(trainer)
    trainer.fit()
    return trainer.model.state_dict(), log_of(run, "train")


def assert_equal(found, expected):
    (weights, log), (others, other_log) = found, expected
    logs = ([{**row, "ranked_right": "ranked_right" in row} for row in rows] for rows in (log, other_log))
    assert_near(*logs, rel=1e-4, abs=1e-6)  # but for a mean over pairs
    torch.testing.assert_close(weights, others, atol=1e-5, rtol=0)


@pytest.mark.parametrize("objective", [SELF_CRITICAL, CLIPPED, RANKING, TOKEN])
def test_decoding_and_update_are_divided_apart_and_the_log_is_that_of_the_whole(tmp_path, objective):
    divisions = [(2, 4, 3), (8, 1, 5), (4, 2, 100), (2, 4, None)]
    whole = trained(tmp_path / "whole", objective, batch_size=8)
    assert whole[1][0]["advantage_std" if "kind" not in objective else "ranked_right"] > 0
    for size, accumulate, decode in divisions:
        run = tmp_path / f"{size}-{decode}"
        assert_equal(trained(run, objective, batch_size=size, accumulate=accumulate, decode_batch=decode), whole)


def test_worker_processes_score_the_same_to_the_last_bit(tmp_path):
    options, spec = {"batch_size": 4, "accumulate": 2, "decode_batch": 2}, "weighted(rouge-1=1, repetition=0.5)"
    serial = trained(tmp_path / "serial", reward=rewards.from_spec(spec), **options)
    limited = rewards.load("limited", reward=spec, seconds=60, workers=2)
    overlapped = trained(tmp_path / "overlapped", reward=limited, reward_workers=2, **options)
    limited.close()
    assert serial[1] == overlapped[1]
    for row in [*serial[1], log_of(tmp_path / "overlapped")[0]]:
        assert row["reward"] == pytest.approx(row["reward/rouge-1"] + 0.5 * row["reward/repetition"])
    torch.testing.assert_close(overlapped[0], serial[0], rtol=0, atol=0)


def test_scoring_goes_on_while_the_next_samples_are_decoded(tmp_path):
    decoding_again = threading.Event()

    def reward(candidates, references=None, sources=None, columns=None):
        if threading.current_thread() is not threading.main_thread():
            assert decoding_again.wait(60)
        return np.linspace(0, 1, len(candidates))

    config = tiny.config(tmp_path / "r", "mixed", steps=1, batch_size=4, decode_batch=2, reward_workers=1)
    trainer = tiny.trainer(config, reward=reward)
    trainer.metrics = {"reward": reward}
    decode, calls = trainer.model.self_critical, []

    def watched(*arguments):
        calls.append(len(calls))
        if len(calls) == 2:
            decoding_again.set()
        return decode(*arguments)

    trainer.model.self_critical = watched
    trainer.fit()
    assert len(calls) == 2


def test_an_error_of_the_reward_behind_stops_the_run(tmp_path):
    def broken(candidates, references=None, sources=None, columns=None):
        if threading.current_thread() is not threading.main_thread():
            raise ZeroDivisionError("in the reward")
        return np.zeros(len(candidates))

    config = tiny.config(tmp_path / "r", "mixed", steps=1, decode_batch=2, reward_workers=1)
    with pytest.raises(ZeroDivisionError, match="in the reward"):
        tiny.trainer(config, reward=broken).fit()


def test_with_one_process_and_nothing_asked_samples_come_from_one_generator_as_ever(tmp_path):
    """Runs of before stay what they were: the noise of rows is asked for, or comes with several processes."""
    runs = [trained(tmp_path / str(own), row_noise=own) for own in (None, False, True)]
    digests = [[tuple(tensor.flatten().tolist()) for tensor in weights.values()] for weights, _ in runs]
    assert digests[0] == digests[1] != digests[2]


def test_samples_are_not_made_ahead_where_none_are_drawn(tmp_path):
    with pytest.raises(ConfigError, match=r"decode_batch=2: objective\.kind=mle draws no samples"):
        tiny.config(tmp_path / "r", "mle", decode_batch=2)
    with pytest.raises(ConfigError, match=r"reward_workers=1: objective\.kind=mle draws no samples"):
        tiny.config(tmp_path / "r", "mle", reward_workers=1)
    weights, log = trained(tmp_path / "none", {"gamma": 0.0}, batch_size=4, decode_batch=2)
    assert "reward" not in log[0]
    assert checkpoint.read_weights(tmp_path / "none" / "best")[0].keys() == weights.keys()


# ---- the step of a configuration ----------------------------------------------------------------------------------


def weight_of_a_sample(config):
    _, weights = training_step(config, None, object()).step.credit(Earned(*np.ones((2, 1, 1)), np.zeros(1)))
    return weights.item()


@pytest.mark.parametrize(
    ("objective", "weight"),
    [
        ({}, 1 / 3),
        ({"estimator": "dr-grpo", "samples": 2}, 1 / 3),
        ({"divisor": 7.5, "reward_scale": 3}, 1 / 7.5),
        ({"normalisation": "sum", "length": "mean"}, 1),
    ],
)
def test_the_divisor_is_the_mean_tokens_of_the_references_unless_one_is_given(tmp_path, objective, weight):
    config = build.with_divisor(tiny.config(tmp_path / "r", "mixed", objective=objective), [2, 0, 7])
    assert weight_of_a_sample(config) == weight
    assert build.with_divisor(config, [1]) == config  # later runs share it


def test_the_divisor_is_at_most_what_a_sample_may_have_and_at_least_1(tmp_path):
    config = tiny.config(tmp_path / "r", "mixed")
    assert build.with_divisor(config, [9]).objective.divisor == 5
    assert build.with_divisor(config, [0]).objective.divisor == 1
    assert build.with_divisor(tiny.config(tmp_path / "r"), [1]).objective.divisor is None


def test_without_a_divisor_the_constant_is_the_tokens_that_a_sample_may_have(tmp_path):
    assert weight_of_a_sample(tiny.config(tmp_path / "r", "mixed")) == 1 / 5


@pytest.mark.parametrize(("coverage", "weight"), [(True, 0.7), (False, 0.0)])
def test_only_a_model_with_coverage_has_a_weight_for_it(tmp_path, coverage, weight):
    config = tiny.config(tmp_path / "r", "mixed", model={"coverage": coverage}, objective={"coverage_weight": 0.7})
    assert tiny.trainer(config).step.step.mle.coverage_weight == weight


def test_coverage_on_samples_needs_a_model_with_coverage(tmp_path):
    config = tiny.config(tmp_path / "r", "mixed", objective={"coverage_on_samples": True})
    with pytest.raises(ConfigError, match=r"coverage_on_samples=True: the model has no coverage"):
        check_start(config, Origin())
    check_start(replace(config, model=replace(config.model, coverage=True)), Origin())


# ---- the shuffled control -----------------------------------------------------------------------------------------


def rollout(rewards, greedy=None):
    return Rollout(
        None, Earned(np.array(rewards), np.ones(np.shape(rewards)), None if greedy is None else np.array(greedy))
    )


def test_samples_and_greedy_texts_exchange_rewards_among_themselves():
    given = [rollout([[0.1, 0.2], [0.3, 0.4]], [1.0, 2.0]), rollout([[0.5, 0.6]], [3.0])]
    found = controlled(Earned.shuffled, 7, given, seed=1)
    samples = np.concatenate([part.earned.rewards for part in found])
    greedy = np.concatenate([part.earned.greedy_rewards for part in found])
    assert [part.earned.rewards.shape for part in found] == [(2, 2), (1, 2)]
    assert sorted(samples.flatten()) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert sorted(greedy) == [1.0, 2.0, 3.0]
    assert not (samples == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]).any()
    assert not (greedy == [1.0, 2.0, 3.0]).any()
    assert (samples - greedy[:, None]).mean() == pytest.approx(0.35 - 2.0)  # the mean advantage is what it was


def test_the_order_is_a_function_of_seed_and_update():
    given = [rollout(np.arange(40.0).reshape(10, 4))]

    def order(number, seed):
        (found,) = controlled(Earned.shuffled, number, given, seed)
        assert found.earned.greedy_rewards is None
        return found.earned.rewards.flatten().tolist()

    assert order(3, 1) == order(3, 1)
    assert len({tuple(order(number, seed)) for number in (3, 4) for seed in (1, 2)}) == 4


def test_the_samples_of_all_processes_exchange_their_rewards():
    first, second = rollout([[1.0], [2.0]], [10.0, 20.0]), rollout([[3.0]], [30.0])
    together = controlled(Earned.shuffled, 0, [first, second], seed=1)
    (found,) = controlled(Earned.shuffled, 0, [second], 1, tiny.OneOfTwo(1, 2, [first.earned]))
    assert found.earned.rewards == together[1].earned.rewards != second.earned.rewards
    assert found.earned.greedy_rewards == together[1].earned.greedy_rewards != second.earned.greedy_rewards
    assert controlled(Earned.shuffled, 0, [], 1, tiny.OneOfTwo(1, 2, [first.earned])) == []
