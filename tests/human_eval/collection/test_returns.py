import csv
import gzip
import io
import json
import sqlite3
from contextlib import closing

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from rows import jsonl
from served import given
from studies import study

from human_eval.collection.collect import collect
from human_eval.collection.database import read_database
from human_eval.collection.responses import Response
from human_eval.collection.returns import read_returned
from human_eval.collection.store import ResponseStore
from human_eval.study import StudyError
from rlsum.errors import UserError

BLIND, _ = study()
TASK = BLIND.tasks[0].id
NAMES = [criterion.id for criterion in BLIND.criteria]


def rows_of(path):
    return list(read_returned(path, BLIND))


def written(path, header, rows, **dialect):
    file = io.StringIO()
    writer = csv.writer(file, **dialect)
    writer.writerows([header, *rows])
    path.write_text(file.getvalue(), encoding="utf-8-sig")
    return path


TURK = ["HITId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds", "Input.study", "Input.task"]
TURK_ROW = ["H1", "W1", "Submitted", "Thu Dec 05 14:23:11 PST 2019", "84", BLIND.id, TASK]
ANSWERED = [f"Answer.{name}" for name in NAMES]


def test_a_full_results_file_of_mechanical_turk(tmp_path):
    given = [*TURK_ROW, "hm, so", "left", "right", "none", "left", ""]
    path = written(tmp_path / "batch.csv", [*TURK, "Answer.comment", *ANSWERED, "Approve"], [given])
    (row,) = rows_of(path)
    answers = dict(zip(NAMES, ["left", "right", "none", "left"], strict=True))
    assert row.response == Response(BLIND.id, TASK, "W1", answers, "hm, so", 84.0, "2019-12-05T14:23:11-08:00", "mturk")
    assert row.where == f"{path}:2"


def test_rows_of_mechanical_turk_end_before_its_last_columns(tmp_path):
    """Its files name Approve and Reject, which a requester fills in; downloaded rows lack these cells."""
    header = [*TURK, *ANSWERED, "Approve", "Reject"]
    rows = [[*TURK_ROW, *["left"] * 4], [*TURK_ROW[:1], "W2", *TURK_ROW[2:], *["right"] * 4, "x", ""]]
    first, second = rows_of(written(tmp_path / "batch.csv", header, rows))
    assert [first.response.judge, second.response.judge] == ["W1", "W2"]
    assert first.response.answers == dict.fromkeys(NAMES, "left")


def test_a_file_of_input_and_answer_columns_alone(tmp_path):
    """Nobody knows who judged: rows of one task are of different judges, and again the same when read again."""
    rows = [[TASK, *["left"] * 4], [TASK, *["right"] * 4], [BLIND.tasks[1].id, *["none"] * 4]]
    path = written(tmp_path / "batch.csv", ["Input.task", *ANSWERED], rows)
    found = rows_of(path)
    judges = [row.response.judge for row in found]
    assert judges == [f"anonymous-{TASK}-1", f"anonymous-{TASK}-2", f"anonymous-{BLIND.tasks[1].id}-1"]
    assert all(row.response.seconds is None and row.response.submitted is None for row in found)
    assert judges == [row.response.judge for row in rows_of(path)]


def test_answers_as_columns_of_true_and_false_and_as_one_object(tmp_path):
    flat = [f"Answer.{name}.{side}" for name in NAMES for side in ("left", "right", "none")]
    cells = ["false", "true", "false"] * 4
    (row,) = rows_of(written(tmp_path / "flat.csv", ["Input.task", *flat], [[TASK, *cells]]))
    assert row.response.answers == dict.fromkeys(NAMES, "right")
    cell = json.dumps([{name: {"left": False, "right": False, "none": True} for name in NAMES} | {"comment": "so"}])
    (row,) = rows_of(written(tmp_path / "object.csv", ["Input.task", "Answer.taskAnswers"], [[TASK, cell]]))
    assert row.response.answers == dict.fromkeys(NAMES, "none")
    assert row.response.comment == "so"


def turk_row(tmp_path, place, cell):
    row = [*TURK_ROW[:place], cell, *TURK_ROW[place + 1 :], *["left"] * 4]
    (found,) = rows_of(written(tmp_path / "batch.csv", [*TURK, *ANSWERED], [row]))
    return found


def test_a_rejected_assignment_is_refused(tmp_path):
    found = turk_row(tmp_path, 2, "Rejected")
    assert "assignment was rejected" in found.response
    assert found.raw["WorkerId"] == "W1"


@pytest.mark.parametrize(
    ("place", "cell", "lost"),
    [
        (3, "Thu Dec 05 14:23:11 XYZ 2019", "submitted"),
        (3, "Thu Dez 05 14:23:11 PST 2019", "submitted"),
        (4, "a while", "seconds"),
    ],
)
def test_a_judgment_of_mechanical_turk_with_a_strange_time_counts_without_it(tmp_path, place, cell, lost):
    (counts,) = collect(BLIND, [turk_row(tmp_path, place, cell)]).responses
    assert [name for name in ("seconds", "submitted") if getattr(counts, name) is None] == [lost]


def test_two_answers_at_once_are_refused(tmp_path):
    header = ["Input.task", "Answer.overall.left", "Answer.overall.right"]
    (row,) = rows_of(written(tmp_path / "batch.csv", header, [[TASK, "true", "TRUE"]]))
    assert "two answers at once: overall is left and right" in row.response
    header = ["Input.task", "Answer.taskAnswers"]
    (row,) = rows_of(written(tmp_path / "object.csv", header, [[TASK, "[3]"]]))
    assert "taskAnswers cannot be read" in row.response


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_filled_in_spreadsheet(tmp_path, delimiter):
    header = ["task", "judge", *NAMES, "comment", "article"]
    rows = [
        [TASK, " ann ", "A", "b", "No difference", "tie", "so\nso", "x,y;z"],
        ["", "", "", "", "", "", "", ""],
        [TASK, "ann", "", " ", "", "", "", ""],
        [TASK, "ann", "left", "maybe", "", "none", "", ""],
    ]
    path = written(tmp_path / "sheet.csv", header, rows, delimiter=delimiter)
    first, blank, odd = rows_of(path)
    answers = dict(zip(NAMES, ["left", "right", "none", "none"], strict=True))
    assert first.response == Response(BLIND.id, TASK, "ann", answers, "so\nso", origin="csv")
    assert blank.response == "not filled in"
    assert blank.where == f"{path}:5"  # the comment has two lines
    assert odd.response.answers == {NAMES[0]: "left", NAMES[1]: "maybe", NAMES[3]: "none"}


@pytest.mark.parametrize("name", ["sheet.xlsx", "SHEET.XLSX", "sheet.tsv", "sheet.parquet", "sheet.csv.gz"])
def test_a_sheet_is_read_in_every_format_of_tables(tmp_path, name):
    header, row = ["task", "judge", *NAMES, "comment"], [TASK, "ann", "left", "b", "tie", "none", None]
    path = tmp_path / name
    if "xlsx" in name.lower():
        book = openpyxl.Workbook()
        book.active.append(header)
        book.active.append(row)
        book.save(path)
    elif name.endswith("parquet"):
        pyarrow.parquet.write_table(pyarrow.table({key: [cell] for key, cell in zip(header, row, strict=True)}), path)
    else:
        delimiter = "\t" if "tsv" in name else ","
        lines = "\n".join(delimiter.join(cell or "" for cell in cells) for cells in (header, row))
        path.write_bytes(gzip.compress(lines.encode()) if name.endswith("gz") else lines.encode())
    (found,) = rows_of(path)
    answers = dict(zip(NAMES, ["left", "right", "none", "none"], strict=True))
    assert found.response == Response(BLIND.id, TASK, "ann", answers, origin="csv")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not a table with a header and rows"),
        (b"judge,overall\nann,left\n", "not a table with one column task"),
        (b"task,task\nx,y\n", "not a table: 2 columns are called 'task'"),
        (b'"task"x,judge\nt,ann\n', "not a table"),
        (b'task,judge\nt,"ann\n', "broken CSV"),
        (b"Input.id,Answer.overall\n1,left\n", "not a table with one column Input.task"),
        ("task,judge\nt,J\u00fcrgen\n".encode("latin-1"), "not UTF-8"),
        (b"task,judge\nt,ann,left\n", "wrong number of CSV fields"),
    ],
)
def test_files_of_another_form_are_one_reject(tmp_path, content, told):
    (tmp_path / "x.csv").write_bytes(content)
    (row,) = rows_of(tmp_path / "x.csv")
    assert told in row.response


def test_the_file_of_an_offline_page(tmp_path):
    judged = {"task": TASK, "answers": {"overall": "left"}, "comment": "", "seconds": 3.5, "submitted": None}
    content = {"format": 1, "study": BLIND.id, "booklet": 0, "judge": "ann", "judgments": [judged, 3]}
    path = jsonl(tmp_path / "x.json", content)
    first, second = rows_of(path)
    assert first.response == Response(BLIND.id, TASK, "ann", {"overall": "left"}, "", 3.5, None, "offline")
    assert (second.where, second.response) == (f"{path}: judgment 2", "not a JSON object")


@pytest.mark.parametrize("seconds", ["soon", [], 10**400])
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_only_the_time_goes_of_an_answer_whose_time_is_none(tmp_path, seconds, form):
    judged = {"task": TASK, "answers": dict.fromkeys(NAMES, "left"), "seconds": seconds, "submitted": 20261120}
    whole = {"study": BLIND.id, "judge": "ann"}
    content = judged if form == "jsonl" else {"booklet": 0, "judgments": [judged]}
    found = collect(BLIND, read_returned(jsonl(tmp_path / f"x.{form}", {**whole, **content}), BLIND))
    assert [(row.seconds, row.submitted) for row in found.responses] == [(None, None)]
    assert (found.rejects, found.untimed) == ((), 1)


def test_an_offline_file_is_of_one_booklet(tmp_path):
    other = BLIND.booklets[1][0].id
    judgments = [{"task": task, "answers": {"overall": "left"}} for task in (TASK, other)]
    content = {"format": 1, "study": BLIND.id, "booklet": 0, "judge": "ann", "judgments": judgments}
    path = jsonl(tmp_path / "x.json", content)
    first, second = rows_of(path)
    assert (first.response.task, first.file) == (TASK, str(path))
    assert second.response == "of another booklet than its file"


@pytest.mark.parametrize("damage", ["answers = '{'", "answers = '3'", "submitted = 1e30"])
def test_a_damaged_row_of_the_database_is_one_reject(tmp_path, damage):
    path = tmp_path / "judging.sqlite"
    with closing(ResponseStore(path, BLIND)) as store:
        store.claim("ann")
        for task in store.progress("ann").open[:2]:
            store.record(given("ann", task, dict.fromkeys(NAMES, "left"), "", 1.0), 0)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE answers SET {damage} WHERE id = 1")
        connection.commit()
    good, bad = rows_of(path)
    assert (good.response.judge, good.signed_in) == ("ann", True)
    assert (bad.response, bad.where) == ("damaged", f"{path}: row 1 of the table answers")
    with pytest.raises(UserError, match="row 1 of the table answers is damaged"):
        read_database(path, BLIND)


@pytest.mark.parametrize("content", ["", "[]", '{"judgments": 3}', "{", "[" * 100_000])
def test_json_of_something_else_is_one_reject(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    (row,) = rows_of(tmp_path / "x.json")
    assert row.response.startswith("not")


def test_a_line_that_is_no_judgment_is_one_reject(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"task": 3}\nnot json\n')
    first, second = rows_of(tmp_path / "x.jsonl")
    assert "no 'study'" in first.response
    assert second.response == "not JSON"


@pytest.mark.parametrize("name", ["x.ods", "x", "x.sqlite.gz", "x.xlsx.gz"])
def test_an_unknown_format_is_an_error(tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(StudyError, match=r"unknown format; .*; \.jsonl, \.csv, \.tsv also with \.gz"):
        rows_of(tmp_path / name)


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.jsonl", "x.xlsx", "x.parquet", "x.sqlite"])
def test_a_missing_file_is_an_error(tmp_path, name):
    with pytest.raises(UserError, match="cannot be read"):
        rows_of(tmp_path / name)
