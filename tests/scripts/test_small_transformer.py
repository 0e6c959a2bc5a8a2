"""The script that makes a small transformer: the same seed gives the same bytes, and training takes the folder."""

import json
import sys

import pytest
import small_transformer
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

SIZES = ["--vocabulary", "60", "--width", "8", "--layers", "1"]


@pytest.fixture
def make(monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["small_transformer", *map(str, arguments), *SIZES])
        small_transformer.main()

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


def test_attention_begins_as_a_copier_or_as_t5_has_it(make, articles, tmp_path):
    products = {}
    for name in ("mimetic", "t5"):
        make(articles, "-o", tmp_path / name, "--attention", name)
        model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / name)
        crossing = model.decoder.block[0].layer[1].EncDecAttention
        offsets = model.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight
        products[name] = (crossing.o.weight @ crossing.v.weight, crossing.q.weight - crossing.k.weight, offsets)
    passed, difference, offsets = products["mimetic"]
    assert torch.allclose(passed, torch.eye(8) / 2, atol=1e-6)
    assert not difference.any()
    assert (offsets[1, :2] > offsets[1, 2:] + 1).all()
    assert not torch.allclose(products["t5"][0], torch.eye(8) / 2, atol=0.2)


def test_nothing_is_replaced_and_a_missing_file_is_told(make, articles, tmp_path, capsys):
    for arguments, told in (
        ((articles, "-o", tmp_path), "exists; give another folder"),
        (("no.jsonl", "-o", tmp_path / "x"), "no such file"),
    ):
        with pytest.raises(SystemExit):
            make(*arguments)
        assert told in capsys.readouterr().err
