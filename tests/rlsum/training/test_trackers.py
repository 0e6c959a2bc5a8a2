"""Trackers of a run: what they are told, and what is said where one cannot start."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker
from left import log_of

from rlsum.config import Config, ConfigError, DataConfig, Training
from rlsum.training.log.trackers import start_trackers
from rlsum.training.parallel import launch


class Kept(GeneralTracker):
    """Keeps what it is told, as wandb would."""

    name = "wandb"
    requires_logging_directory = False

    def __init__(self, project: str, **options: object) -> None:
        super().__init__(_blank=True)
        self.project, self.options, self.config = project, options, {}

    @property
    def tracker(self) -> Kept:
        return self

    def start(self) -> None:
        if self.options["name"] == "offline":
            raise RuntimeError("no key\nlog in")

    def store_init_configuration(self, values: dict) -> None:
        self.config = values


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Start the trackers of a run of this name; returns the accelerator."""
    monkeypatch.setitem(LOGGER_TYPE_TO_CLASS, "wandb", Kept)

    def start(name: str):
        training = Training(steps=3, tracker=("wandb", "tensorboard"))
        config = Config(run=str(tmp_path / name), data=DataConfig(train="t", valid="v"), training=training)
        accelerator = launch.new_accelerator(replace(training, tracker=None), Path(config.run))
        accelerator.log_with = ["wandb", "tensorboard"]
        start_trackers(config, accelerator, 0)
        return accelerator

    return start


def test_trackers_get_project_name_and_configuration(started, tmp_path):
    kept, tensorboard = started("mine").trackers
    assert (kept.project, kept.options) == ("rlsum", {"name": "mine", "dir": str(tmp_path / "mine")})
    assert kept.config["training.steps"] == 3
    assert kept.config["metrics"] == "['rouge-1', 'rouge-2', 'rouge-l']"
    tensorboard.finish()
    assert list((tmp_path / "mine" / "tensorboard").glob("events*"))


def test_one_that_cannot_start_is_one_line(started):
    with pytest.raises(ConfigError, match=r"^training\.tracker=wandb: cannot start \(no key\); mend it"):
        started("offline")


def test_one_that_is_not_installed_is_named_and_nothing_is_said_before(tmp_path, recwarn):
    training = replace(Training(steps=1), tracker=("tensorboard", "comet_ml"))
    with pytest.raises(ConfigError, match="comet_ml: not installed"):
        launch.new_accelerator(training, tmp_path)
    assert not [warning for warning in recwarn if "log_with" in str(warning.message)]


class Broken(Kept):
    """A tracker whose server is gone after the first line."""

    calls = 0

    def log(self, values: dict, step: int | None = None) -> None:
        self.calls += 1
        if self.calls > 1:
            raise ConnectionError("refused\nby the server")

    def finish(self) -> None:
        raise AssertionError("left out already")


def test_one_that_fails_is_left_out_and_the_run_goes_on(tmp_path, capsys):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", steps=3, log_every=1))
    broken = Broken("rlsum")
    trainer.accelerator.trackers = [broken]
    assert trainer.fit().step == 3
    assert broken.calls == 2
    assert capsys.readouterr().err.count("r warning: wandb failed and will not log any more (refused)") == 1


class Tables(Kept):
    """A tracker with tables."""

    def log_table(self, name: str, columns: list, data: list, step: int) -> None:
        self.config[name, step] = [dict(zip(columns, row, strict=True)) for row in data]

    def log(self, values: dict, step: int | None = None) -> None:
        assert all(isinstance(value, float) for value in values.values())


def test_texts_with_their_scores_are_tables(tmp_path):
    trainer = tiny.trainer(tiny.config(tmp_path / "r", "mixed", steps=2, validate_every=2))
    tables = Tables("rlsum")
    trainer.accelerator.trackers = [tables]
    trainer.fit()
    assert tables.config.keys() == {("samples", 0), ("samples", 2), ("training-samples", 2)}
    for (name, step), rows in tables.config.items():
        (written,) = (row for row in map(json.loads, (tmp_path / "r" / f"{name}.jsonl").open()) if row["step"] == step)
        written |= {"references": written["references"][0], **written.pop("scores", {})}
        assert [written | row for row in rows] == [written]
        assert {"source", "references", "reward"} <= rows[0].keys()


def read_tensorboard(run: Path) -> float:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    assert "| source |" in events.Tensors("samples/text_summary")[0].tensor_proto.string_val[0].decode()
    return events.Scalars("train/loss")[-1].value


def test_tensorboard_keeps_what_the_run_logs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trainer = tiny.trainer(tiny.config(tmp_path / "mine", steps=3, log_every=1))
    accelerator = launch.new_accelerator(replace(trainer.config.training, tracker=("tensorboard",)), trainer.run)
    trainer.accelerator.log_with = accelerator.log_with
    trainer.accelerator.project_configuration = accelerator.project_configuration
    start_trackers(trainer.config, trainer.accelerator, 0)
    trainer.fit()
    assert read_tensorboard(trainer.run) == pytest.approx(log_of(trainer.run, "train")[-1]["loss"])
