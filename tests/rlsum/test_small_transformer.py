"""The script that makes a small transformer: the same seed gives the same bytes, and training takes the folder."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "small_transformer.py"
SIZES = ["--vocabulary", "60", "--width", "8", "--layers", "1"]


@pytest.fixture
def make(monkeypatch):
    spec = importlib.util.spec_from_file_location("small_transformer", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["small_transformer", *map(str, arguments), *SIZES])
        script.main()

    return run


@pytest.fixture
def articles(tmp_path):
    rows = [{"article": "Zelkova saw a storm .\nthe town slept .", "highlights": "a storm was seen ."}] * 5
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_same_seed_same_bytes_other_seed_other_weights(make, articles, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make(articles, "-o", tmp_path / name, "--seed", seed)
    a, b, c = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in "abc")
    assert a == b
    assert {name for name in a if a[name] != c[name]} == {"model.safetensors"}
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "a")
    ids = tokenizer("Zelkova saw a storm .")["input_ids"]
    assert tokenizer.decode(ids, skip_special_tokens=True) == "Zelkova saw a storm ."
    assert ids[-1] == AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "a").config.eos_token_id


def test_nothing_is_replaced_and_a_missing_file_is_told(make, articles, tmp_path, capsys):
    for arguments, told in (
        ((articles, "-o", tmp_path), "is there already"),
        (("no.jsonl", "-o", tmp_path / "x"), "no such file"),
    ):
        with pytest.raises(SystemExit):
            make(*arguments)
        assert told in capsys.readouterr().err
