import gzip
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from commands import cells, invoked
from rows import rows_of

from rlsum.data.corpus import load_corpus
from rlsum.errors import UserError
from rlsum.readers import CorpusError
from rlsum.records import read_outputs
from rlsum.simulation.word_vectors import TooLittleText, train_from_corpus

pytestmark = pytest.mark.usefixtures("own_module_cache")
ROWS = [
    {"id": "a", "article": "Ann met Bo in Rome .", "highlights": "Ann met Bo ."},
    {"id": "b", "article": "Bo left Rome by train .", "highlights": "Bo left .\nHe cried ."},
]
SYSTEMS = [
    {"id": "b", "reference": "r two .\nmore .", "fine": "x .\ny .", "silent": "", "gone": None},
    {"id": "a", "reference": ["r one .", "other ."], "fine": " z\u2028w", "silent": "", "gone": "x"},
]


def write(path, rows):
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


LISTS = ("--reference-lists", "alternatives")
run = partial(invoked, "data")


def shown(result, name):
    return cells(result.output, name)


def configured(path):
    """A configuration that trains on a file."""
    values = {"run": "r", "data": {"train": path, "valid": path}, "training": {"steps": 1}}
    config = f"{path}.yaml"
    Path(config).write_text(json.dumps(values), encoding="utf-8")
    return config


def test_inspect_counts_what_is_there(tmp_path):
    path = write(tmp_path / "x.jsonl", [*ROWS, {"id": "c", "article": "", "highlights": "x"}])
    result = run("inspect", configured(path), "--max-source", "5", "--vocabulary", "4")
    assert result.exit_code == 0
    assert shown(result, "used")[1] == "2"
    _, count, place = shown(result, "skipped, article: empty")
    assert count == "1"
    assert place.startswith(path[:10])
    assert f"{path}:3".startswith(place), "the place of the first, on several lines where the terminal is narrow"
    assert shown(result, "articles") == ["articles", "6.0", *["6"] * 7, "100.0% at 5"]
    assert shown(result, "summaries")[1:3] + shown(result, "summaries")[-1:] == ["5.0", "4", "0.0% at 100"]
    # Within the cuts "Bo" is there 4 times, "." 3 times, and "Ann" and "Rome" lead the words of 2 by the alphabet.
    assert shown(result, "article tokens outside the 4 words")[1] == "50.00%"
    assert shown(result, "summary tokens outside them")[1] == "40.00%"
    assert shown(result, "of these, found in the article")[1] == "50.0%"
    assert shown(result, "summary tokens found in the article")[1] == "50.0%"
    assert shown(result, "sentences a summary")[1] == "1.50"
    assert "reference 1:\n    Ann met Bo ." in result.output


def test_a_share_of_nothing_is_a_dash(tmp_path):
    result = run("inspect", configured(write(tmp_path / "x.jsonl", ROWS)))
    assert shown(result, "of these, found in the article")[1] == "-"
    assert "nan" not in result.output


@pytest.mark.parametrize(
    ("article", "summary", "read"),
    [
        ("Storm closes coastal road.", "Road closed.", "English"),
        ("大雨のために海岸の道は通れない。", "The rain closes the road by the coast.", "Japanese"),
    ],
)
def test_a_language_that_is_not_clear_is_assumed_and_said(tmp_path, article, summary, read):
    result = run("inspect", write(tmp_path / "x.jsonl", [{"article": article, "summary": summary}]))
    assert result.exit_code == 0
    assert f"read as {read} (--language CODE)" in result.stderr


def test_a_log_holds_no_progress_bars(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "HF_DATASETS_DISABLE_PROGRESS_BARS"}
    result = subprocess.run(
        [sys.executable, "-m", "rlsum", "data", "inspect", configured(write(tmp_path / "x.jsonl", ROWS))],
        capture_output=True,
        text=True,
        check=True,
        env=environment | {"HF_DATASETS_CACHE": str(tmp_path / "cache")},
    )
    assert "examples/s" not in result.stderr


def test_too_few_stories_for_vectors_say_how_to_go_without(tmp_path):
    with pytest.raises(TooLittleText, match=r"^--train 2: .*--no-vectors$"):
        run("simulate", str(tmp_path), "--train", "2", "--valid", "1", "--test", "1")
    assert list(tmp_path.iterdir()) == []
    assert run("simulate", str(tmp_path), "--train", "2", "--no-vectors").exit_code == 0


def test_a_simulated_corpus_is_replaced_only_if_asked(tmp_path):
    sizes = ["--train", "2", "--valid", "1", "--test", "1", "--no-vectors"]
    (tmp_path / "test.jsonl").write_text("mine")
    with pytest.raises(UserError, match=r"test\.jsonl: exists; add --overwrite"):
        run("simulate", str(tmp_path), *sizes)
    assert [path.name for path in tmp_path.iterdir()] == ["test.jsonl"]
    assert run("simulate", str(tmp_path), *sizes, "--overwrite").exit_code == 0
    with pytest.raises(UserError, match="cannot be written"):
        run("simulate", str(tmp_path / "test.jsonl"), *sizes)


def test_simulated_vectors_are_those_of_the_written_articles(tmp_path):
    run("simulate", str(tmp_path), "--train", "300", "--valid", "1", "--test", "1")
    assert train_from_corpus(tmp_path / "train.jsonl", tmp_path / "again.txt.gz") > 64
    assert (tmp_path / "vectors.txt.gz").read_bytes() == (tmp_path / "again.txt.gz").read_bytes()


def test_outputs_are_replaced_only_if_asked_and_written_only_where_possible(tmp_path):
    convert = ["outputs", write(tmp_path / "s.jsonl", SYSTEMS), "--candidate", "fine", *LISTS, "-o"]
    out = tmp_path / "o.jsonl"
    out.write_text("mine")
    with pytest.raises(UserError, match="exists; add --overwrite"):
        run(*convert, str(out))
    assert run(*convert, str(out), "--overwrite").exit_code == 0
    assert len(read_outputs(out)) == 2
    for nowhere in ("/proc/o.jsonl", "/dev/null", str(tmp_path), str(out / "o.jsonl"), str(tmp_path / ("o" * 300))):
        with pytest.raises(UserError, match="cannot be written"):
            run(*convert, nowhere, "--overwrite")
    assert {path.name for path in tmp_path.iterdir()} <= {"s.jsonl", "o.jsonl", "cache"}


def test_outputs_become_records_with_their_texts_to_the_letter(tmp_path):
    systems, articles = write(tmp_path / "s.jsonl.gz", SYSTEMS), write(tmp_path / "t.jsonl.gz", ROWS)
    out = tmp_path / "new" / "fine.jsonl"
    result = run("outputs", systems, "--candidate", "fine", "--articles", articles, *LISTS, "-o", str(out))
    assert result.exit_code == 0
    assert "2 records of fine" in result.output
    second, first = read_outputs(out)
    assert (second.id, second.candidate, second.references) == ("b", "x .\ny .", ("r two .\nmore .",))
    assert second.source == ROWS[1]["article"]
    assert (first.candidate, first.references) == (" z\u2028w", ("r one .", "other ."))
    assert first.system == "fine"


def test_an_empty_output_is_kept_and_the_system_named(tmp_path):
    out = tmp_path / "o.jsonl"
    options = ("--candidate", "silent", "--system", "mute", *LISTS, "-o", str(out))
    result = run("outputs", write(tmp_path / "s.jsonl", SYSTEMS), *options)
    assert [(o.candidate, o.system, o.source) for o in read_outputs(out)] == [("", "mute", "")] * 2
    assert "Without articles" in result.output


def test_outputs_without_references_are_converted_if_told_so(tmp_path):
    systems, out = write(tmp_path / "s.jsonl", SYSTEMS), tmp_path / "o.jsonl"
    options = ("--candidate", "fine", "--reference", "", "-o", str(out))
    assert "Without references" in run("outputs", systems, *options).output
    assert [output.references for output in read_outputs(out)] == [(), ()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--candidate", "gone"], r"s\.jsonl:1: 'gone' is null"),
        (["--candidate", "other"], r"s\.jsonl:1: no 'other'; its columns are id, reference"),
        (["--candidate", "fine", "--reference", "ref"], "no 'ref'"),
        (["--candidate", "fine", "--articles", "{articles}"], "no article has the id 'b'"),
        (["--candidate", "fine", "--articles", "{articles}", "--source", "x"], "leave one of them out"),
        (["--candidate", "fine", "--articles", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
    ],
)
def test_outputs_that_cannot_be_joined_are_refused_and_nothing_is_written(tmp_path, arguments, message):
    systems, articles = write(tmp_path / "s.jsonl", SYSTEMS), write(tmp_path / "t.jsonl", ROWS[:1])
    out = tmp_path / "o.jsonl"
    with pytest.raises(CorpusError, match=message):
        run("outputs", systems, "-o", str(out), *(argument.format(articles=articles) for argument in arguments))
    assert not out.exists()


def test_outputs_without_ids_are_numbered_unless_ids_are_needed(tmp_path):
    path, out = tmp_path / "s.csv", tmp_path / "o.jsonl"
    path.write_text("article,highlights,summary\na b,a,b\nc d,c,d\n", encoding="utf-8")
    columns = ["--candidate", "summary", "--reference", "highlights", "-o", str(out)]
    assert run("outputs", str(path), *columns, "--source", "article").exit_code == 0
    assert [(output.id, output.source) for output in read_outputs(out)] == [("1", "a b"), ("2", "c d")]
    articles = write(tmp_path / "t.jsonl", ROWS)
    for needs in (["--articles", articles], ["--id-column", "name"]):
        with pytest.raises(CorpusError, match=r"s\.csv(:2: no 'name'| has 2 rows without ids)"):
            run("outputs", str(path), *columns, *needs, "--overwrite")


def test_pairs_of_lines_are_a_corpus_and_become_records(tmp_path):
    (tmp_path / "train.source").write_text("A storm hit Ohio .\nIt rained .\n \n")
    (tmp_path / "train.target").write_text("Storm .\nRain .\nNothing .\n")
    out = tmp_path / "train.jsonl"
    assert run("convert", str(tmp_path / "train.source"), "-o", str(out)).exit_code == 0
    rows = rows_of(out)
    assert rows[1] == {"id": "train-2", "source": "It rained .", "references": ["Rain ."]}
    assert len(rows) == 2
    assert load_corpus(tmp_path / "train.source").rows[:] == load_corpus(out).rows[:]
    out.unlink()
    assert load_corpus(tmp_path).skipped == {"source: empty": 1}
    (tmp_path / "train.target").write_text("Storm .\nSnow .\nNothing .\n")  # of the same size
    assert load_corpus(tmp_path).rows["references"][:] == [["Storm ."], ["Snow ."]]


def test_a_column_of_sentences_is_converted_as_is_said(tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "o.jsonl"
    table.write_text("text,abstract\n\"['One .', 'Two .']\",\"['A .', 'B .']\"\n")
    columns = ("--source-column", "text", "--reference-column", "abstract", "-o", str(out))
    with pytest.raises(CorpusError, match=r"t\.csv:2: abstract: a list of 2 texts.*--reference-lists"):
        run("convert", str(table), *columns)
    for lists, found in (("sentences", ["A .\nB ."]), ("alternatives", ["A .", "B ."])):
        run("convert", str(table), *columns, "--reference-lists", lists, "--overwrite")
        assert json.loads(out.read_text()) == {"id": "t-2", "source": "One .\nTwo .", "references": found}


def test_references_may_be_in_the_file_of_the_articles(tmp_path):
    outputs, articles, out = tmp_path / "s.jsonl", tmp_path / "a.jsonl", tmp_path / "o.jsonl"
    write(outputs, [{"article_id": 2, "summary": "two"}, {"article_id": 1, "summary": "one"}])
    write(articles, [{"article_id": number, "text": f"text {number}", "gold": f"gold {number}"} for number in (1, 2)])
    columns = ("--candidate", "summary", "--id-column", "article_id", "--reference", "gold")
    assert run("outputs", str(outputs), *columns, "--articles", str(articles), "-o", str(out)).exit_code == 0
    assert [(row.id, row.source, row.references) for row in read_outputs(out)] == [
        ("2", "text 2", ("gold 2",)),
        ("1", "text 1", ("gold 1",)),
    ]
    rows = [{"article_id": 1, "text": "text 1", "gold": gold} for gold in ("gold 1", "gold 2")]
    write(articles, [*rows, {"article_id": 2, "text": "text 2", "gold": "gold 2"}])
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: another 'gold' of id '1' is at .*a\.jsonl:1"):
        run("outputs", str(outputs), *columns, "--articles", str(articles), "-o", str(out), "--overwrite")


def test_a_candidate_is_not_its_own_reference_where_the_columns_have_one_name(tmp_path):
    outputs, articles, out = tmp_path / "s.jsonl", tmp_path / "a.jsonl", tmp_path / "o.jsonl"
    write(outputs, [{"id": 1, "summary": "model text"}])
    write(articles, [{"id": 1, "article": "a text", "summary": "gold", "article1": "b", "summary2": "second"}])
    arguments = ("outputs", str(outputs), "--candidate", "summary", "--reference", "summary", "-o", str(out))
    assert run(*arguments, "--articles", str(articles)).exit_code == 0
    assert [(row.candidate, row.references) for row in read_outputs(out)] == [("model text", ("gold", "second"))]
    for same in ((), ("--articles", str(outputs), "--article-column", "summary")):
        with pytest.raises(CorpusError, match="--reference summary: the column of the candidates, too; name"):
            run(*arguments, *same, "--overwrite")
    arguments = ("outputs", str(articles), "--candidate", "summary2", "--reference", "summary", "-o", str(out))
    for source in (("--source", "article"), ("--articles", str(articles))):
        assert run(*arguments, *source, "--overwrite").exit_code == 0
        assert [(row.candidate, row.references) for row in read_outputs(out)] == [("second", ("gold",))]
