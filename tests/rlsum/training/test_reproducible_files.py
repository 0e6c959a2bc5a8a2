"""Two runs of one configuration, in two processes, write the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pretrained
import pytest
import yaml
from left import log_of
from rows import jsonl

from rlsum.training.log.monitor import METRICS

REWARD = "weighted(pretrained:vowels=0.5, rouge-1=0.5)"
RUNS = """
from rlsum import api
for config in ("words.yaml", "subwords.yaml"):
    api.train(config)
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two folders with the same runs. The second finds the articles in the cache, and sets have another order there."""
    place = tmp_path_factory.mktemp("twice")
    pretrained.save(place / "t5", "t5")
    rows = [{"id": str(i), "article": a, "highlights": text} for i, (a, text) in enumerate(pretrained.NEWS[:3])]
    jsonl(place / "news.jsonl", *rows)
    shared = {
        "data": {"train": str(place / "news.jsonl"), "valid": str(place / "news.jsonl"), "max_source": 40},
        "objective": {"kind": "mixed", "reward": REWARD, "samples": 2, "kl": 0.1},
        "training": {"steps": 2, "batch_size": 2, "validate_every": 1, "log_every": 1},
        "decoding": {"max_length": 6},
        "metrics": ["rouge-l", "bleu"],
    }
    models = {"words": {"embedding": 6, "hidden": 8}, "subwords": {"kind": "seq2seq", "pretrained": str(place / "t5")}}
    models["subwords"]["lora"] = {"rank": 2, "targets": ["q", "k", "v", "o"]}
    for seed in ("1", "2"):
        folder = place / seed
        folder.mkdir()
        for name, model in models.items():
            config = yaml.safe_dump({**shared, "run": name, "model": model})
            (folder / f"{name}.yaml").write_text(config, encoding="utf-8")
        path = os.pathsep.join([str(Path(pretrained.__file__).parent), *sys.path])
        own = {"PYTHONPATH": path, "PYTHONHASHSEED": seed, "HF_DATASETS_CACHE": str(place / "cache")}
        environment, command = os.environ | own, [sys.executable, "-c", RUNS]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    return place / "1", place / "2"


def content(path: Path) -> bytes:
    return repr(log_of(path.parent)).encode() if path.name == METRICS else path.read_bytes()


def test_every_file_but_times_is_the_same_to_the_byte(folders):
    files = [
        {path.relative_to(folder): content(path) for path in folder.rglob("*") if path.is_file()} for folder in folders
    ]
    first, second = ({name: file for name, file in found.items() if "tensorboard" not in name.parts} for found in files)
    assert {name.name for name in first} >= {
        "model.safetensors", "state.safetensors", "start.safetensors", "adapter_config.json", "tokenizer.json",
        "environment.json", "config.yaml", "result.json", "rewards.json", "samples.jsonl", "training-samples.jsonl",
    }  # fmt: skip
    assert first.keys() == second.keys()
    assert [str(name) for name in first if first[name] != second[name]] == []
