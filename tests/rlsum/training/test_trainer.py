"""The loop: resuming, stopping, choosing the best, refusing."""

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from left import log_of

from rlsum.errors import TrainingError
from rlsum.training import checkpoint
from rlsum.training.log.monitor import SAMPLES, TRAINED

# ---- the best, and when to stop --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values", "best", "best_step"),
    [
        ("mle", [3.0, 2.0, 2.5, 1.5, 1.5, 1.6], -1.5, 3),  # the lowest cross-entropy, and the first one of these
        ("mixed", [0.1, 0.4, 0.3, 0.6, 0.6], 0.6, 3),  # the highest reward
        ("mle", [math.nan, 2.0, math.nan, 3.0], -2.0, 1),  # one that is not defined does not stay the best
    ],
)
def test_the_best_validation_is_kept(tmp_path, kind, values, best, best_step):
    progress, step = tiny.fit(tmp_path / "r", values, kind)
    assert (progress.best, progress.best_step, step) == (best, best_step, best_step)


def test_with_coverage_the_whole_loss_chooses(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", model={"coverage": True}, objective={"coverage_weight": 2.0}))
    values = trainer.measure().values
    assert values["coverage"] > 0
    assert trainer.choice(values) == pytest.approx(-(values["nll"] + 2 * values["coverage"]))
    assert "coverage" not in tiny.trainer(tiny.config(tmp_path / "without")).measure().values


def test_any_metric_may_choose(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", choose_by="overlap"))
    values = iter([0.1, 0.4, 0.3, 0.2])
    measure = trainer.measure
    trainer.measure = lambda: replace(r := measure(), values={**r.values, "overlap": next(values), "reward": 0.5})
    assert trainer.fit().best_step == 2
    likelihood = tiny.trainer(tiny.config(tmp_path / "s", "mixed", choose_by="likelihood", validate_decoded=0))
    assert likelihood.fit().best == -min(row["nll"] for row in log_of(tmp_path / "s", "valid"))


def test_the_start_may_be_the_best(tmp_path):
    start = tiny.trainer(tiny.config(tmp_path / "s")).model.state_dict()
    progress, step = tiny.fit(tmp_path / "r", [1.0, 2.0, 3.0])
    assert progress.best_step == step == 0
    weights, _ = checkpoint.read_weights(tmp_path / "r" / "best")
    torch.testing.assert_close(weights, dict(start), rtol=0, atol=0)


def test_early_stopping_counts_validations_without_gain(tmp_path):
    progress, _ = tiny.fit(tmp_path / "r", [5, 4, 4.5, 3, 3, 3.5, 1, 1], patience=2)
    assert (progress.step, progress.best_step, progress.finished) == (5, 3, True)
    whole, _ = tiny.fit(tmp_path / "w", [5, 4, 4.5, 3, 3, 3.5, 1, 1], patience=None)
    assert (whole.step, whole.best_step, whole.finished) == (7, 6, False)


def test_a_stopped_run_stays_stopped_when_resumed(tmp_path):
    tiny.fit(tmp_path / "r", [1, 2, 3, 0, 0], patience=2)
    config = tiny.config(tmp_path / "r", validate_every=1, steps=4, patience=2)
    assert tiny.trainer(config, resume=True).fit().step == 2


# ---- validation and logs ---------------------------------------------------------------------------------------------


def test_validation_reports_every_reward_and_property_and_is_of_the_kept_weights(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", steps=4, validate_every=2, log_every=1))
    trainer.fit()
    valid = log_of(tmp_path / "r", "valid")
    assert [row["step"] for row in valid] == [0, 2, 4]
    assert {"nll", "reward", "overlap", "length", "repetition", "novelty", "copy-rate"} <= valid[0].keys()
    train = log_of(tmp_path / "r", "train")
    assert [row["step"] for row in train] == [1, 2, 3, 4]
    assert {"loss", "nll", "reward", "baseline_reward", "gradient_norm", "sample_cut_off", "gamma"} <= train[0].keys()
    samples = log_of(tmp_path / "r", name=SAMPLES)
    assert [row["step"] for row in samples] == [0, 2, 4]
    assert {"id", "source", "references", "candidate"} <= samples[0].keys()
    assert {"reward", "overlap", "length"} <= samples[0]["scores"].keys()
    again = {name: None if math.isnan(value) else value for name, value in trainer.measure().values.items()}
    assert again == {name: value for name, value in valid[-1].items() if name not in ("step", "kind")}


def test_validation_does_not_depend_on_the_batch_size(tmp_path):
    values = [
        tiny.trainer(tiny.config(tmp_path / str(size), batch_size=size, model={"dropout": 0.3})).measure().values
        for size in (1, 2, 50)
    ]
    for other in values[1:]:
        assert other == pytest.approx(values[0], rel=1e-5, nan_ok=True)


def test_dropout_acts_in_training_and_not_in_validation(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", steps=1, model={"dropout": 0.5}))
    modes = []
    step, measure = trainer.step, trainer.measure
    trainer.step = lambda *arguments: (modes.append(trainer.model.training), step(*arguments))[1]
    trainer.measure = lambda: (measure(), modes.append(trainer.model.training))[0]
    trainer.fit()
    assert modes == [False, True, False]


# ---- updates ---------------------------------------------------------------------------------------------------------


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
        return seen[0], log_of(tmp_path / str(clip), "train")[0]["gradient_norm"]

    free, logged = norms(1e6)
    assert free == pytest.approx(logged, rel=1e-4)
    clipped, logged_clipped = norms(free / 10)
    assert clipped == pytest.approx(free / 10, rel=1e-3)
    assert logged_clipped == pytest.approx(logged, rel=1e-5)


def test_the_learning_rate_and_gamma_follow_their_schedules(tmp_path):
    options = {"gamma": 0.5, "gamma_end": 1.0}
    config = tiny.config(tmp_path / "r", "mixed", objective=options, steps=5, log_every=1, warmup=2, schedule="linear")
    tiny.trainer(config).fit()
    rows = log_of(tmp_path / "r", "train")
    assert [row["gamma"] for row in rows] == pytest.approx([0.5, 0.625, 0.75, 0.875, 1.0])
    assert [row["learning_rate"] for row in rows] == pytest.approx([0.01, 0.02, 0.02, 0.02 * 2 / 3, 0.02 / 3])


def test_a_gamma_of_zero_trains_exactly_as_likelihood(tmp_path):
    mle = tiny.trainer(tiny.config(tmp_path / "a", model={"dropout": 0.2}))
    control = tiny.trainer(tiny.config(tmp_path / "b", "mixed", model={"dropout": 0.2}, objective={"gamma": 0}))
    mle.fit()
    control.fit()
    torch.testing.assert_close(mle.model.state_dict(), control.model.state_dict(), rtol=0, atol=0)


def test_bf16_trains(tmp_path, fresh_precision, monkeypatch, capsys):
    monkeypatch.setattr("torch.cpu._is_amx_tile_supported", lambda: False)
    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", mixed_precision="bf16", steps=3, log_every=1))
    trainer.fit()
    assert "mixed_precision=bf16 is slower than float32" in capsys.readouterr().err
    rows = log_of(tmp_path / "r", "train")
    assert len(rows) == 3
    assert all(math.isfinite(row["loss"]) for row in rows)
    assert all(p.dtype == torch.float32 and p.isfinite().all() for p in trainer.model.parameters())


def test_a_trainer_whose_precision_another_has_replaced_does_not_train_in_that_one(tmp_path):
    from rlsum.training.parallel import launch

    first = tiny.trainer(tiny.config(tmp_path / "r"))
    launch.new_accelerator(tiny.config(tmp_path / "r", mixed_precision="bf16").training, tmp_path)
    with pytest.raises(TrainingError, match="=no: a trainer with bf16 was made after this one"):
        first.fit()
    launch.new_accelerator(first.config.training, tmp_path)
    first.fit()


# ---- what a person watches -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"decode_batch": 3}])
def test_every_validation_shows_samples_as_they_were_trained_on(tmp_path, options):
    config = tiny.config(
        tmp_path / "r", "mixed", objective={"samples": 2}, steps=4, log_every=1, sample_outputs=4, **options
    )
    tiny.trainer(config, train=tiny.stories(12)).fit()
    rows = log_of(tmp_path / "r", name=TRAINED)
    train = {row["step"]: row for row in log_of(tmp_path / "r", "train")}
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
        measure, place = trainer.measure, trainer.progress.step

        def measured():
            nonlocal place
            if place == steps:
                raise KeyboardInterrupt
            values = {"reward": 0.1 + 0.1 * min(place, 2), "overlap": 0.5 - 0.05 * min(place, 2), "length": 10.0}
            place += 1
            return replace(measure(), values={"nll": 1.0, **values})

        trainer.measure = measured
        place = place + 1 if resume else 0
        with pytest.raises(KeyboardInterrupt) if steps < 5 else nullcontext():
            trainer.fit()
        return [line for line in capsys.readouterr().err.splitlines() if "warning" in line]

    first, second = lines(resume=False, steps=3), lines(resume=True, steps=5)
    assert ["overlap fell" in line for line in first] == [True, True]  # at first, and twice as far
    assert len(second) == 1, "only the summary: a resumed run repeats nothing"
    assert "after 2 updates" in second[0]
