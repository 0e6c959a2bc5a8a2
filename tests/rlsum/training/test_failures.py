"""When a run cannot go on, or has trained nothing: it says why, and leaves what shows it."""

import json
import math
import signal

import numpy as np
import pytest
import tiny
import torch
from left import log_of, weights_of

import rewards
from rewards import RewardError
from rlsum.errors import TrainingError, UserError
from rlsum.training import checkpoint
from rlsum.training.update import StepResult


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_with_batch_and_state_saved(tmp_path, value):
    run = tmp_path / "r"
    trainer = tiny.trainer(tiny.config(run, steps=6, validate_every=2, accumulate=2))
    step, before = trainer.step, {}

    def broken(number, model, batch, rollout):
        result = step(number, model, batch, rollout)
        if number < 3:
            return result
        before.update({name: p.detach().clone() for name, p in trainer.model.named_parameters()})
        return StepResult(result.loss * value, result.log)

    trainer.step = broken
    with pytest.raises(TrainingError, match=r"loss is (nan|inf) in update 3; the batch and the state") as caught:
        trainer.fit()
    assert isinstance(caught.value, UserError)
    folder = run / "failed-at-3"
    assert str(folder) in str(caught.value)
    assert f"--init {run} run=NEW training.learning_rate=0.01" in str(caught.value)  # half the rate
    rows = json.loads((folder / "batch.json").read_text(encoding="utf-8"))
    plan = trainer.plan.at(3)
    assert [row["id"] for row in rows] == [trainer.train_rows[row]["id"] for row in plan]
    assert all(row["source"] and row["references"] for row in rows)
    tensors, progress = weights_of(folder / checkpoint.STATE)
    assert progress["step"] == 3
    assert all(torch.equal(tensors[f"model.{name}"], value) for name, value in before.items())
    # and the run goes on from its last validation once the cause is mended
    assert tiny.trainer(tiny.config(run, steps=6, validate_every=2, accumulate=2), resume=True).fit().step == 6


def test_a_gradient_that_is_not_finite_stops_too(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r"))

    def broken(number, model, batch, rollout):
        bias = trainer.model.gate.bias.sum()
        return StepResult((bias - bias.detach()).abs().sqrt(), {"loss": 0.0})  # 0, with an infinite slope

    trainer.step = broken
    with pytest.raises(TrainingError, match=r"gradient norm is (nan|inf) in update 0"):
        trainer.fit()
    assert all(p.isfinite().all() for p in trainer.model.parameters())


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (math.nan, TrainingError, r"reward is undefined on all 5 validation articles \(no words in the reference\)"),
        (math.inf, RewardError, "overlap is inf for 5 of 5 candidates, first for"),
    ],
)
def test_a_reward_that_no_article_defines_or_that_is_infinite_stops_the_run_at_once(tmp_path, value, error, message):
    class Everywhere(tiny.Overlap):
        def __call__(self, candidates, references=None, sources=None, columns=None):
            return np.full(len(candidates), value)

        def undefined(self, candidate, references=None, source=None, columns=None):
            return "no words in the reference"

    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed"), reward=Everywhere())
    with pytest.raises(error, match=message):
        trainer.fit()
    assert not (tmp_path / "r" / checkpoint.RESULT).exists()


def test_a_value_that_is_never_defined_is_null_in_every_file_and_the_run_fails(tmp_path):
    with pytest.raises(TrainingError, match="undefined in every validation"):
        tiny.fit(tmp_path / "r", [math.nan] * 3)
    assert json.loads((tmp_path / "r" / checkpoint.RESULT).read_text())["best"] is None
    assert checkpoint.read_weights(tmp_path / "r" / "best")[1]["nll"] is None
    before = log_of(tmp_path / "r")
    with pytest.raises(TrainingError, match="undefined in every validation"):
        tiny.trainer(tiny.config(tmp_path / "r", validate_every=1, steps=2), resume=True).fit()
    assert log_of(tmp_path / "r") == before


class Fixed(tiny.Overlap):
    """The same for every text that is trained on; in validation, where samples do not come from, the overlap."""

    def __init__(self, value):
        self.value = value

    def __call__(self, candidates, references=None, sources=None, columns=None):
        if "Name100" in " ".join(sources):  # of the validation articles
            return super().__call__(candidates, references)
        return np.full(len(candidates), self.value)


@pytest.mark.parametrize(
    ("value", "objective", "reason"),
    [
        (math.nan, {}, "the reward trained nothing in 4 updates: no sample had a reward"),
        (math.nan, {"gamma": 1.0}, "nothing was trained: the gradients of all 4 updates were 0: no sample had"),
        (0.0, {}, "the reward trained nothing in 4 updates: the samples of each article had equal rewards"),
        (0.1, {"gamma": 1.0}, "nothing was trained: the gradients of all 4 updates were 0: the samples of each"),
        (0.1, {"gamma": 1.0, "kl": 0.1, "estimator": "rloo", "samples": 2}, "trained"),
        (0.1, {"estimator": "reinforce++-baseline", "samples": 3}, "the reward trained nothing"),
        (0.1, {"kind": "ranking", "samples": 2}, "the reward trained nothing"),
        (math.nan, {"kind": "minimum-risk", "samples": 2}, "the reward trained nothing"),
        (math.nan, {"kind": "best-of-n", "samples": 2, "gamma": 1.0}, "nothing was trained"),
        (0.1, {"control": "shuffled"}, "the reward trained nothing"),
        (0.0, {"control": "constant", "control_advantage": 0.0, "gamma": 1.0}, "nothing was trained"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_run_whose_reward_trained_nothing_fails_and_says_so(tmp_path, value, objective, reason, interrupted):
    run = tmp_path / "r"
    config = tiny.config(run, objective.get("kind", "mixed"), objective=objective, steps=4, log_every=3)
    trainer = tiny.trainer(config, reward=Fixed(value))
    if interrupted:
        update = trainer.update
        trainer.update = lambda: (trainer.progress.step == 2 and signal.raise_signal(signal.SIGTERM), update())
        trainer.fit()
        assert not (run / checkpoint.RESULT).exists()
        trainer = tiny.trainer(config, reward=Fixed(value), resume=True)
    with pytest.raises(TrainingError, match=reason):
        trainer.fit()
    assert reason in json.loads((run / checkpoint.RESULT).read_text())["failed"]
    with pytest.raises(TrainingError, match=reason):  # whoever looks again is told the same
        tiny.trainer(config, reward=Fixed(value), resume=True).fit()


def test_a_constant_control_without_an_advantage_is_likelihood_and_no_failure(tmp_path):
    """That of a run whose advantages have the mean 0, as with groups of samples."""
    objective = {"control": "constant", "control_advantage": 0.0}
    tiny.trainer(tiny.config(tmp_path / "r", "mixed", objective=objective), reward=Fixed(0.1)).fit()


def test_a_single_sample_that_differs_is_enough(tmp_path):
    class Once(Fixed):
        calls = 0

        def __call__(self, candidates, references=None, sources=None, columns=None):
            self.calls += 1
            scores = super().__call__(candidates, references, sources)
            return scores + (np.arange(len(scores)) == 0 if self.calls == 3 else 0.0)

    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", steps=4, validate_decoded=0, choose_by="likelihood"),
                           reward=Once(0.1))  # fmt: skip
    assert trainer.fit().had_advantage
    assert json.loads((tmp_path / "r" / checkpoint.RESULT).read_text())["failed"] is None


@pytest.mark.parametrize("kind", ["mle", "mixed"])
def test_a_run_that_diverged_fails(tmp_path, kind):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", kind, learning_rate=1e4))
    with pytest.raises(TrainingError, match=r"the run has diverged: nll from .* to .*; start again with a lower"):
        trainer.fit()


def test_a_run_that_diverged_after_its_best_is_not_lost_but_says_so(tmp_path, capsys):
    progress, kept = tiny.fit(tmp_path / "r", [3.0, 2.0, 5e4])
    assert progress.best_step == kept == 1
    assert "warning: the run has diverged: nll from 3 to 5e+04" in capsys.readouterr().err


def test_undefined_rewards_are_logged_as_such_and_training_goes_on(tmp_path):
    def sometimes(candidates, references=None, sources=None, columns=None):
        values = tiny.Overlap()(candidates, references, sources)
        return np.where(np.arange(len(values)) % 3 == 0, np.nan, values)

    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", log_every=1), reward=sometimes)
    assert trainer.fit().step == 6
    rows = log_of(tmp_path / "r", "train")
    assert any(row["undefined_rewards"] > 0 for row in rows)
    assert all(math.isfinite(row["loss"]) for row in rows)


def test_a_reward_that_reads_no_references_trains(tmp_path):
    judged = [(summary, place / 10) for place, (_, summary) in enumerate(tiny.stories(10, first=100))]
    neighbors = rewards.load("bleu-neighbors", examples=judged, a=1, b=1)
    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", log_every=1), reward=neighbors)
    assert trainer.fit().step == 6
    rows = log_of(tmp_path / "r", "train")
    assert all(0.0 <= row["reward"] <= 0.9 and math.isfinite(row["loss"]) for row in rows)
    assert any(row["undefined_rewards"] > 0 for row in rows)
