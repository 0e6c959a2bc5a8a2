"""A run is stopped, resumed, trained on, and refuses what would end elsewhere."""

import json
import os
import shutil
import signal

import pytest
from claimed import claimed
from commands import refused, run
from left import assert_same_run, assert_same_states, log_of
from rows import changed
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rlsum import config as configs
from rlsum.training import checkpoint
from rlsum.training.trainer import Trainer

pytestmark = pytest.mark.usefixtures("own_module_cache")


def test_resuming_from_an_earlier_state_ends_in_the_same_weights(place, tmp_path):
    """A run that stopped after two updates, as after a kill: the state of update 2 with the logs of a whole run."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    options = [place / "mixed.yaml", "--init", place / "mle"]
    assert run("train", *options, f"run={whole}").exit_code == 0
    save, states = checkpoint.save_state, []

    def keep(folder, *arguments):
        save(folder, *arguments)
        states.append((folder / checkpoint.STATE).read_bytes())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "save_state", keep)
        assert run("train", *options, f"run={stopped}").exit_code == 0
    (stopped / checkpoint.STATE).write_bytes(states[1])
    assert run("train", "--resume", stopped).exit_code == 0
    assert_same_states(stopped, whole)
    assert log_of(stopped) == log_of(whole)
    for name in ("train/loss_rl", "valid/nll"):  # no update is seen twice
        assert curve(stopped, name) == curve(whole, name)


@pytest.mark.parametrize(
    ("where", "call", "number"),
    [
        ("update", 1, signal.SIGINT),  # in the middle of a line of the log
        ("update", 2, signal.SIGTERM),  # before the samples of this update are written
        ("_backward", 3, signal.SIGUSR1),
        ("measure", 2, signal.SIGTERM),
        ("measure", 3, signal.SIGUSR1),  # of the last validation
        ("_save_state", 2, signal.SIGINT),
    ],
)
def test_a_signal_saves_a_state_that_continues_as_if_nothing_had_happened(
    place, tmp_path, monkeypatch, whole, number, where, call
):
    stopped, calls, original = tmp_path / "stopped run", [], getattr(Trainer, where)

    def signalled(self, *arguments):
        calls.append(where)
        if len(calls) == call:
            os.kill(os.getpid(), number)
        return original(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, where, signalled)
        ended = run("train", *interrupted(place), f"run={stopped}")
    assert ended.exit_code == 128 + number
    assert f"rlsum train --resume '{stopped}'" in ended.output
    assert not (stopped / checkpoint.RESULT).exists()
    assert run("train", "--resume", stopped).exit_code == 0
    assert_same_run(stopped, whole)
    assert {path.name for path in stopped.iterdir()} == {path.name for path in whole.iterdir()}
    assert (stopped / checkpoint.RESULT).read_bytes() == (whole / checkpoint.RESULT).read_bytes()


def interrupted(place):
    """A run with lines of the log that end between validations, and at them, and with samples in validation."""
    options = ["training.validate_every=2", "training.log_every=3", "decoding.method=sample"]
    return [place / "mixed.yaml", "--init", place / "mle", *options]


@pytest.fixture(scope="module")
def whole(place):
    """That run without a signal."""
    assert run("train", *interrupted(place), f"run={place / 'whole'}").exit_code == 0
    return place / "whole"


def test_a_run_that_never_beat_its_start_says_so(place, tmp_path):
    folder = tmp_path / "r"
    options = ["training.learning_rate=1e-12", "training.choose_by=rouge-1", "training.validate_decoded=6"]
    ended = run("train", place / "mixed.yaml", "--init", place / "mle", f"run={folder}", *options)
    assert "no validation was better than the start" in ended.output
    made = run("generate", folder, place / "data/test.jsonl", "-o", tmp_path / "o.jsonl")
    assert "the weights that the run began with" in made.output
    others = run("generate", place / "mle", place / "data/test.jsonl", "-o", tmp_path / "m.jsonl")
    assert "began with" not in others.output


def test_the_command_that_began_a_run_resumes_it_whatever_the_run_has_chosen_itself(place, tmp_path):
    command = ["train", place / "mixed.yaml", "--init", place / "mle", f"run={tmp_path / 'r'}", "--auto-resume"]
    assert run(*command, "language=ja").exit_code == 0
    stored = configs.load(tmp_path / "r/config.yaml")
    assert None not in (stored.data.tokenizer, stored.objective.divisor, stored.model)
    assert run(*command, "language=ja").exit_code == 0
    assert run(*command, "language=ja", "training.steps=6").exit_code == 0
    for other in ("language=en", "training.seed=9", "data.tokenizer=whitespace", "objective.divisor=7"):
        assert "differ from the run's own config.yaml" in refused(*command, "language=ja", other)


def test_a_run_goes_on_from_no_other_start_and_in_no_other_folder(place, tmp_path):
    """Either would be left out without a word."""
    folder, other = tmp_path / "r", tmp_path / "other"
    command = ["train", place / "mixed.yaml", f"run={folder}", "--auto-resume", "--init"]
    assert run(*command, place / "mle").exit_code == 0
    shutil.copytree(place / "mle", other)
    assert run(*command, other).exit_code == 0  # the same weights
    assert run("train", place / "mle.yaml", f"run={tmp_path / 'b'}", "training.seed=9").exit_code == 0
    message = refused(*command, tmp_path / "b")
    assert "started with other weights" in message
    assert "no model.safetensors" in refused(*command, tmp_path / "nothing")
    assert "stays in its folder" in refused("train", "--resume", folder, f"run={other}", "training.steps=9")
    moved = folder.rename(tmp_path / "moved")
    assert run("train", "--resume", moved, f"run={moved}").exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        ["training.accumulate=2", "training.optimizer=adafactor", "training.warmup=4", "training.log_every=3"],
        [],
        ["data.train_limit=7", "training.patience=9", "training.validate_every=1"],  # several epochs
        [
            "training.decode_batch=3", "objective.estimator=grpo", "objective.kl=0.1", "objective.clip=0.2",
            "objective.updates_per_sample=2",
        ],
    ],
)  # fmt: skip
def test_a_run_that_is_trained_on_is_the_run_that_began_with_more_updates(place, tmp_path, options):
    whole, folder = tmp_path / "whole", tmp_path / "r"
    rewarded = "objective.kl=0.1" in options
    start = [place / "mixed.yaml", "--init", place / "mle"] if rewarded else [place / "mle.yaml"]
    assert run("train", *start, f"run={whole}", "training.steps=6", *options).exit_code == 0
    assert run("train", *start, f"run={folder}", *options).exit_code == 0
    assert run("train", "--resume", folder, "training.steps=6").exit_code == 0
    assert_same_states(folder, whole)
    assert log_of(folder) == log_of(whole)
    assert (folder / "result.json").read_bytes() == (whole / "result.json").read_bytes()
    assert configs.load(folder / "config.yaml").training.steps == 6
    for name in ("model.safetensors", "config.yaml"):
        kept = [(path / "best" / name).read_bytes().replace(b"/whole", b"/r") for path in (folder, whole)]
        assert kept[0] == kept[1]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["training.schedule=linear"], "its update 2 had the learning rate 0.0075, in a run of so many updates it"),
        (["objective.gamma_end=0.5"], "its update 2 had the gamma 0.8"),
        (["training.steps=3"], "its last validation, after update 3, is none of those of training.validate_every=2"),
        (["training.steps=3", "objective.updates_per_sample=2", "objective.clip=0.2"], ".updates_per_sample=2 that"),
        (["training.patience=1", "training.learning_rate=1"], "training.patience=1 ended it after update 2"),
    ],
)  # fmt: skip
def test_a_run_that_would_end_elsewhere_is_not_trained_on(place, tmp_path, options, reason):
    folder, rewarded = tmp_path / "r", any(option.startswith("objective") for option in options)
    start = [place / "mixed.yaml", "--init", place / "mle"] if rewarded else [place / "mle.yaml"]
    assert run("train", *start, f"run={folder}", *options).exit_code == 0
    before = (folder / checkpoint.STATE).read_bytes()
    message = refused("train", "--resume", folder, "training.steps=8")
    assert reason in message
    assert "training.steps=8" in message
    assert f"--init {folder} run=NEW" in message
    assert (folder / checkpoint.STATE).read_bytes() == before
    assert run("train", "--resume", folder).exit_code == 0


def curve(folder, name):
    """The (update, value) pairs that tensorboard shows."""
    events = EventAccumulator(str(next(path.parent for path in folder.rglob("events.out.tfevents*"))))
    return [(event.step, event.value) for event in events.Reload().Scalars(name)]


def test_resume_takes_the_runs_own_configuration_and_refuses_another(place):
    assert run("train", place / "mle.yaml", "--resume", place / "mle").exit_code == 0
    message = refused("train", place / "mle.yaml", "training.seed=9", "--resume", place / "mle")
    assert "differ from the run's own config.yaml" in message
    assert "differ from the run's own" in refused("train", "--resume", place / "mle", "training.seed=9")
    assert "the run has 4" in refused("train", "--resume", place / "mle", "training.steps=3")
    assert run("train", "--resume", place / "mle", "training.steps=4").exit_code == 0


def resumable(place, folder, **changes):
    """A copy of the finished run, its environment.json with other facts."""
    shutil.copytree(place / "mle", folder)
    changed(folder / "environment.json", **changes)
    return folder


def test_a_run_whose_reward_has_changed_is_not_resumed(place, tmp_path):
    folder = resumable(place, tmp_path / "r")
    stored = folder / "best" / checkpoint.REWARDS
    (signature,) = json.loads(stored.read_text()).values()
    stored.write_text(json.dumps({"rouge-l": "rouge-l|another"}))
    assert f"reward rouge-l: rouge-l|another then, {signature} now" in refused("train", "--resume", folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"processes": 2}, "processes: 2 then, 1 now"),
        ({"articles": {"train": "0", "valid": "0"}}, "articles of data.train: 0 then, "),
    ],
)
def test_a_run_with_other_articles_or_processes_is_not_resumed(place, tmp_path, changes, message):
    assert message in refused("train", "--resume", resumable(place, tmp_path / "r", **changes))


def test_articles_that_changed_in_their_place_are_noticed(place, tmp_path):
    (tmp_path / "train.jsonl").write_bytes((place / "data/train.jsonl").read_bytes())
    folder = tmp_path / "r"
    options = [f"run={folder}", f"data.train={tmp_path / 'train.jsonl'}", "training.steps=1"]
    assert run("train", place / "mle.yaml", *options).exit_code == 0
    lines = (tmp_path / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "train.jsonl").write_text("".join([lines[1], lines[0], *lines[2:]]), encoding="utf-8")
    message = refused("train", "--resume", folder)
    assert "articles of data.train" in message
    assert "articles of data.valid" not in message


def test_a_run_killed_before_its_first_state_is_told_to_start_again(place, tmp_path):
    folder = resumable(place, tmp_path / "r")
    (folder / checkpoint.STATE).unlink()
    assert "repeat the command that started it" in refused("train", "--resume", folder)


@pytest.mark.parametrize("options", [["{config}", "run={run}"], ["--resume", "{run}"]])
def test_a_run_folder_is_one_process_at_a_time(place, tmp_path, options):
    folder = resumable(place, tmp_path / "r")
    if "--resume" not in options:
        (folder / checkpoint.STATE).unlink()
    with claimed(folder):
        message = refused("train", *(option.format(config=place / "mle.yaml", run=folder) for option in options))
    assert "another process is writing there" in message
