"""Several processes train what one trains with the larger batch, and write what one writes; killed, they go on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import language_models
import pretrained
import pytest
import tiny
import torch
import yaml
from left import assert_near, assert_same_run, log_of, states, weights_of
from rows import jsonl

from rlsum.records import read_outputs
from rlsum.training import checkpoint
from rlsum.training.log.monitor import SAMPLES

ROOT = Path(__file__).resolve().parents[3]
SUPPORT = ROOT / "tests" / "support"
MIXED = {"kind": "mixed", "reward": "rouge-1", "gamma": 0.6, "samples": 2}
WHOLE_UPDATE = {**MIXED, "estimator": "reinforce++", "normalisation": "token", "samples": 1}
FILTERED = {
    **MIXED, "estimator": "reinforce++-baseline", "skip_zero_groups": True, "clip": 0.1, "clip_high": 0.2,
    "ratio": "sequence", "updates_per_sample": 2,
}  # fmt: skip
RISK = {**MIXED, "kind": "minimum-risk", "samples": 3}
SHARED = {**MIXED, "estimator": "rloo", "clip": 0.2, "updates_per_sample": 2}
CUT = {"temperature": 1.2, "top_k": 20, "top_p": 0.95, "block_ngrams": 2}
KILLED = -9


def job(count, *arguments, **more):
    """A command, the number of its processes, and what else support/processes.py takes."""
    return {"count": count, "arguments": arguments, **more}


def commands(folder, jobs):
    """How the processes of the jobs ended, and what they said."""
    paths = {"PYTHONPATH": str(ROOT), "HF_DATASETS_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "processes.py"), json.dumps(jobs, default=str)],
        env={**os.environ, **paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    ended = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return ended, done.stdout + done.stderr


def articles(path, pairs):
    jsonl(path, *({"id": str(i), "article": source, "highlights": text} for i, (source, text) in enumerate(pairs)))


def written(folder, name, count, *, data="eleven", model=None, objective=None, sampling=None, **training):
    """The path of a configuration for ``count`` processes that together take 4 articles an update."""
    values = {
        "run": str(folder / name),
        "data": {"train": str(folder / f"{data}.jsonl"), "valid": str(folder / "valid.jsonl"), "max_source": 64,
                 "max_target": 20},
        "model": {"embedding": 6, "hidden": 8} if model is None else model,
        "objective": objective or {"kind": "mle"},
        "training": {"steps": 6, "batch_size": 4 // count, "learning_rate": 1e-3, "validate_every": 3, "log_every": 1,
                     "tracker": None, "sample_outputs": 7, "row_noise": True, **training},
        "decoding": {"max_length": 6},
        "sampling": sampling or {},
        "metrics": ["rouge-l"],
    }  # fmt: skip
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return path


def data_of(folder, pairs=tiny.stories):
    """Articles, so many that an epoch ends in a batch of 3, and others, where it ends in a batch of 1."""
    articles(folder / "eleven.jsonl", pairs(11))
    articles(folder / "nine.jsonl", pairs(9))
    articles(folder / "valid.jsonl", pairs(7, 100))


def assert_equal(one, two):
    """The runs of one process and of two have the same curves, outputs and weights."""
    assert_near(log_of(one), log_of(two), rel=1e-4, abs=1e-5)
    assert log_of(one, name=SAMPLES) == log_of(two, name=SAMPLES)
    torch.testing.assert_close(states(one), states(two), atol=1e-5, rtol=0)


# ---- the pointer-generator ----------------------------------------------------------------------------------------


NINE = {"data": "nine"}
RUNS = {
    "mle": {},
    "mixed": {**NINE, "objective": MIXED},
    "shared": {**NINE, "objective": SHARED, "sampling": CUT, "validate_every": 2},
    "update": {**NINE, "objective": WHOLE_UPDATE},
    "filtered": {**NINE, "objective": FILTERED, "validate_every": 2},
    "risk": {**NINE, "objective": RISK},
}
OF_TWO = {"shared": {"decode_batch": 1}, "update": {"batch_size": 1, "accumulate": 2}}  # where two processes differ


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder of runs and outputs, how the processes ended, and what they said."""
    folder = tmp_path_factory.mktemp("processes")
    data_of(folder)
    articles(folder / "many.jsonl", tiny.stories(70, 200))

    def train(name, count, **options):
        return "train", written(folder, name, count, **options)

    def generate(name, *options):
        common = ["--batch-size", 1, "--system", "s", "--device", "cpu", "-o", folder / f"{name}.jsonl"]
        return "generate", folder / "mle-1", folder / "many.jsonl", *options, *common

    beam, best = ("--beam", 2), ("--best-of", 3, "--by", "source_rewards:copied")
    jobs = {f"{name}-1": job(1, *train(f"{name}-1", 1, **options)) for name, options in RUNS.items()}
    for name, options in RUNS.items():
        jobs[f"{name}-2"] = job(2, *train(f"{name}-2", 2, **options, **OF_TWO.get(name, {})))
    jobs |= {
        "killed": job(2, *train("killed", 2, **RUNS["mixed"]), kill=(1, "update", 5)),
        "resumed": job(2, "train", "--resume", folder / "killed"),
        "again": jobs["mle-2"],
        "one": job(1, *generate("one", *beam)),
        "two": job(2, *generate("two", *beam)),
        "cut": job(2, *generate("cut", *beam), kill=(1, "decode", 15)),
        "went on": job(2, *generate("cut", *beam)),
        "chosen": job(1, *generate("chosen", *best)),
        "chosen-cut": job(2, *generate("chosen-cut", *best), kill=(1, "decode", 15)),
        "chosen-on": job(2, *generate("chosen-cut", *best)),
    }
    ended, told = commands(folder, [*jobs.values()])
    return folder, dict(zip(jobs, ended, strict=True)), told


def test_nobody_failed_but_the_killed(done):
    _, ended, told = done
    others = {"killed": [2, KILLED], "cut": [2, KILLED], "chosen-cut": [2, KILLED], "again": [2, 2]}
    for name, status in ended.items():
        assert status == others.get(name, [0] * len(status)), f"{name}\n{told}"


def test_what_one_process_refuses_ends_all_of_them(done):
    folder, _, told = done
    assert f"rlsum: run={folder / 'mle-2'}: holds a run already" in told
    assert "another process of this job ended, so this one cannot go on; its own message says why" in told
    assert len(log_of(folder / "mle-2")) == 9


@pytest.mark.parametrize("name", RUNS)
def test_two_processes_equal_one_with_the_double_batch(done, name):
    folder, *_ = done
    assert_equal(folder / f"{name}-1", folder / f"{name}-2")
    train = log_of(folder / f"{name}-1", "train")
    assert len(train) == 6
    assert name in ("mle", "risk") or any(row["advantage_std"] > 0 for row in train)


def test_after_a_kill_the_others_say_what_to_do_and_the_resumed_run_is_the_uninterrupted_one(done):
    folder, _, told = done
    advice = f"resume the run with as many processes: rlsum train --resume {folder / 'killed'}"
    assert f"rlsum: another process of this job ended, so this one cannot go on; {advice}" in told
    assert_same_run(folder / "killed", folder / "mixed-2")


def test_two_processes_generate_the_file_that_one_does_also_after_a_kill(done):
    folder, _, told = done
    whole = (folder / "one.jsonl").read_bytes()
    assert [output.id for output in read_outputs(folder / "one.jsonl")] == [str(i) for i in range(70)]
    assert (folder / "two.jsonl").read_bytes() == whole
    assert (folder / "cut.jsonl").read_bytes() == whole
    assert "the same command again" in told
    last = next(line for line in told.splitlines() if line.startswith(f"{folder / 'cut.jsonl'}: 70 summaries by s"))
    assert "20 of them by an earlier job" in last
    assert "cut.jsonl.partial" not in {path.name for path in folder.iterdir()}
    assert (folder / "chosen-cut.jsonl").read_bytes() == (folder / "chosen.jsonl").read_bytes() != whole
    assert f"{folder / 'chosen-cut.jsonl'}: 70 summaries by s, each of 3 samples" in told


def test_the_example_configurations_are_accelerates():
    from accelerate.commands.config.config_args import load_config_from_file

    found = {path.stem: load_config_from_file(str(path)) for path in sorted((ROOT / "configs/accelerate").iterdir())}
    assert {name: config.distributed_type.value for name, config in found.items()} == {
        "fsdp": "FSDP",
        "one_machine": "MULTI_GPU",
        "several_machines": "MULTI_GPU",
    }
    assert found["several_machines"].num_machines == 2
    sharded = found["fsdp"].fsdp_config
    assert (sharded["fsdp_version"], sharded["fsdp_cpu_ram_efficient_loading"]) == (2, False)
    from transformers.models.bart import modeling_bart

    assert all(hasattr(modeling_bart, name) for name in sharded["fsdp_transformer_layer_cls_to_wrap"].split(","))


# ---- pretrained models, and a real launcher -----------------------------------------------------------------------


VARIED = {**MIXED, "reward": "pretrained:vowels"}  # random texts differ under it


def news(count, first=0):
    return [pretrained.NEWS[i % 3] for i in range(first, first + count)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [("seq2seq", "bart"), ("seq2seq", "t5"), ("causal", "llama")])
def test_two_processes_equal_one_for_pretrained_models(tmp_path, kind, name):
    data_of(tmp_path, news)
    (language_models if kind == "causal" else pretrained).save(tmp_path / name, name)
    options = {"model": {"kind": kind, "pretrained": str(tmp_path / name), "dropout": False}}
    cases = {
        "mle": {},
        "mixed": {**NINE, "objective": VARIED},
        "rloo": {"objective": {**VARIED, "estimator": "rloo", "samples": 3, "gamma": 0.7, "kl": 0.1}},
        "smoothed": {"objective": {"kind": "mle", "label_smoothing": 0.2}, "optimizer": "adafactor"},
    }
    jobs = [
        job(count, "train", written(tmp_path, f"{case}-{count}", count, **options, **more))
        for case, more in cases.items() for count in (1, 2)
    ]  # fmt: skip
    ended, told = commands(tmp_path, jobs)
    assert ended == [[0], [0, 0]] * len(cases), told
    for case in cases:
        assert_equal(tmp_path / f"{case}-1", tmp_path / f"{case}-2")


def launch(*arguments, **environment):
    """`accelerate launch` of two processes on the processor."""
    command = ["accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", "0"]
    return subprocess.run(
        [sys.executable, "-m", *command, "-m", "rlsum", *map(str, arguments)],
        env={**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", **environment,
             "PYTHONPATH": os.pathsep.join([str(ROOT), str(SUPPORT)])},
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip


@pytest.mark.slow
def test_accelerate_launch_ends_when_a_process_is_killed_and_the_run_goes_on(tmp_path):
    data_of(tmp_path)
    objective = MIXED | {"reward": "deadly:deadly"}
    paths = [written(tmp_path, name, 2, objective=objective) for name in ("whole", "killed")]
    whole = launch("train", paths[0])
    assert whole.returncode == 0, whole.stderr
    killed = launch("train", paths[1], DEADLY="1:5")
    assert killed.returncode != 0
    assert "Signal 9 (SIGKILL)" in killed.stderr
    assert weights_of(tmp_path / "killed" / checkpoint.STATE)[1]["step"] == 3
    resumed = launch("train", "--resume", tmp_path / "killed")
    assert resumed.returncode == 0, resumed.stderr
    assert_same_run(tmp_path / "killed", tmp_path / "whole")


SHARDED = {"sharded": "BartEncoderLayer,BartDecoderLayer"}


def of_bart(folder):
    return {"kind": "seq2seq", "pretrained": str(folder / "bart"), "dropout": False}


@pytest.mark.slow
def test_a_sharded_model_trains_saves_and_goes_on_as_a_whole_one(tmp_path):
    """FSDP; accelerate has it for accelerators alone, so the test tells it that this is one."""
    data_of(tmp_path, news)
    pretrained.save(tmp_path / "bart", "bart")
    options = {"model": of_bart(tmp_path), "objective": VARIED | {"kl": 0.1}}
    whole, cut = (written(tmp_path, name, 2, **options) for name in ("whole", "sharded"))
    jobs = [
        job(2, "train", whole),
        job(2, "train", cut, **SHARDED, kill=(1, "update", 5)),
        job(2, "train", "--resume", tmp_path / "sharded", **SHARDED),
    ]
    ended, told = commands(tmp_path, jobs)
    assert ended[0] == ended[2] == [0, 0], told
    assert ended[1][1] == KILLED
    assert_equal(tmp_path / "whole", tmp_path / "sharded")
    best = [tmp_path / name / "best" / checkpoint.WEIGHTS for name in ("whole", "sharded")]
    weights, others = (weights_of(path)[0] for path in best)
    assert {key: tensor.shape for key, tensor in weights.items()} == {key: t.shape for key, t in others.items()}


@pytest.mark.slow
def test_a_sharded_model_in_bf16_learns_what_a_whole_one_does(tmp_path):
    """FSDP, as above. Half precision is autocast's in both, so the first update's likelihood is the same in float32."""
    data_of(tmp_path, news)
    pretrained.save(tmp_path / "bart", "bart")
    options = {"model": of_bart(tmp_path), "objective": VARIED | {"clip": 0.2}, "mixed_precision": "bf16"}
    whole, sharded = (written(tmp_path, name, 2, **options) for name in ("whole", "sharded"))
    ended, told = commands(tmp_path, [job(2, "train", whole), job(2, "train", sharded, **SHARDED)])
    assert ended == [[0, 0], [0, 0]], told
    one, two = (log_of(tmp_path / name, "train") for name in ("whole", "sharded"))
    assert len(one) == len(two) == 6
    assert two[0]["nll"] == pytest.approx(one[0]["nll"], rel=1e-4)  # log-probabilities in bf16 are 1e-3 away
    for row, other in zip(one, two, strict=True):
        assert other["ratio_outside"] == 0  # of samples that were just drawn
        for key, close in {"nll": 0.02, "loss_mle": 0.02, "entropy": 0.1}.items():  # of samples: some come to differ
            assert other[key] == pytest.approx(row[key], rel=close), f"{key} of update {row['step']}"
    weights, _ = weights_of(tmp_path / "sharded" / "best" / checkpoint.WEIGHTS)
    assert all(tensor.dtype == torch.float32 and tensor.isfinite().all() for tensor in weights.values())
