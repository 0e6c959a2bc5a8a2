"""The commands from end to end on a few simulated stories: train, train on a reward, resume, generate."""

import json
from dataclasses import replace

import pytest
import torch
from commands import refused, run
from left import assert_same_states, log_of, states
from rows import rows_of

from rlsum import config as configs
from rlsum.records import read_outputs
from rlsum.training import checkpoint

pytestmark = pytest.mark.usefixtures("own_module_cache")


def test_a_run_leaves_what_it_promises(place):
    folder = place / "mle"
    assert [row["step"] for row in log_of(folder, "train")] == [1, 2, 3, 4]
    valid = log_of(folder, "valid")
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
    start = log_of(place / "mle", "valid")
    first = log_of(place / "mixed", "valid")[0]
    best = min(start, key=lambda row: row["nll"])
    assert first["nll"] == pytest.approx(best["nll"], abs=1e-6)
    assert first["rouge-l"] == first["reward"] == pytest.approx(best["rouge-l"], abs=1e-6)
    train = log_of(place / "mixed", "train")
    assert all({"reward", "baseline_reward", "loss_rl", "loss_mle"} <= row.keys() for row in train)
    assert (place / "mixed/best/vocab.txt").read_bytes() == (place / "mle/best/vocab.txt").read_bytes()
    assert json.loads((place / "mixed/best/rewards.json").read_text()).keys() == {"rouge-l", "reward"}


def test_the_best_checkpoint_is_that_of_the_metric_named(place, tmp_path):
    """A metric that is not reported otherwise is added to validation."""
    for by, name in (("rouge-1(stemmer=false)", "rouge-1"), ("rouge-l", "rouge-l"), ("likelihood", "nll")):
        folder = tmp_path / name
        done = run("train", place / "mixed.yaml", "--init", place / "mle", f"run={folder}", f"training.choose_by={by}")
        assert done.exit_code == 0, done.output
        values = [(row[name] if name != "nll" else -row["nll"]) for row in log_of(folder, "valid")]
        assert json.loads((folder / "result.json").read_text())["best"] == max(values)


# ---- what follows ----------------------------------------------------------------------------------------------------


def test_generate_writes_records_and_beam_one_is_greedy(place, tmp_path):
    test = place / "data/test.jsonl"
    paths = {beam: tmp_path / f"{beam}.jsonl" for beam in (1, 3)}
    for beam, path in paths.items():
        assert run("generate", place / "mle", test, "-o", path, "--beam", beam, "--max-length", 9).exit_code == 0
    outputs = read_outputs(paths[1])
    assert [output.id for output in outputs] == [row["id"] for row in rows_of(test)]
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
    assert all(row["coverage"] > 0 for row in log_of(run_folder, "train"))
    start = min(row["nll"] for row in log_of(place / "mle", "valid"))
    assert log_of(run_folder)[0]["nll"] == pytest.approx(start, abs=1e-6)
    weights, _ = checkpoint.read_weights(run_folder / "best")
    assert "spent_weight" in weights
    assert run("generate", run_folder, place / "data/test.jsonl", "-o", tmp_path / "o.jsonl").exit_code == 0


# ---- refusals, before anything long starts ---------------------------------------------------------------------------


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
def test_half_precision_that_the_device_lacks_is_refused(place, tmp_path, fresh_precision, monkeypatch):
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    message = refused("train", place / "mle.yaml", f"run={tmp_path / 'r'}", "training.mixed_precision=fp16")
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


@pytest.mark.usefixtures("nothing_is_read")
def test_sizes_that_do_not_fit_the_start_are_refused(place, tmp_path):
    message = refused("train", place / "mixed.yaml", f"run={tmp_path / 'r'}", "model.hidden=9", "--init", place / "mle")
    assert "does not fit the weights" in message
