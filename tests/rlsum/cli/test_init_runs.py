"""What `rlsum init` writes for files of many layouts is trained; `rlsum data inspect` shows what the model reads."""

from pathlib import Path

import datasets
import language_models
import pretrained
import pytest
import rows as rows_files

from rlsum import config as configs
from rlsum.simulation.stories import stories
from rlsum.training import build
from rlsum.training.inspection import inspected

STORIES = [
    (story.id, [line.capitalize() for line in story.article], list(story.highlights))
    for story in stories(1, "train", 24)
]
TRAINED = ("training.steps=2", "training.validate_decoded=2", "training.tracker=null", "decoding.min_length=1")
SMALL = ("model={embedding: 8, hidden: 8}", "vocabulary.min_count=1")
VARIED = "objective.reward=pretrained:vowels"  # random texts differ under it
REWARDED = ("objective.samples=2", "training.batch_size=2")


def joined(lines):
    return " ".join(lines).replace(" .", ".")


def jsonl(name, rows):
    return str(rows_files.jsonl(Path(name), *rows))


def plain(**more):
    return [{"id": i, "text": joined(a), "summary": joined(s), **more} for i, a, s in STORIES]


def table(name, rows, separator=","):
    return str(rows_files.table(Path(name), *rows, delimiter=separator))


def parquet(name, rows):
    datasets.Dataset.from_list(rows).to_parquet(name)
    return name


def folder(*parts):
    for part in parts:
        jsonl(f"{part}.jsonl", plain())
    return "."


def saved(name, rows):
    datasets.Dataset.from_list(rows).save_to_disk(name)
    return name


def pairs(*parts):
    for part in parts:
        for end, column in (("source", "text"), ("target", "summary")):
            Path(f"{part}.{end}").write_text("".join(row[column] + "\n" for row in plain()), encoding="utf-8")
    return "."


def german(n):
    return f"Der Bürgermeister eröffnete gestern die Schule {n} in der Stadt, und viele kamen zu dem Fest mit Musik."


def japanese(n):
    return f"市長は昨日、第{n}号の新しい計画を発表した。多くの住民がこれを歓迎している。"


def hindi(n):
    return f"मेयर ने कल शहर में योजना {n} की घोषणा की और कई लोगों ने उसका स्वागत किया है। यह एक नई योजना है जो सभी के लिए है।"


def layouts():
    """Name -> what writes such files into this folder and returns the argument of `init`."""
    titled = [{"": n, "Title": row["text"][:30], **row} for n, row in enumerate(plain())]
    named = [{"Key": i, "Body": joined(a), "Lead": joined(s)} for i, a, s in STORIES]
    listed = [{"article": a, "references": [" ".join(s), s[0]]} for _, a, s in STORIES]
    numbered = [
        {"dialogue": joined(a), "summary1": joined(s), "summary2": s[0], "topic1": "a topic"} for _, a, s in STORIES
    ]
    twice = [row | {"summary": f"{row['summary']} {n}"} for row in plain() for n in range(2)]
    parts = [row | {"split": ("train", "dev", "test")[max(0, n - 21)]} for n, row in enumerate(plain())]
    german_rows = [{"text": german(n) * 2, "title": f"Neue Schule {n}"} for n in range(24)]
    japanese_rows = [{"text": japanese(n) * 3, "title": f"新しい計画{n}", "summary": japanese(n)} for n in range(24)]
    hindi_rows = [{"Content": hindi(n) * 2, "Summary": hindi(n)[:60]} for n in range(24)]
    return {
        "an index without a name": lambda: table("a.csv", titled),
        "semicolons and other names": lambda: table("a.csv", named, ";"),
        "parquet with numbers": lambda: parquet("a.parquet", [{"n": n, **row} for n, row in enumerate(plain())]),
        "tokenised sentences as lists": lambda: jsonl("a.jsonl", listed),
        "numbered summaries": lambda: jsonl("a.jsonl", numbered),
        "two rows an article with one id": lambda: jsonl("a.jsonl", twice),
        "a column of parts": lambda: jsonl("a.jsonl", parts),
        "a folder": lambda: folder("train", "val"),
        "a folder of pairs of files": lambda: pairs("train", "val", "test"),
        "a saved data set": lambda: saved("a", plain()),
        "German titles": lambda: jsonl("a.jsonl", german_rows),
        "Japanese": lambda: jsonl("a.jsonl", japanese_rows),
        "Hindi": lambda: table("a.csv", hindi_rows),
    }


LAYOUTS = layouts()


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_what_is_written_for_a_layout_is_trained_and_rewarded_and_inspected(rlsum, ran, layout):
    ran("init", layout(), "--name", "x")
    ran("train", "x.yaml", *TRAINED, *SMALL)
    ran("train", "x-rewarded.yaml", "--init", "runs/x", *TRAINED, *REWARDED)
    rows = rows_files.rows_of("runs/x-rewarded/metrics.jsonl")
    assert max(row["reward"] for row in rows if row.get("reward") is not None) > 0, "real tokens, a real reward"
    assert rlsum("data", "inspect", "x.yaml", "--split", "valid")[0] == 0


@pytest.mark.parametrize("lists", ["sentences", "alternatives"])
def test_lists_of_summaries_are_asked_for_and_written(rlsum, refused, lists):
    jsonl("a.jsonl", [{"article": a, "abstract": s * 2} for _, a, s in STORIES])
    assert "--reference-lists alternatives or sentences" in refused("init", "a.jsonl")
    assert rlsum("init", "a.jsonl", "--reference-lists", lists)[0] == 0
    config = configs.load("a.yaml")
    assert config.data.reference_lists == lists
    assert all(
        (len(texts) == 1) == (lists == "sentences") for texts in build.corpus(config, "train").rows["references"]
    )


# ---- what the model reads -----------------------------------------------------------------------------------------


def settled(overrides):
    """The configuration of a run, and the trainer of it."""
    config = configs.load("x.yaml", overrides)
    return config, build.trainer(config)


@pytest.mark.parametrize("layout", ["Japanese", "German titles", "tokenised sentences as lists"])
def test_inspection_has_the_tokens_cases_lengths_and_words_of_training(rlsum, layout):
    rlsum("init", LAYOUTS[layout](), "--name", "x")
    config, trainer = settled([*TRAINED, *SMALL])
    for part, rows in (("train", trainer.train_rows), ("valid", trainer.valid_rows)):
        found = inspected(config, part)
        assert found.rows["src_tokens"] == rows["src_tokens"]
        assert found.rows["tgt_tokens"] == rows["tgt_tokens"]
        assert found.vocabulary == trainer.model.vocabulary


def test_a_bare_file_is_inspected_as_init_would_read_it(rlsum):
    path = LAYOUTS["an index without a name"]()
    bare = rlsum("data", "inspect", path)[1]
    rlsum("init", path)
    assert "`rlsum data inspect a.yaml` shows what a training reads" in rlsum("data", "inspect", path)[2]
    rlsum("init", path, "--name", "x")
    configured = rlsum("data", "inspect", "x.yaml")[1]
    kept = [line for line in bare.splitlines() if line.startswith("read by")]
    assert kept
    assert all(line in configured for line in kept)
    assert "tokenizer spacy, lower-cased" in bare
    assert "as they are written" in rlsum("data", "inspect", path, "--no-lowercase")[1]


def test_what_starts_from_another_run_is_not_inspected(rlsum, refused):
    rlsum("init", LAYOUTS["a column of parts"](), "--name", "x")
    assert "inspect the configuration of that run" in refused("data", "inspect", "x-rewarded.yaml")
    assert "give the file of the others" in rlsum("data", "inspect", "x.yaml", "--split", "test")[2]


# ---- pretrained models --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    made = {kind: pretrained.save(place / kind, kind) for kind in ("bart", "t5", "pegasus")}
    return {**made, "llama": language_models.save(place / "llama", "llama")}


@pytest.mark.parametrize("kind", ["bart", "t5", "pegasus", "llama"])
def test_a_pretrained_model_reads_texts_as_they_are_written_and_is_trained(rlsum, ran, models, kind):
    jsonl("a.jsonl", plain())
    printed = ran("init", "a.jsonl", "--name", "x", "--pretrained", models[kind])
    assert "as they are written" in printed
    assert ("x-rewarded.jsonl --clean" in printed) == (kind == "llama")
    config, trainer = settled(TRAINED)
    assert (config.data.lowercase, config.data.tokenizer) == (False, None), "its own"
    assert "vocabulary" not in Path("x.yaml").read_text()
    if kind == "llama":
        assert (config.model.kind, config.model.template) == ("causal", "chat")
    else:
        line_break = "<n>" if kind == "pegasus" else " "
        assert (config.model.prefix, config.model.line_break) == ("summarize: " * (kind == "t5"), line_break)
    if kind in ("bart", "pegasus"):
        assert config.data.max_source == 64, "as many as the model has positions"
    found = inspected(config, "train")
    assert found.rows["src_tokens"] == trainer.train_rows["src_tokens"]
    assert found.corpus.rows["source"][0] == rows_files.rows_of("x-data/train.jsonl")[0]["text"]
    assert "pieces of words" in rlsum("data", "inspect", "x.yaml")[1]
    assert "data.lowercase=true" in rlsum("data", "inspect", "x.yaml", "--lowercase")[2], "as training refuses it"
    assert "names its model" in rlsum("data", "inspect", "x.yaml", "--pretrained", "t5")[2]
    assert rlsum("train", "x.yaml", *TRAINED, "run=runs/y")[0] == 0
    ran("train", "x-rewarded.yaml", "--init", "runs/y", *TRAINED, *REWARDED, VARIED)


@pytest.mark.parametrize("kind", ["pegasus", "llama"])
def test_large_and_language_models_train_low_rank_updates_in_both_runs(rlsum, ran, models, monkeypatch, kind):
    if kind == "pegasus":
        monkeypatch.setattr("rlsum.drafts.pretrained.LARGE", 1)
    jsonl("a.jsonl", plain())
    assert "low-rank updates" in rlsum("init", "a.jsonl", "--name", "x", "--pretrained", models[kind])[1]
    assert configs.load("x.yaml").model.lora == configs.load("x-rewarded.yaml").model.lora is not None
    assert rlsum("train", "x.yaml", *TRAINED)[0] == 0
    ran("train", "x-rewarded.yaml", "--init", "runs/x", *TRAINED, *REWARDED, VARIED)


def test_what_cannot_be_trained_is_refused_with_what_to_take_instead(rlsum, refused, tmp_path):
    from transformers import BertConfig, BertModel

    jsonl("a.jsonl", plain())
    pretrained.byte_pairs().save_pretrained(tmp_path / "bert")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    BertModel(BertConfig(**sizes)).save_pretrained(tmp_path / "bert")
    error = refused("init", "a.jsonl", "--pretrained", tmp_path / "bert")
    assert "bert writes no texts" in error
    assert "facebook/bart-base" in error
    assert "no such folder" in rlsum("init", "a.jsonl", "--pretrained", "./nowhere")[2]
    assert not Path("a.yaml").exists()
