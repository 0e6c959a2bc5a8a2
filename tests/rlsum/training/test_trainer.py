"""The loop: resuming, stopping, choosing the best, refusing."""

import json
import math
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
from left import assert_same_run, log_of, weights_of

import rewards
from rewards import RewardError
from rlsum.errors import UserError
from rlsum.training import checkpoint
from rlsum.training.log.monitor import SAMPLES, TRAINED, forget_after
from rlsum.training.trainer import TrainingError, optimizer_of
from rlsum.training.update import StepResult

SUPPORT = Path(__file__).parents[2] / "support"
MOMENTS = {
    "writing-first-state": True,
    "writing-state": True,
    "writing-weights": True,
    "before-rename": True,
    "between-weights-and-state": True,
    "between-log-and-state": True,
    "in-update": True,
    "at-random-1": False,
    "at-random-2": False,
}


# ---- killed and resumed -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A folder of runs that were killed, and the folder of one that was not."""
    sys.path.insert(0, str(SUPPORT))
    from killed import trainer

    folder = tmp_path_factory.mktemp("runs")
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "killed.py"), str(folder)], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    outcome = dict(line.split() for line in done.stdout.splitlines())
    trainer(folder / "whole").fit()
    return folder, outcome, trainer


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_resumed_equals_uninterrupted(killed, moment):
    folder, outcome, trainer = killed
    if MOMENTS[moment]:
        assert outcome[moment] == "killed"
    run = folder / moment
    # killed before its first state was whole, a run is started again
    trainer(run, resume=(run / checkpoint.STATE).exists()).fit()
    assert_same_run(run, folder / "whole")


def test_the_run_that_is_killed_is_one_in_which_all_of_the_state_matters(killed):
    """Resuming with a fresh optimiser or at another update must show."""
    folder, _, trainer = killed
    rows = [row for row in log_of(folder / "whole") if row["kind"] == "train"]
    assert [row["step"] for row in rows] == [2, 3, 4, 6, 8]
    assert len({row["gamma"] for row in rows}) == 5
    assert len({row["learning_rate"] for row in rows}) >= 4
    assert all(row["advantage_std"] > 0 for row in rows)
    run = folder / "forgetful"
    forgetful = trainer(run)
    update = forgetful._update

    def forget():
        if forgetful.progress.step == 4:
            forgetful.optimizer.state.clear()
        update()

    forgetful._update = forget
    forgetful.fit()
    with pytest.raises(AssertionError):
        assert_same_run(run, folder / "whole")


def test_resuming_a_finished_run_changes_nothing(killed):
    folder, _, trainer = killed
    before = {path: path.read_bytes() for path in sorted((folder / "whole").rglob("*")) if path.is_file()}
    trainer(folder / "whole", resume=True).fit()
    assert {path: path.read_bytes() for path in before} == before


def test_logs_forget_what_comes_after_and_what_was_cut_in_a_character(tmp_path):
    path = tmp_path / "m.jsonl"
    rows = [json.dumps({"step": step, "text": "a\u2028é\x85b"}, ensure_ascii=False) for step in (0, 2, 4)]
    whole = "".join(row + "\n" for row in rows).encode()
    path.write_bytes(whole + rows[2].encode()[: -len('b"}') - 3])
    with pytest.raises(UnicodeDecodeError):
        path.read_text(encoding="utf-8")
    forget_after(path, 2)
    assert path.read_bytes() == "".join(row + "\n" for row in rows[:2]).encode()
    forget_after(path, -1)
    assert path.read_bytes() == b""
    forget_after(tmp_path / "none.jsonl", 3)


# ---- the best, and when to stop -----------------------------------------------------------------------------------


def fit(run, values, kind="mle", **training):
    """A run whose validations have the given values, and where its best checkpoint is from."""
    name = "reward" if kind == "mixed" else "nll"
    trainer = tiny.trainer(tiny.config(run, kind, validate_every=1, steps=len(values) - 1, **training))
    given, measure = iter(values), trainer._measure

    def measured():
        result = measure()
        return replace(result, values={**result.values, name: next(given)})

    trainer._measure = measured
    progress = trainer.fit()
    return progress, checkpoint.read_weights(run / "best")[1]["step"]


@pytest.mark.parametrize(
    ("kind", "values", "best", "best_step"),
    [
        ("mle", [3.0, 2.0, 2.5, 1.5, 1.5, 1.6], -1.5, 3),  # the lowest cross-entropy, and the first one of these
        ("mixed", [0.1, 0.4, 0.3, 0.6, 0.6], 0.6, 3),  # the highest reward
        ("mle", [math.nan, 2.0, math.nan, 3.0], -2.0, 1),  # one that is not defined does not stay the best
    ],
)
def test_the_best_validation_is_kept(tmp_path, kind, values, best, best_step):
    progress, step = fit(tmp_path / "r", values, kind)
    assert (progress.best, progress.best_step, step) == (best, best_step, best_step)


def test_with_coverage_the_whole_loss_chooses(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", model={"coverage": True}, objective={"coverage_weight": 2.0}))
    values = trainer._measure().values
    assert values["coverage"] > 0
    assert trainer.choice(values) == pytest.approx(-(values["nll"] + 2 * values["coverage"]))
    assert "coverage" not in tiny.trainer(tiny.config(tmp_path / "without"))._measure().values


def test_any_metric_may_choose(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", choose_by="overlap"))
    values = iter([0.1, 0.4, 0.3, 0.2])
    measure = trainer._measure
    trainer._measure = lambda: replace(r := measure(), values={**r.values, "overlap": next(values), "reward": 0.5})
    assert trainer.fit().best_step == 2
    likelihood = tiny.trainer(tiny.config(tmp_path / "s", "mixed", choose_by="likelihood", validate_decoded=0))
    assert likelihood.fit().best == -min(row["nll"] for row in log_of(tmp_path / "s") if row["kind"] == "valid")


def test_the_start_may_be_the_best(tmp_path):
    start = tiny.trainer(tiny.config(tmp_path / "s")).model.state_dict()
    progress, step = fit(tmp_path / "r", [1.0, 2.0, 3.0])
    assert progress.best_step == step == 0
    weights, _ = checkpoint.read_weights(tmp_path / "r" / "best")
    assert all(torch.equal(weights[name], start[name]) for name in weights)


def test_early_stopping_counts_validations_without_gain(tmp_path):
    progress, _ = fit(tmp_path / "r", [5, 4, 4.5, 3, 3, 3.5, 1, 1], patience=2)
    assert (progress.step, progress.best_step, progress.finished) == (5, 3, True)
    whole, _ = fit(tmp_path / "w", [5, 4, 4.5, 3, 3, 3.5, 1, 1], patience=None)
    assert (whole.step, whole.best_step, whole.finished) == (7, 6, False)


def test_a_stopped_run_stays_stopped_when_resumed(tmp_path):
    fit(tmp_path / "r", [1, 2, 3, 0, 0], patience=2)
    config = tiny.config(tmp_path / "r", validate_every=1, steps=4, patience=2)
    assert tiny.trainer(config, resume=True).fit().step == 2


# ---- validation and logs ------------------------------------------------------------------------------------------


def test_validation_reports_every_reward_and_property_and_is_of_the_kept_weights(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", steps=4, validate_every=2, log_every=1))
    trainer.fit()
    valid = [row for row in log_of(tmp_path / "r") if row["kind"] == "valid"]
    assert [row["step"] for row in valid] == [0, 2, 4]
    assert {"nll", "reward", "overlap", "length", "repetition", "novelty", "copy-rate"} <= valid[0].keys()
    train = [row for row in log_of(tmp_path / "r") if row["kind"] == "train"]
    assert [row["step"] for row in train] == [1, 2, 3, 4]
    assert {"loss", "nll", "reward", "baseline_reward", "gradient_norm", "sample_cut_off", "gamma"} <= train[0].keys()
    samples = log_of(tmp_path / "r", SAMPLES)
    assert [row["step"] for row in samples] == [0, 2, 4]
    assert {"id", "source", "references", "candidate"} <= samples[0].keys()
    assert {"reward", "overlap", "length"} <= samples[0]["scores"].keys()
    again = {name: None if math.isnan(value) else value for name, value in trainer._measure().values.items()}
    assert again == {name: value for name, value in valid[-1].items() if name not in ("step", "kind")}


def test_validation_does_not_depend_on_the_batch_size(tmp_path):
    values = [
        tiny.trainer(tiny.config(tmp_path / str(size), batch_size=size, model={"dropout": 0.3}))._measure().values
        for size in (1, 2, 50)
    ]
    for other in values[1:]:
        assert other == pytest.approx(values[0], rel=1e-5, nan_ok=True)


def test_dropout_acts_in_training_and_not_in_validation(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", steps=1, model={"dropout": 0.5}))
    modes = []
    step, measure = trainer.step, trainer._measure
    trainer.step = lambda *arguments: (modes.append(trainer.model.training), step(*arguments))[1]
    forward = trainer.model.forward
    trainer._measure = lambda: (measure(), modes.append(trainer.model.training))[0]
    trainer.fit()
    assert modes == [False, True, False]
    assert forward is not None


# ---- updates ------------------------------------------------------------------------------------------------------


def test_gradients_are_clipped_and_the_norm_logged_is_that_before(tmp_path):
    def norms(clip):
        trainer = tiny.trainer(tiny.config(tmp_path / str(clip), clip=clip, steps=1, log_every=1))
        seen, apply = [], trainer.optimizer.step

        def look(*arguments):
            total = sum(p.grad.square().sum() for p in trainer.model.parameters() if p.grad is not None)
            seen.append(math.sqrt(total))
            apply()

        trainer.optimizer.step = look
        trainer.fit()
        return seen[0], next(r["gradient_norm"] for r in log_of(tmp_path / str(clip)) if r["kind"] == "train")

    free, logged = norms(1e6)
    assert free == pytest.approx(logged, rel=1e-4)
    clipped, logged_clipped = norms(free / 10)
    assert clipped == pytest.approx(free / 10, rel=1e-3)
    assert logged_clipped == pytest.approx(logged, rel=1e-5)


def test_the_learning_rate_and_gamma_follow_their_schedules(tmp_path):
    options = {"gamma": 0.5, "gamma_end": 1.0}
    config = tiny.config(tmp_path / "r", "mixed", objective=options, steps=5, log_every=1, warmup=2, schedule="linear")
    tiny.trainer(config).fit()
    rows = [row for row in log_of(tmp_path / "r") if row["kind"] == "train"]
    assert [row["gamma"] for row in rows] == pytest.approx([0.5, 0.625, 0.75, 0.875, 1.0])
    assert [row["learning_rate"] for row in rows] == pytest.approx([0.01, 0.02, 0.02, 0.02 * 2 / 3, 0.02 / 3])


def test_a_gamma_of_zero_trains_exactly_as_likelihood(tmp_path):
    mle = tiny.trainer(tiny.config(tmp_path / "a", model={"dropout": 0.2}))
    control = tiny.trainer(tiny.config(tmp_path / "b", "mixed", model={"dropout": 0.2}, objective={"gamma": 0}))
    mle.fit()
    control.fit()
    pairs = zip(mle.model.state_dict().values(), control.model.state_dict().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_bf16_trains(tmp_path, monkeypatch, capsys):
    from accelerate.state import AcceleratorState

    monkeypatch.setattr("torch.cpu._is_amx_tile_supported", lambda: False)
    AcceleratorState._reset_state(reset_partial_state=True)
    try:
        trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", mixed_precision="bf16", steps=3, log_every=1))
        trainer.fit()
    finally:
        AcceleratorState._reset_state(reset_partial_state=True)
    assert "mixed_precision=bf16 is slower than float32" in capsys.readouterr().err
    rows = [row for row in log_of(tmp_path / "r") if row["kind"] == "train"]
    assert len(rows) == 3
    assert all(math.isfinite(row["loss"]) for row in rows)
    assert all(p.dtype == torch.float32 and p.isfinite().all() for p in trainer.model.parameters())


def test_a_trainer_whose_precision_another_has_replaced_does_not_train_in_that_one(tmp_path):
    from rlsum.training.parallel import launch

    first = tiny.trainer(tiny.config(tmp_path / "r"))
    launch.accelerator(tiny.config(tmp_path / "r", mixed_precision="bf16").training, tmp_path)
    with pytest.raises(TrainingError, match="=no: a trainer with bf16 was made after this one"):
        first.fit()
    launch.accelerator(first.config.training, tmp_path)
    first.fit()


# ---- refusing to go on --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_with_batch_and_state_saved(tmp_path, value):
    run = tmp_path / "r"
    trainer = tiny.trainer(tiny.config(run, steps=6, validate_every=2, accumulate=2))
    step, before = trainer.step, {}

    def broken(number, model, batch, rollout):
        result = step(number, model, batch)
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


def test_a_reward_that_no_article_defines_stops_the_run_at_once(tmp_path):
    class Nowhere(tiny.Overlap):
        def __call__(self, candidates, references=None, sources=None, columns=None):
            return np.full(len(candidates), np.nan)

        def undefined(self, candidate, references=None, source=None, columns=None):
            return "no content words in the reference"

    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed"), reward=Nowhere())
    message = r"reward is undefined on all 5 validation articles \(no content words in the reference\)"
    with pytest.raises(TrainingError, match=message):
        trainer.fit()
    assert not (tmp_path / "r" / checkpoint.RESULT).exists()


def test_a_reward_that_is_infinite_stops_the_run_at_once(tmp_path):
    class Endless(tiny.Overlap):
        def __call__(self, candidates, references=None, sources=None, columns=None):
            return np.full(len(candidates), np.inf)

    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed"), reward=Endless())
    with pytest.raises(RewardError, match="overlap is inf for 5 of 5 candidates, first for"):
        trainer.fit()


def test_a_value_that_is_never_defined_is_null_in_every_file_and_the_run_fails(tmp_path):
    with pytest.raises(TrainingError, match="undefined in every validation"):
        fit(tmp_path / "r", [math.nan] * 3)
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
        update = trainer._update
        trainer._update = lambda: (trainer.progress.step == 2 and signal.raise_signal(signal.SIGTERM), update())
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
    progress, kept = fit(tmp_path / "r", [3.0, 2.0, 5e4])
    assert progress.best_step == kept == 1
    assert "warning: the run has diverged: nll from 3 to 5e+04" in capsys.readouterr().err


def test_a_model_of_which_no_weight_is_trained_is_refused(tmp_path):
    frozen = tiny.model().requires_grad_(False)
    with pytest.raises(TrainingError, match="no weight of the model is trained"):
        optimizer_of(tiny.config(tmp_path / "r").training, frozen.parameters())


def test_undefined_rewards_are_logged_as_such_and_training_goes_on(tmp_path):
    def sometimes(candidates, references=None, sources=None, columns=None):
        values = tiny.Overlap()(candidates, references, sources)
        return np.where(np.arange(len(values)) % 3 == 0, np.nan, values)

    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", log_every=1), reward=sometimes)
    assert trainer.fit().step == 6
    rows = [row for row in log_of(tmp_path / "r") if row["kind"] == "train"]
    assert any(row["undefined_rewards"] > 0 for row in rows)
    assert all(math.isfinite(row["loss"]) for row in rows)


def test_a_reward_that_reads_no_references_trains(tmp_path):
    judged = [(summary, place / 10) for place, (_, summary) in enumerate(tiny.stories(10, first=100))]
    neighbors = rewards.load("bleu-neighbors", examples=judged, a=1, b=1)
    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", log_every=1), reward=neighbors)
    assert trainer.fit().step == 6
    rows = [row for row in log_of(tmp_path / "r") if row["kind"] == "train"]
    assert all(0.0 <= row["reward"] <= 0.9 and math.isfinite(row["loss"]) for row in rows)
    assert any(row["undefined_rewards"] > 0 for row in rows)


# ---- what a person watches ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"decode_batch": 3}])
def test_every_validation_shows_samples_as_they_were_trained_on(tmp_path, options):
    config = tiny.config(
        tmp_path / "r", "mixed", objective={"samples": 2}, steps=4, log_every=1, sample_outputs=4, **options
    )
    tiny.trainer(config, train=tiny.stories(12)).fit()
    rows = log_of(tmp_path / "r", TRAINED)
    train = {row["step"]: row for row in log_of(tmp_path / "r") if row["kind"] == "train"}
    assert [row["step"] for row in rows] == [2] * 8 + [4] * 8  # all samples of an update
    for step in (2, 4):
        shown = [row for row in rows if row["step"] == step]
        assert [a["id"] == b["id"] for a, b in zip(shown[::2], shown[1::2], strict=True)] == [True] * 4
        assert np.mean([row["reward"] for row in shown]) == pytest.approx(train[step]["reward"])
        assert np.mean([row["advantage"] for row in shown]) == pytest.approx(train[step]["advantage_mean"])
        references = {f"{i}": [reference] for i, (_, reference) in enumerate(tiny.stories(12))}
        for row in shown:
            assert row["reward"] == pytest.approx(tiny.Overlap()([row["text"]], [references[row["id"]]])[0])
            assert row["advantage"] == pytest.approx(row["reward"] - row["baseline_reward"])
            assert row["references"] == references[row["id"]]
            assert row["sample_cut_off"] == (row["sample_length"] == 5 and len(row["text"].split()) == 5)


def test_likelihood_training_has_no_samples_to_show(tmp_path):
    tiny.trainer(tiny.config(tmp_path / "r")).fit()
    assert not (tmp_path / "r" / TRAINED).exists()


def test_a_run_says_once_what_moves_with_the_reward_and_again_at_its_end(tmp_path, capsys):
    def lines(resume, steps):
        config = tiny.config(tmp_path / "r", "mixed", validate_every=1, steps=4)
        trainer = tiny.trainer(config, resume=resume)
        measure, place = trainer._measure, trainer.progress.step

        def measured():
            nonlocal place
            if place == steps:
                raise KeyboardInterrupt
            values = {"reward": 0.1 + 0.1 * min(place, 2), "overlap": 0.5 - 0.05 * min(place, 2), "length": 10.0}
            place += 1
            return replace(measure(), values={"nll": 1.0, **values})

        trainer._measure = measured
        place = place + 1 if resume else 0
        with pytest.raises(KeyboardInterrupt) if steps < 5 else nullcontext():
            trainer.fit()
        return [line for line in capsys.readouterr().err.splitlines() if "warning" in line]

    first, second = lines(resume=False, steps=3), lines(resume=True, steps=5)
    assert ["overlap fell" in line for line in first] == [True, True]  # at first, and twice as far
    assert len(second) == 1, "only the summary: a resumed run repeats nothing"
    assert "after 2 updates" in second[0]
