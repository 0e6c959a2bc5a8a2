"""The records: round trip, and errors that name file, line and field."""

import csv
import gzip
import json
import os
from pathlib import Path

import pytest

from rlsum.errors import RecordError
from rlsum.readers import lines
from rlsum.records import Output, read_outputs, system_of, to_json, write_outputs
from rlsum.scoring.pairs import Records

OUTPUT = Output("1", "a\u2028b", ("r one\nr two", "other"), "c \U0001f600", "s", {"rouge-l": 0.5, "sms": None})


def test_a_record_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "new" / "out.jsonl"
    assert write_outputs(path, [OUTPUT, OUTPUT]) == 2
    assert read_outputs(path) == [OUTPUT, OUTPUT]
    assert [item.name for item in path.parent.iterdir()] == ["out.jsonl"]


def test_a_writer_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.jsonl"
    write_outputs(path, [OUTPUT])

    def broken():
        yield OUTPUT
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_outputs(path, broken())
    assert read_outputs(path) == [OUTPUT]


def line(**changes):
    return (json.dumps({**json.loads(to_json(OUTPUT)), **changes}) + "\n").encode()


def test_a_pipe_is_refused_because_files_are_read_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    ends = os.open(tmp_path / "pipe.jsonl", os.O_RDWR)
    os.write(ends, b'{"id": 1}\n')
    with pytest.raises(RecordError, match="pipe"):
        next(lines(tmp_path / "pipe.jsonl"))
    os.close(ends)


def test_damaged_gzip_is_told(tmp_path):
    path = tmp_path / "o.jsonl.gz"
    path.write_bytes(gzip.compress(line())[:-9])
    with pytest.raises(RecordError, match="cannot be read"):
        read_outputs(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no records"),
        (b"\n\n", "no records"),
        (b"{}\n", ":1: missing candidate, references"),
        (b"[1]\n", ", row 1: not a JSON object"),
        (b"\nnonsense\n", ":2: not JSON"),
        (b"\xff\xfa\n", ":1: not UTF-8"),
        (b"\xff\xfe\n", "cannot be read .UTF-16 by its mark"),
        (b"[" * 100_000, ": JSON of more than 100 levels"),
        (b'{"id": ' + b"1" * 5000 + b"}", ":1: not JSON"),
        (line(scores=[1, 2]), ":1: scores must be an object"),
        (line(scores={"sms": "high"}), ":1: scores: sms must be a number"),
        (line(id=None), ":1: id must be text, not null"),
        (
            json.dumps({"id": 1, "source": "", "references": "r", "candidate": None, "system": "s"}).encode(),
            ":1: candidate must be text",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(tmp_path, content, words):
    path = tmp_path / "out.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=words):
        read_outputs(path)


def test_columns_of_other_names_are_refused_by_scoring_and_evaluation_alike(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text("article,highlights,summary\na storm hit,storm,the storm\n", encoding="utf-8")
    told = []
    for read in (read_outputs, lambda path: Records(path).check()):
        with pytest.raises(
            RecordError, match=r"o\.csv:2: missing candidate, references; .*--candidate COLUMN"
        ) as error:
            read(path)
        told.append(str(error.value))
    assert told[0] == told[1]


ROWS = [("a storm; hit", "the storm hit"), ("a\tdog", "dogs, and cats")]


@pytest.mark.parametrize(("name", "delimiter"), [("x.csv", ","), ("x.csv", ";"), ("x.csv", "\t"), ("x.tsv", "\t")])
def test_tables_are_outputs_and_pairs(tmp_path, name, delimiter):
    path = tmp_path / name
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([("candidate", "reference"), *ROWS])
    outputs = read_outputs(path)
    assert [(each.candidate, *each.references) for each in outputs] == ROWS
    assert [(each.id, each.system, each.source) for each in outputs] == [("1", "x", ""), ("2", "x", "")]
    assert [(row["candidate"], row["reference"]) for row in Records(path)] == ROWS
    assert Records(path).check().rows == 2


@pytest.mark.parametrize(
    ("name", "system"),
    [("a.jsonl", "a"), ("a.jsonl.gz", "a"), ("xsum.ours.out", "xsum.ours"), ("xsum.ref", "xsum"), ("plain", "plain")],
)
def test_a_file_of_outputs_names_their_system(name, system):
    assert system_of(Path("folder.d") / name) == system
