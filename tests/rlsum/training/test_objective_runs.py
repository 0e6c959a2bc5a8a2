"""Whole runs of every objective: they bring more of their reward, share samples, measure from their start, resume."""

import math

import numpy as np
import pytest
import tiny
from left import assert_same_run, log_of

from rlsum.training import checkpoint
from rlsum.training.trainer import FIELDS

KINDS = {  # of what a resumed run needs: nothing of the past; the samples of two updates; no advantages; other rewards
    **{name: tiny.OBJECTIVES[name] for name in ("token", "dapo", "best-of-n")},
    "shuffled": {"control": "shuffled"},
}


def test_a_run_that_measures_from_its_start_and_shares_samples_resumes_exactly(tmp_path):
    objective = {"estimator": "grpo", "samples": 3, "kl": 0.5, "clip": 0.2, "updates_per_sample": 2, "gamma": 0.8}
    rows = resumes_exactly(tmp_path, objective)
    assert rows[0]["kl"] == pytest.approx(0.0, abs=1e-9)
    assert rows[-1]["kl"] > 1e-4
    assert [rows[i]["reward"] == rows[i + 1]["reward"] for i in range(0, 8, 2)] == [True] * 4  # the same samples


def test_samples_of_a_cut_distribution_are_scored_in_it(tmp_path):
    """The first update has the ratios and the distance of a policy that equals both that which drew and the start."""
    objective = {"estimator": "rloo", "samples": 4, "kl": 0.5, "clip": 0.01, "updates_per_sample": 2, "gamma": 0.9}
    cut = {"temperature": 1.3, "top_k": 6, "top_p": 0.9, "min_length": 2, "block_ngrams": 1, "max_length": 7}
    rows = resumes_exactly(tmp_path, objective, sampling=cut, learning_rate=0.05)
    assert rows[0]["kl"] == pytest.approx(0.0, abs=1e-9)
    assert [row["ratio_outside"] for row in rows[::2]] == [0] * 4  # drawn by the policy that learns
    assert all(row["ratio_outside"] > 0 for row in rows[1::2])
    assert [row["kl"] for row in rows[::2]] == [row["kl"] for row in rows[1::2]]  # of the policy that drew
    assert all(math.isfinite(row["kl"]) and row["kl"] > 1e-4 for row in rows[2:])
    assert all(3 <= row["sample_length"] <= 7 for row in rows)


@pytest.mark.parametrize("cut", [{}, {"temperature": 1.3, "top_k": 6, "top_p": 0.9, "block_ngrams": 1}], ids=str)
@pytest.mark.parametrize("precision", ["no", "bf16"])
@pytest.mark.parametrize(("ratio", "updates"), [("token", 1), ("sequence", 1), ("token", 2)])
def test_the_first_update_of_samples_has_ratios_of_one(tmp_path, fresh_precision, ratio, updates, precision, cut):
    """However the samples were decoded: p_old is of the pass that is trained."""
    objective = {"samples": 3, "clip": 1e-9, "ratio": ratio, "updates_per_sample": updates, "gamma": 0.9}
    rows = resumes_exactly(tmp_path, objective, sampling=cut, mixed_precision=precision, accumulate=2, batch_size=2)
    assert [row["ratio_outside"] for row in rows[::updates]] == [0] * (8 // updates)
    assert updates == 1 or all(row["ratio_outside"] > 0.5 for row in rows[1::2])


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_objective_resumes_exactly(tmp_path, name):
    resumes_exactly(tmp_path, KINDS[name], accumulate=2, batch_size=2)


def resumes_exactly(tmp_path, objective, **training):
    """Fit a run, and another one that is stopped and resumed; returns the log of training."""
    options = {"steps": 8, "validate_every": 2, "log_every": 1, **training}

    def trainer(name, resume=False):
        config = tiny.config(tmp_path / name, objective.get("kind", "mixed"), objective=objective, **options)
        return tiny.trainer(config, resume=resume)

    trainer("whole").fit()
    tiny.stop(trainer("cut"), 5)
    trainer("cut", resume=True).fit()
    assert_same_run(tmp_path / "cut", tmp_path / "whole")
    return log_of(tmp_path / "whole", "train")


@pytest.mark.parametrize("name", ["mle", "self-critical", "best-of-n"])
def test_the_best_checkpoint_has_the_numbers_of_its_validation_again(tmp_path, name):
    kind = tiny.OBJECTIVES[name].get("kind", "mle")
    trainer = tiny.trainer(tiny.config(tmp_path / "r", kind, objective=tiny.OBJECTIVES[name]))
    trainer.fit()
    weights, about = checkpoint.read_weights(tmp_path / "r" / "best")
    fresh = tiny.trainer(tiny.config(tmp_path / "other", kind, objective=tiny.OBJECTIVES[name], seed=9))
    checkpoint.put_weights(fresh.model, weights, tmp_path)
    again = {key: None if math.isnan(value) else value for key, value in fresh.measure().values.items()}
    assert {**again, "step": about["step"]} == about


def test_more_weight_on_the_penalty_stays_nearer_to_the_start(tmp_path):
    """The last update's distance from the start, measured on samples."""
    distances = []
    for weight in (1e-6, 3.0):
        objective = {"estimator": "rloo", "samples": 4, "kl": weight, "gamma": 1.0}
        run = tmp_path / str(weight)
        tiny.trainer(tiny.config(run, "mixed", objective=objective, steps=20, validate_every=20, log_every=1)).fit()
        distances.append(log_of(run, "train")[-1]["kl"])
    assert distances[1] < 0.3 * distances[0]


@pytest.mark.parametrize("name", [name for name in tiny.OBJECTIVES if not name.startswith("mle")])
def test_every_objective_brings_more_of_its_reward(tmp_path, name):
    objective = {**tiny.OBJECTIVES[name], "kl": 0.0, "gamma": 1.0, "samples": 4, "reward_scale": 1.0}
    config = tiny.config(tmp_path / "r", objective["kind"], objective=objective, steps=20, validate_every=20)
    tiny.trainer(config, train=tiny.stories(10), valid=tiny.stories(10)).fit()
    log = log_of(tmp_path / "r")
    assert {name for row in log for name in row} - {"step", "kind", "overlap"} <= FIELDS.keys(), "a field is undeclared"
    rewards = [row["reward"] for row in log if row["kind"] == "train"]
    assert np.mean(rewards[-5:]) > np.mean(rewards[:3]) + 0.1


def test_the_log_has_the_mean_of_gamma_over_articles_and_both_losses_also_where_it_begins_at_0(tmp_path):
    objective = {"gamma": 0.0, "gamma_end": 0.9, "samples": 2, "estimator": "rloo"}
    options = {"steps": 4, "batch_size": 2, "accumulate": 2, "log_every": 4, "validate_every": 4}
    config = tiny.config(tmp_path / "r", "mixed", objective=objective, **options)
    trainer = tiny.trainer(config, train=tiny.stories(5))
    sizes = [len(trainer.plan.at(number)) for number in range(4)]
    assert sorted(sizes) == [1, 1, 4, 4]
    trainer.fit()
    (row,) = log_of(tmp_path / "r", "train")
    assert row["gamma"] == pytest.approx(np.average([0.0, 0.3, 0.6, 0.9], weights=sizes))
    assert {"loss_mle", "loss_rl", "loss"} <= row.keys()
