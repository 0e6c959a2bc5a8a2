"""`rlsum init`, in an empty folder: what it writes runs, and reads as it says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from rows import jsonl, rows_of, table

from rlsum import config as configs
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
FRENCH = "Le maire a ouvert hier une nouvelle école dans la ville, et beaucoup de gens sont venus pour la fête."
WELSH = "Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau."


def write_csv(path: Path, header: list[str], rows: list[tuple[str, ...]]) -> None:
    table(path, *(dict(zip(header, row, strict=True)) for row in rows))


def data_of(name: str) -> list[list[dict[str, str]]]:
    """The rows of the three files that a file was split into."""
    return [rows_of(Path(f"{name}-data") / f"{part}.jsonl") for part in ("train", "valid", "test")]


def test_one_file_becomes_splits_and_configurations_that_load(rlsum, ran, here):
    write_csv(here / "my news.csv", ["key", "Body", "no"], STORIES)
    printed = ran("init", "my news.csv")
    config = configs.load("my-news.yaml")
    assert (config.data.source_column, config.data.reference_column) == ("Body", "no")
    assert (config.data.tokenizer, config.data.lowercase) == ("spacy", True)
    assert 100 < config.data.max_source < 300
    parts = data_of("my-news")
    assert [len(part) for part in parts] == [32, 4, 4]
    assert len({row["key"] for part in parts for row in part}) == 40
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
    assert [output.id for output in lead] == [row["id"] for row in data_of("news")[-1]]
    for output in lead:
        sentences = output.candidate.splitlines()
        assert len(sentences) == 3
        assert output.source.startswith(sentences[0])


def test_a_folder_is_taken_as_it_is_and_columns_may_be_named(rlsum, ran, here):
    for part in ("train", "valid"):
        write_csv(here / f"{part}.csv", ["id", "summary", "text", "lead"], [(i, s, t, t) for i, t, s in STORIES])
    assert rlsum("init", ".", "--name", "x", "--source-column", "lead")[0] == 0
    config = configs.load("x.yaml")
    assert (config.data.source_column, config.data.reference_column) == ("lead", "summary")
    assert config.data.train == "train.csv"
    words = [
        shlex.split(line) for line in ran("init", here, "--name", "my x").splitlines() if line.startswith("  rlsum")
    ]
    assert ["rlsum", "train", "my x-rewarded.yaml", "--init", "runs/my x"] in words, "lines can be pasted"
    assert [path.name for path in Path("x-data").iterdir()] == ["lead.jsonl"], "the articles stay where they are"


def test_a_language_is_said_and_written_or_asked_for(rlsum, refused, here):
    jsonl(here / "de.jsonl", *({"text": f"{GERMAN} Satz {n}.", "title": f"Neue Schule {n}"} for n in range(40)))
    assert "language: German (de)" in rlsum("init", "de.jsonl")[1]
    assert configs.load("de.yaml").language == configs.load("de-rewarded.yaml").language == "de"
    assert comparisons.load(Path("de-compare.yaml")).language == "de"
    jsonl(here / "xx.jsonl", *({"text": f"{WELSH} {n}", "title": f"Pawb yn rhydd {n}"} for n in range(40)))
    assert "--language CODE" in refused("init", "xx.jsonl")
    assert "as given" in rlsum("init", "xx.jsonl", "--language", "cy")[1]
    assert configs.load("xx.yaml").language == "cy"
    jsonl(here / "two.jsonl", *({"text": f"{GERMAN} {GERMAN} {n}", "summary": f"{FRENCH} {n}"} for n in range(40)))
    assert "articles de, summaries fr; give --language CODE" in rlsum("init", "two.jsonl")[2]
    assert "'welsh' is unknown; did you mean 'cy'" in rlsum("init", "xx.jsonl", "--language", "welsh", "--name", "y")[2]


def test_ids_that_recur_are_replaced_and_rows_of_a_later_part_left_out_and_said(rlsum, here):
    rows = [
        {"id": n % 7, "text": t, "summary": s, "Split": ["train", "test"][n > 30]}
        for n, (_, t, s) in enumerate(STORIES)
    ]
    jsonl(here / "a.jsonl", *rows, rows[39] | {"Split": "train"})
    said = rlsum("init", "a.jsonl")[1]
    assert "9 test, as the column 'Split' says, valid drawn from train; 1 rows left out" in said
    assert "ids recur, so the rows are numbered" in said
    assert len({row["id"] for part in data_of("a") for row in part}) == 40
    jsonl(here / "b.jsonl", *({**row, "Split": row["Split"] if n > 1 else ""} for n, row in enumerate(rows)))
    assert "valid drawn from train; 2 rows left out, for which it says nothing" in rlsum("init", "b.jsonl")[1]


def test_too_few_rows_are_told_with_what_could_not_be_read(refused, here):
    words = ["tea"] * 9 + ["caf\u00e9"] * 31
    rows = "".join(f"{word} in town number {n};a cup of number {n}\n" for n, word in enumerate(words))
    (here / "windows.csv").write_bytes(f"text;summary\n{rows}".encode("cp1252"))
    message = refused("init", "windows.csv")
    assert "9 different articles in 9 rows" in message
    assert "31 rows cannot be read, the first windows.csv:11: " in message
    assert "not UTF-8" in message


def test_turns_of_chats_are_known(refused, here):
    turns = [{"role": "user", "content": STORIES[0][1]}, {"role": "assistant", "content": STORIES[0][2]}]
    jsonl(here / "chats.jsonl", *[{"messages": turns}] * 30)
    assert "'messages' holds turns of chats: write article and answer into columns" in refused("init", "chats.jsonl")


def test_broken_rows_are_counted_and_one_article_is_in_one_part(rlsum, here):
    rows = [(f"{key}-{n}", article, f"{summary} {n}") for n in range(3) for key, article, summary in STORIES]
    write_csv(here / "a.csv", ["key", "text", "summary"], rows)
    with (here / "a.csv").open("ab") as file:
        file.write("x,schön,schön\n".encode("latin-1"))
    assert "left out: 1, the first a.csv:122: text: not UTF-8" in rlsum("init", "a.csv")[1]
    parts = data_of("a")
    assert sum(map(len, parts)) == 120
    assert sum(len({row["text"] for row in part}) for part in parts) == 40


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("text,title\n" + "".join(f"a b c {n},d e {n}\n" for n in range(19)) * 2, "19 different articles in 38 rows"),
        ("number,text\n" + "".join(f"1,some words {n}\n" for n in range(30)), "a.csv: no column of summaries"),
        ("".join(f"{article},{summary}\n" for _, article, summary in STORIES), "not names of columns"),
        ("", "no row can be read (empty)"),
        ("text,summary\n" + "schön,schön\n" * 30, "no row can be read (a.csv:2: not UTF-8)"),
    ],
)
def test_data_that_cannot_be_used_is_told_and_nothing_is_written(rlsum, refused, here, content, words):
    Path("a.csv").write_text(content, encoding="latin-1")
    assert words in refused("init", "a.csv")
    assert not list(Path("a-data").glob("*"))
    assert rlsum("init", "nowhere.csv")[0] == 2
