"""A column of the data on its way to a reward: read, in samples and validation, in outputs, in an evaluation."""

from __future__ import annotations

import json
import sys

import datasets
import pytest
import yaml
from left import log_of
from rows import jsonl, rows_of
from source_rewards import on_topic

from rlsum.config import ConfigError, load
from rlsum.records import read_outputs
from rlsum.simulation.stories import write_corpus
from rlsum.training import build, checkpoint

SEEN: list[tuple[str, str]] = []


def by_system(candidates, system):
    """A function that takes a field of every record for a column."""
    return [float(bool(name)) for name in system]


def only_second(candidates, topic):
    """0 where the topic is a, 1 where it is b."""
    return [float(name == "b") for name in topic]


def watched(candidates, references, sources, topic):
    """``on_topic``, and what it was called with."""
    SEEN.extend(zip(sources, topic, strict=True))
    return on_topic(candidates, references, sources, topic)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A corpus whose topic is the first word of the article, and a configuration."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setitem(sys.modules, "watched_rewards", sys.modules[__name__])
    datasets.disable_progress_bars()
    paths = write_corpus(tmp_path / "data", 1, {"train": 12, "valid": 4, "test": 3})
    for path in paths.values():
        jsonl(path, *(row | {"topic": " ".join(row["article"].split()[:1])} for row in rows_of(path)))
    values = {
        "run": str(tmp_path / "run"),
        "data": {"train": str(paths["train"]), "valid": str(paths["valid"]), "max_source": 40, "columns": ["topic"]},
        "vocabulary": {"size": 100},
        "model": {"embedding": 6, "hidden": 6},
        "objective": {"kind": "mixed", "reward": "watched_rewards:watched", "samples": 2},
        "training": {"steps": 2, "batch_size": 4, "validate_every": 2, "validate_decoded": 3, "tracker": None},
        "decoding": {"max_length": 8},
        "metrics": ["rouge-l", "source_rewards:on_topic"],
    }
    jsonl(tmp_path / "config.yaml", values)
    SEEN.clear()
    return tmp_path


def test_from_the_data_to_the_evaluation(folder, ran):
    ran("train", folder / "config.yaml")
    assert len(SEEN) >= 2 * 4 * 2 + 3, "samples of two updates and decoded articles of validation"
    assert all(source.split()[0] == topic for source, topic in SEEN)
    *_, valid = log_of(folder / "run", "valid")
    assert valid["reward"] == valid["source_rewards:on_topic"] is not None

    out = folder / "out.jsonl"
    ran("generate", folder / "run", folder / "data" / "test.jsonl", "-o", out)
    assert all(output.columns == {"topic": output.source.split()[0]} for output in read_outputs(out))
    printed = ran("evaluate", out, "--metrics", "source_rewards:on_topic", "--json")
    assert json.loads(printed)["systems"][0]["metrics"]["source_rewards:on_topic"]["n"]


@pytest.fixture
def run(folder, ran):
    ran("train", folder / "config.yaml")
    return folder / "run"


def test_articles_without_the_column_can_be_summarized(folder, run, ran):
    bare = jsonl(folder / "bare.jsonl", {"article": "the cat sleeps .", "highlights": "cat"})
    ran("generate", run, bare, "-o", folder / "out.jsonl")
    assert read_outputs(folder / "out.jsonl")[0].columns == {}


def test_references_can_be_named_where_the_column_is_missing(folder, run, ran):
    bare = jsonl(folder / "bare.jsonl", {"article": "the cat sleeps .", "summary": "cat"})
    out = folder / "out.jsonl"
    ran("generate", run, bare, "-o", out, "--reference-column", "summary")
    (output,) = read_outputs(out)
    assert (output.references, output.columns) == (("cat",), {})


def test_a_bare_name_for_the_list_of_columns_is_told_how_to_write_it(folder):
    with pytest.raises(ConfigError, match=r"data\.columns: must be a list, not 'topic'; write \[topic\]"):
        load(folder / "config.yaml", ["data.columns=topic"])


def test_a_column_that_is_not_named_is_an_error_before_anything_is_read(folder):
    config = load(folder / "config.yaml", ["data.columns=[]", "data.train=nowhere.jsonl"])
    with pytest.raises(ConfigError, match=r"data.columns.*watched_rewards:watched.*'topic'|on_topic.*'topic'"):
        build.trainer(config)


def test_a_row_without_the_column_is_skipped_and_counted(folder):
    rows = rows_of(folder / "data" / "train.jsonl")
    del rows[3]["topic"]
    jsonl(folder / "data" / "train.jsonl", *rows)
    corpus = build.corpus(load(folder / "config.yaml", []), "train")
    assert corpus.skipped == {"topic: missing": 1}
    assert len(corpus.rows) == 11


@pytest.mark.usefixtures("run")
def test_a_changed_column_is_another_run(folder):
    rows = rows_of(folder / "data" / "valid.jsonl")
    jsonl(folder / "data" / "valid.jsonl", *(row | {"topic": "other"} for row in rows))
    with pytest.raises(checkpoint.CheckpointError, match=r"articles of data.valid"):
        build.trainer(load(folder / "config.yaml", []), resume=True)


@pytest.mark.parametrize("name", ["source", "candidate", "scores"])
def test_a_column_cannot_have_the_name_of_a_field_of_outputs(folder, name):
    with pytest.raises(ConfigError, match=f"columns: '{name}'"):
        load(folder / "config.yaml", [f"data.columns=[{name}]"])


def test_a_configuration_without_columns_is_as_before(folder):
    values = yaml.safe_load((folder / "config.yaml").read_text())
    del values["data"]["columns"]
    (folder / "old.yaml").write_text(yaml.safe_dump(values))
    config = load(folder / "old.yaml", [])
    assert config.data.columns == ()
    assert "columns" not in build.corpus(config, "train").rows.column_names


def test_a_field_of_every_record_is_no_column(folder, refused):
    record = {"id": "1", "source": "s", "references": ["r"], "candidate": "c", "system": "x"}
    path = jsonl(folder / "records.jsonl", record)
    for command in ("score", "evaluate"):
        told = " ".join(refused(command, path, "--metrics", "watched_rewards:by_system").split())
        assert "'system' is a field of every record" in told


@pytest.mark.parametrize("override", ["training.decode_batch=2", "objective.updates_per_sample=2"])
def test_rows_that_differ_in_a_column_alone_have_their_own_rewards(folder, rlsum, override):
    row = {"id": "1", "article": "a b c d", "highlights": "a b"}
    jsonl(folder / "data" / "train.jsonl", row | {"topic": "a"}, row | {"topic": "b"})
    more = ["training.batch_size=1", "training.accumulate=2", "objective.reward=watched_rewards:only_second"]
    more += ["training.log_every=1", "objective.clip=0.2", override]
    rlsum("train", folder / "config.yaml", *more)  # its samples have equal rewards, so it fails after its last update
    logged = [line["reward"] for line in log_of(folder / "run", "train")]
    assert logged == [0.5, 0.5]
