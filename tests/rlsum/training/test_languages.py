"""A run in a language without spaces: model and reward agree on tokens, and its outputs are joined as it is written."""

import json

import pytest
from left import log_of
from rows import jsonl

from rlsum import api
from rlsum.config import check
from rlsum.data.corpus import Tokenization, load_corpus

ARTICLES = [
    "今日は東京で雨が降る。",
    "明日は大阪で雪が降る。AIが予想した。",
    "昨日は京都で風が吹いた。",
    "今日は大阪で雨。",
]
SUMMARIES = ["東京は雨。", "大阪は雪。", "京都は風。", "大阪は雨。"]


@pytest.fixture
def configuration(tmp_path):
    rows = zip(ARTICLES * 2, SUMMARIES * 2, strict=True)
    rows = ({"id": str(i), "article": a, "highlights": s} for i, (a, s) in enumerate(rows))
    data = dict.fromkeys(("train", "valid"), str(jsonl(tmp_path / "data.jsonl", *rows)))
    training = {"steps": 1, "batch_size": 2, "validate_every": 1, "tracker": None}
    model = {"embedding": 4, "hidden": 4}
    return {"run": str(tmp_path / "run"), "language": "ja", "data": data, "training": training, "model": model}


def test_characters_are_the_tokens_of_a_language_without_spaces(configuration):
    corpus = load_corpus(configuration["data"]["train"], how=Tokenization(tokenizer="spacy", language="ja"))
    assert corpus.rows[1]["src_tokens"] == [*"明日は大阪で雪が降る。", "AI", *"が予想した。"]
    assert corpus.rows["source"][:2] == ARTICLES[:2]
    assert corpus.split(ARTICLES[1]) == corpus.rows[1]["src_tokens"]


def test_a_run_learns_from_rewards_of_characters(configuration, tmp_path):
    rewarded = {"objective": {"kind": "mixed", "reward": "rouge-1"}, "decoding": {"max_length": 12}}
    path = tmp_path / "run.yaml"
    path.write_text(json.dumps(configuration | rewarded), encoding="utf-8")
    run = api.train(path)
    stored = (tmp_path / "run" / "config.yaml").read_text(encoding="utf-8")
    assert all(line in stored for line in ("tokenizer: spacy", "spaces: false", "language: ja"))
    assert any(row.get("advantage_std") for row in log_of(tmp_path / "run", "train"))
    outputs = api.generate(run, configuration["data"]["valid"], tmp_path / "out.jsonl").outputs
    assert [output.source for output in outputs][:2] == ARTICLES[:2]
    assert not any(" " in output.candidate for output in outputs if output.candidate.isascii() is False)
    signatures = json.loads((tmp_path / "run" / "best" / "rewards.json").read_text(encoding="utf-8"))
    assert "tokenizer:character|language:ja" in signatures["reward"]


@pytest.mark.parametrize(
    ("keys", "tokenizer"),
    [
        ({}, "spacy"),
        ({"language": "fr"}, "whitespace"),
        ({"data": {"tokenizer": "whitespace"}}, "whitespace"),
        ({"model": {"kind": "seq2seq", "pretrained": "x"}}, "whitespace"),
    ],
)
def test_the_tokenizer_of_the_data_follows_the_language(configuration, keys, tokenizer):
    data = configuration["data"] | keys.get("data", {})
    assert check({**configuration, **keys, "data": data}, "test").tokenizer == tokenizer


def test_norwegian_may_be_unquoted(configuration):
    assert check({**configuration, "language": False}, "test").language == "no"


def test_an_unknown_language_is_refused(configuration):
    with pytest.raises(ValueError, match="language='xq' is unknown"):
        check({**configuration, "language": "xq"}, "test")


def test_rewards_that_read_other_languages_as_english_are_named_once(configuration, tmp_path, caplog):
    path = tmp_path / "run.yaml"
    path.write_text(json.dumps({**configuration, "language": None}), encoding="utf-8")
    api.train(path)
    lines = [record.getMessage() for record in caplog.records if "as English" in record.getMessage()]
    assert len(lines) == 1
    assert "look Japanese" in lines[0]
    assert "language: ja" in lines[0]
