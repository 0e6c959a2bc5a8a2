"""`rlsum init` and `rlsum configs`, in an empty folder."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import yaml

from rlsum import config as configs
from rlsum import yaml_files
from rlsum.compare import config as comparisons
from rlsum.compare import preflight
from rlsum.compare.cells import cells_of
from rlsum.records import read_outputs
from rlsum.simulation.stories import stories

STORIES = [
    (story.id, " ".join(story.article).replace(" .", "."), " ".join(story.highlights).replace(" .", ".").capitalize())
    for story in stories(1, "train", 40)
]
GERMAN = "Der Bürgermeister eröffnete gestern eine neue Schule in der Stadt, und viele Menschen kamen zu dem Fest."


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_csv(path: Path, header: list[str], rows: list[tuple[str, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def test_one_file_becomes_splits_and_configurations_that_load(rlsum, here):
    write_csv(here / "my news.csv", ["key", "Body", "no"], STORIES)
    code, printed, _ = rlsum("init", "my news.csv")
    assert code == 0
    config = configs.load("my-news.yaml")
    assert (config.data.source_column, config.data.reference_column) == ("Body", "no")
    assert (config.data.tokenizer, config.data.lowercase) == ("spacy", True)
    assert 100 < config.data.max_source < 300
    parts = [Path(f"my-news-data/{part}.jsonl").read_text().splitlines() for part in ("train", "valid", "test")]
    assert [len(part) for part in parts] == [32, 4, 4]
    assert len({json.loads(line)["key"] for part in parts for line in part}) == 40
    rewarded = configs.load("my-news-rewarded.yaml")
    assert rewarded.objective.reward == "rouge-l"
    assert rewarded.data == config.data
    assert 0 < config.decoding.min_length < config.decoding.max_length, "a model of few articles ends at once"
    assert "few" in printed
    assert rlsum("init", "my news.csv")[0] == 2, "nothing is overwritten"


def test_the_comparison_that_it_writes_has_no_fault(rlsum, here):
    write_csv(here / "news.csv", ["text", "summary"], [row[1:] for row in STORIES])
    assert rlsum("init", "news.csv")[0] == 0
    comparison = comparisons.load(Path("news-compare.yaml"))
    assert len(Path("news-compare.yaml").read_text(encoding="utf-8").splitlines()) <= 20
    assert (len(comparison.rewards), len(comparison.seeds), comparison.controls) == (2, 2, ("none",))
    preflight.check(comparison, cells_of(comparison))
    lead = read_outputs("news-data/lead.jsonl")
    test = [json.loads(line) for line in Path("news-data/test.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [output.id for output in lead] == [row["id"] for row in test]
    for output in lead:
        sentences = output.candidate.splitlines()
        assert len(sentences) == 2
        assert output.source.startswith(sentences[0])


def test_a_folder_is_taken_as_it_is_and_columns_may_be_named(rlsum, here):
    for part in ("train", "valid"):
        write_csv(here / f"{part}.csv", ["id", "summary", "text", "lead"], [(i, s, t, t) for i, t, s in STORIES])
    assert rlsum("init", ".", "--name", "x", "--source-column", "lead")[0] == 0
    config = configs.load("x.yaml")
    assert (config.data.source_column, config.data.reference_column) == ("lead", "summary")
    assert config.data.train == "train.csv"
    assert [path.name for path in Path("x-data").iterdir()] == ["lead.jsonl"], "the articles stay where they are"


def test_other_languages_are_scored_without_english_stems(rlsum, here):
    rows = [{"text": f"{GERMAN} Satz {n}.", "title": f"Neue Schule {n}"} for n in range(40)]
    Path("de.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "not read as English" in rlsum("init", "de.jsonl")[1]
    assert configs.load("de.yaml").metrics[0] == "rouge-1(tokenizer=unicode, stemmer=false)"


def test_words_without_spaces_are_noticed(rlsum, here):
    rows = [
        {"text": f"市长昨天在市中心宣布了一项新的计划。许多居民对此表示欢迎。{n}", "title": f"新计划{n}"}
        for n in range(40)
    ]
    Path("zh.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "no spaces separate the words" in rlsum("init", "zh.jsonl")[1]
    rows = [{"text": source, "title": text} for _, source, text in STORIES]
    Path("en.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "no spaces" not in rlsum("init", "en.jsonl")[1]


def test_broken_rows_are_counted_and_one_article_is_in_one_part(rlsum, here):
    rows = [(f"{key}-{n}", article, f"{summary} {n}") for n in range(3) for key, article, summary in STORIES]
    write_csv(here / "a.csv", ["key", "text", "summary"], rows)
    with (here / "a.csv").open("ab") as file:
        file.write("x,schön,schön\n".encode("latin-1"))
    assert "left out: 1, the first a.csv:122: not UTF-8" in rlsum("init", "a.csv")[1]
    parts = [Path(f"a-data/{part}.jsonl").read_text().splitlines() for part in ("train", "valid", "test")]
    assert sum(map(len, parts)) == 120
    articles = [{json.loads(line)["text"] for line in part} for part in parts]
    assert sum(map(len, articles)) == 40


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("text,title\n" + "a b c,d e\n" * 5, "too few rows"),
        ("number,title\n" + "1,d e\n" * 30, "a.csv: no column of texts for --reference-column"),
        ("".join(f"{article},{summary}\n" for _, article, summary in STORIES), "not names of columns"),
        ("", "no row can be read (empty)"),
        ("text,summary\n" + "schön,schön\n" * 30, "no row can be read (a.csv:2: not UTF-8)"),
    ],
)
def test_data_that_cannot_be_used_is_told_and_nothing_is_written(rlsum, here, content, words):
    Path("a.csv").write_text(content, encoding="latin-1")
    code, _, error = rlsum("init", "a.csv")
    assert code == 2
    assert words in error
    assert not list(Path("a-data").glob("*"))
    assert rlsum("init", "nowhere.csv")[0] == 2


def test_every_packaged_configuration_is_listed_and_loads_by_its_name(rlsum, here):
    printed = rlsum("configs")[1]
    for name in yaml_files.names():
        assert name in printed
        assert yaml_files.summary(name)
        if not name.startswith(("accelerate", "compare")) and not name.endswith("mixed"):  # without reward
            configs.load(name)
    assert configs.load("demo/sms") == configs.load(yaml_files.folder() / "demo" / "sms.yaml")


def test_a_printed_configuration_is_whole(rlsum, here):
    Path("mine.yaml").write_text(rlsum("configs", "demo/sms")[1])
    assert configs.load("mine.yaml") == configs.load("demo/sms")
    Path("own.yaml").write_text(yaml.safe_dump({"base": "demo/sms", "run": "r"}))
    assert configs.load("own.yaml").run == "r"
    assert "num_machines" in rlsum("configs", "accelerate/several_machines")[1]


def test_an_unknown_name_names_the_nearest(rlsum, here):
    code, _, error = rlsum("train", "configs/demo/smss")
    assert code == 2
    assert "did you mean demo/sms?" in error
