"""The commands from end to end on a few simulated stories: train, train on a reward, resume, generate."""

import json
import os
import shutil
import signal
from dataclasses import replace

import pytest
import torch
import yaml
from claimed import claimed
from left import assert_same_run
from rows import rows_of
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from typer.testing import CliRunner

from rlsum import config as configs
from rlsum.cli.app import USER_ERRORS, app
from rlsum.records import read_outputs
from rlsum.simulation.stories import write_corpus
from rlsum.training import checkpoint
from rlsum.training.trainer import Trainer, field_of

pytestmark = pytest.mark.usefixtures("own_module_cache")

TINY = """
vocabulary: {size: 200, min_count: 2}
model: {embedding: 8, hidden: 8}
training: {steps: 4, batch_size: 4, learning_rate: 1e-2, validate_every: 2, validate_decoded: 4, log_every: 1}
decoding: {max_length: 12}
metrics: [rouge-l]
"""


def run(*arguments):
    """The command line, as ``rlsum`` runs it: exit code 2 and one message for errors of the user's making."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, (*USER_ERRORS, SystemExit)):
        raise result.exception
    return result


def refused(*arguments):
    """The message of an error of the user's making."""
    result = run(*arguments)
    assert result.exit_code != 0
    return str(result.exception) if not isinstance(result.exception, SystemExit) else result.output


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a corpus, a configuration and a run trained by likelihood."""
    folder = tmp_path_factory.mktemp("cli")
    paths = write_corpus(folder / "data", 1, {"train": 20, "valid": 6, "test": 5})
    data = {"train": str(paths["train"]), "valid": str(paths["valid"]), "max_source": 60, "max_target": 20}
    mle = {**yaml.safe_load(TINY), "run": str(folder / "mle"), "data": data}
    objective = {"kind": "mixed", "reward": "rouge-l", "samples": 2}
    mixed = {"base": "mle.yaml", "run": str(folder / "mixed"), "objective": objective}
    for name, values in (("mle", mle), ("mixed", mixed)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    assert run("train", folder / "mle.yaml").exit_code == 0
    return folder


def log_of(folder):
    return rows_of(folder / "metrics.jsonl")


def timeless(folder):
    return [{name: value for name, value in row.items() if not field_of(name).machine} for row in log_of(folder)]


def test_a_run_leaves_what_it_promises(place):
    folder = place / "mle"
    assert [row["step"] for row in log_of(folder) if row["kind"] == "train"] == [1, 2, 3, 4]
    valid = [row for row in log_of(folder) if row["kind"] == "valid"]
    assert [row["step"] for row in valid] == [0, 2, 4]
    assert valid[-1]["nll"] < valid[0]["nll"]
    names = {path.name for path in (folder / "best").iterdir()}
    assert names == {"model.safetensors", "config.json", "config.yaml", "vocab.txt", "rewards.json"}
    assert list(folder.rglob("events.out.tfevents*")), "tensorboard is the default tracker"
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["packages"]["torch"] == torch.__version__
    resolved = configs.load(folder / "config.yaml")
    given = configs.load(place / "mle.yaml")
    assert resolved == replace(given, data=replace(given.data, tokenizer="whitespace"))
    assert json.loads((folder / "best" / "rewards.json").read_text()).keys() == {"rouge-l"}
    _, about = checkpoint.read_weights(folder / "best")
    assert about["nll"] == min(row["nll"] for row in valid)
    assert json.loads((folder / "result.json").read_text())["best_step"] == about["step"]


def test_rewards_start_from_the_checkpoint_that_likelihood_left(place):
    assert run("train", place / "mixed.yaml", "--init", place / "mle").exit_code == 0
    start = [row for row in log_of(place / "mle") if row["kind"] == "valid"]
    first = next(row for row in log_of(place / "mixed") if row["kind"] == "valid")
    best = min(start, key=lambda row: row["nll"])
    assert first["nll"] == pytest.approx(best["nll"], abs=1e-6)
    assert first["rouge-l"] == first["reward"] == pytest.approx(best["rouge-l"], abs=1e-6)
    train = [row for row in log_of(place / "mixed") if row["kind"] == "train"]
    assert all({"reward", "baseline_reward", "loss_rl", "loss_mle"} <= row.keys() for row in train)
    assert (place / "mixed/best/vocab.txt").read_bytes() == (place / "mle/best/vocab.txt").read_bytes()
    assert json.loads((place / "mixed/best/rewards.json").read_text()).keys() == {"rouge-l", "reward"}


def test_the_best_checkpoint_is_that_of_the_metric_named(place, tmp_path):
    """A metric that is not reported otherwise is added to validation."""
    for by, name in (("rouge-1(stemmer=false)", "rouge-1"), ("rouge-l", "rouge-l"), ("likelihood", "nll")):
        folder = tmp_path / name
        done = run("train", place / "mixed.yaml", "--init", place / "mle", f"run={folder}", f"training.choose_by={by}")
        assert done.exit_code == 0, done.output
        values = [(row[name] if name != "nll" else -row["nll"]) for row in log_of(folder) if row["kind"] == "valid"]
        assert json.loads((folder / "result.json").read_text())["best"] == max(values)


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
    assert timeless(stopped) == timeless(whole)
    for name in ("train/loss_rl", "valid/nll"):  # no update is seen twice
        assert curve(stopped, name) == curve(whole, name)


def states(folder):
    return checkpoint._read(folder / checkpoint.STATE, "progress")[0]


def assert_same_states(one, other):
    first, second = states(one), states(other)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], value) for name, value in second.items())


@pytest.mark.parametrize(
    ("where", "call", "number"),
    [
        ("_update", 1, signal.SIGINT),  # in the middle of a line of the log
        ("_update", 2, signal.SIGTERM),  # before the samples of this update are written
        ("_backward", 3, signal.SIGUSR1),
        ("_measure", 2, signal.SIGTERM),
        ("_measure", 3, signal.SIGUSR1),  # of the last validation
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
    """A run with lines of the log that end between validations, and at them."""
    return [place / "mixed.yaml", "--init", place / "mle", "training.validate_every=2", "training.log_every=3"]


@pytest.fixture(scope="module")
def whole(place):
    """That run without a signal."""
    assert run("train", *interrupted(place), f"run={place / 'whole'}").exit_code == 0
    return place / "whole"


def test_a_run_stopped_before_its_first_validation_ended_begins_when_it_is_resumed(place, tmp_path, monkeypatch):
    folder = tmp_path / "r"
    original = Trainer._measure
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_measure", lambda self: os.kill(os.getpid(), signal.SIGTERM) or original(self))
        assert run("train", place / "mle.yaml", f"run={folder}").exit_code == 128 + signal.SIGTERM
    assert run("train", place / "mle.yaml", f"run={folder}", "--auto-resume").exit_code == 0
    assert_same_states(folder, place / "mle")


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
    assert timeless(folder) == timeless(whole)
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
    path = folder / "environment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
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


def test_generate_writes_records_and_beam_one_is_greedy(place, tmp_path):
    test = place / "data/test.jsonl"
    paths = {beam: tmp_path / f"{beam}.jsonl" for beam in (1, 3)}
    for beam, path in paths.items():
        assert run("generate", place / "mle", test, "-o", path, "--beam", beam, "--max-length", 9).exit_code == 0
    outputs = read_outputs(paths[1])
    ids = [json.loads(line)["id"] for line in test.read_text(encoding="utf-8").splitlines()]
    assert [output.id for output in outputs] == ids
    assert {output.system for output in outputs} == {"mle"}
    assert all(len(output.candidate.split()) <= 9 for output in read_outputs(paths[3]))
    assert "exists" in refused("generate", place / "mle", test, "-o", paths[1])
    again = run("generate", place / "mle/best", test, "-o", paths[1], "--beam", 1, "--max-length", 9, "--overwrite")
    assert again.exit_code == 0
    assert read_outputs(paths[1]) == outputs


def test_coverage_is_switched_on_late(place, tmp_path):
    run_folder = tmp_path / "covered"
    options = ["--init", place / "mle", f"run={run_folder}", "model.coverage=true", "training.log_every=1"]
    assert run("train", place / "mle.yaml", *options).exit_code == 0
    rows = log_of(run_folder)
    assert all(row["coverage"] > 0 for row in rows if row["kind"] == "train")
    start = min(row["nll"] for row in log_of(place / "mle") if row["kind"] == "valid")
    assert rows[0]["nll"] == pytest.approx(start, abs=1e-6)
    weights, _ = checkpoint.read_weights(run_folder / "best")
    assert "spent_weight" in weights
    assert run("generate", run_folder, place / "data/test.jsonl", "-o", tmp_path / "o.jsonl").exit_code == 0


# ---- refusals, before anything long starts ------------------------------------------------------------------------


@pytest.fixture
def nothing_is_read(monkeypatch):
    from rlsum.training import build

    def read(*arguments, **options):
        raise AssertionError("the corpus was read")

    monkeypatch.setattr(build, "load_corpus", read)


@pytest.mark.usefixtures("nothing_is_read")
@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["objective={kind: mixed, reward: rouge-k}"], "rouge-l"),
        (["metrics=[rouge-l, wsm]"], "wms"),
        (["metrics=[{name: sms, vecotrs: v.txt}]"], "vectors"),
        (["metrics=[{name: sms, vectors: none.txt}]"], "vectors='none.txt': no such file"),
        (["objective={kind: mixed, reward: {name: sms, vectors: none.txt}}"], "vectors='none.txt': no such file"),
        (["vocabulary.embeddings=none.txt"], "vocabulary.embeddings: vectors='none.txt': no such file"),
        (["vocabulary.embeddings={folder}/three.txt"], "its vectors have 3 dimensions, the model 8"),
        (["objective={kind: mixed, reward: rouge-l}", "model=null"], "give --init RUN"),
        (["objective={kind: mixed, reward: rouge-l}", "model.dropout=0.1"], "set model.dropout=0"),
        (["training.choose_by=rouge-9"], "training.choose_by=rouge-9: not one of reward, likelihood, rouge-l"),
        (["training.steps=0", "model.hidden=0"], "2 fault"),
        (["training.mixed_precision=fp16"], "training.mixed_precision=fp16"),
        (["objective.label_smoothing=0.1"], "label_smoothing=0.1: a pointer-generator"),
        (["training.weight_decay=0.1"], "weight_decay=0.1: not with optimizer=adam"),
        (["training.tracker=tensorbord"], "training.tracker=tensorbord"),
        (["training.tracker=comet_ml"], "training.tracker=comet_ml: not installed"),
        (["data.train=/nope.jsonl"], "path='/nope.jsonl': no such file"),
        (["data.valid=/nope"], "path='/nope': no such file"),
        (["metrics=[{name: sms, vectors: '{folder}/broken.txt'}]"], "line 2"),
        (["metrics=['twmd(encoder=minilm, layer=99)']"], "layer=99"),
    ],
)
def test_what_cannot_be_is_refused_before_any_data_is_read(place, tmp_path, overrides, message):
    folder = tmp_path / "r"
    (tmp_path / "three.txt").write_text("1 3\nword 1 2 3\n")
    (tmp_path / "broken.txt").write_text("word 1 2 3\nother 1 2\n")
    overrides = [override.replace("{folder}", str(tmp_path)) for override in overrides]
    assert message in refused("train", place / "mle.yaml", f"run={folder}", *overrides)
    assert not (folder / "config.yaml").exists()


@pytest.mark.usefixtures("nothing_is_read")
def test_a_run_folder_in_use_is_refused(place):
    before = (place / "mle" / checkpoint.STATE).read_bytes()
    message = refused("train", place / "mle.yaml")
    assert "holds a run already" in message
    assert f"--resume {place / 'mle'}" in message
    assert (place / "mle" / checkpoint.STATE).read_bytes() == before


@pytest.mark.usefixtures("nothing_is_read")
def test_a_folder_that_cannot_be_written_is_refused(place, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused("train", place / "mle.yaml", f"run={tmp_path / 'file' / 'r'}")

    def read_only(*arguments):
        raise PermissionError(13, "Permission denied")  # root may write everywhere, so the refusal is played

    monkeypatch.setattr(type(tmp_path), "open", read_only)
    with pytest.raises(checkpoint.CheckpointError, match=r"cannot be written \(Permission denied\)"):
        checkpoint.claim(tmp_path / "r")


def test_a_run_after_another_has_the_precision_that_it_asks_for(place, tmp_path):
    """Accelerate keeps that of the first run of a process."""
    for name, precision in (("half", "bf16"), ("whole", "no")):
        options = [f"run={tmp_path / name}", f"training.mixed_precision={precision}"]
        assert run("train", place / "mle.yaml", *options).exit_code == 0
    assert_same_states(tmp_path / "whole", place / "mle")
    half, whole = states(tmp_path / "half"), states(tmp_path / "whole")
    assert any(not torch.equal(half[name], value) for name, value in whole.items())


@pytest.mark.usefixtures("nothing_is_read")
def test_half_precision_that_the_device_lacks_is_refused(place, tmp_path, monkeypatch):
    from accelerate.state import AcceleratorState

    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    AcceleratorState._reset_state(reset_partial_state=True)  # which keeps the device
    try:
        message = refused("train", place / "mle.yaml", f"run={tmp_path / 'r'}", "training.mixed_precision=fp16")
    finally:
        AcceleratorState._reset_state(reset_partial_state=True)
    assert "training.mixed_precision=fp16: not available on this device" in message
    assert not (tmp_path / "r" / "config.yaml").exists()


@pytest.mark.usefixtures("nothing_is_read")
def test_the_start_must_be_a_checkpoint_and_a_resumed_run_a_run(place, tmp_path):
    assert "give a run folder or a checkpoint folder" in refused("train", place / "mixed.yaml", "--init", tmp_path)
    assert "give the folder of a run" in refused("train", "--resume", tmp_path)
    assert "CONFIG is missing" in refused("train")
    both = refused("train", "--resume", place / "mle", "--init", place / "mle")
    assert "--init" in both
    assert "--resume" in both


def test_generating_from_nothing_or_with_impossible_lengths_is_refused(place, tmp_path):
    test, out = place / "data/test.jsonl", tmp_path / "o.jsonl"
    assert "give a run folder" in refused("generate", tmp_path, test, "-o", out)
    message = refused("generate", place / "mle", test, "-o", out, "--min-length", 12)
    assert "--min-length 12: must be smaller than the maximum of 12" in message
    assert not out.exists()


@pytest.mark.usefixtures("nothing_is_read")
def test_sizes_that_do_not_fit_the_start_are_refused(place, tmp_path):
    message = refused("train", place / "mixed.yaml", f"run={tmp_path / 'r'}", "model.hidden=9", "--init", place / "mle")
    assert "does not fit the weights" in message
