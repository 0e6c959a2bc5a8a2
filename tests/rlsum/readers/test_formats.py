"""Files as people have them become the same rows, or an error that names the place."""

from __future__ import annotations

import bz2
import datetime
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas
import pytest

from rlsum.errors import RecordError
from rlsum.readers import Read, read_file, records
from rlsum.readers.strict_json import NotJson, json_value

ROWS = [
    {"id": "1", "candidate": "a storm; 1,5 m", "reference": 'the "storm" hit'},
    {"id": "2", "candidate": "caf\u00e9, \u0939\u093f\u0928\u094d\u0926\u0940", "reference": "two\nlines"},
]
FRAME = pandas.DataFrame(ROWS)


def table(separator: str = ",", end: str = "\n") -> str:
    frame = FRAME.replace("\n", end, regex=True)
    return frame.to_csv(index=False, sep=separator, lineterminator=end)


def json_lines(rows=ROWS, **options) -> str:
    return "".join(json.dumps(row, **options) + "\n" for row in rows)


def excel(path: Path, *rows, name="one") -> Path:
    book = openpyxl.Workbook()
    book.active.title = name
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


ORIENTS = ("columns", "index", "records", "split", "table")
WRITTEN: dict[str, tuple[str, str | bytes]] = {
    "commas": ("x.csv", table()),
    "semicolons": ("x.csv", table(";")),
    "tabs in .csv": ("x.csv", table("\t")),
    "tabs": ("x.tsv", table("\t")),
    "carriage returns": ("x.csv", table(end="\r")),
    "Windows": ("x.csv", table(end="\r\n")),
    "mark": ("x.csv", b"\xef\xbb\xbf" + table().encode()),
    "UTF-16": ("x.csv", table("\t").encode("utf-16")),
    "big UTF-16": ("x.csv", b"\xfe\xff" + table().encode("utf-16-be")),
    "UTF-32": ("x.csv", table().encode("utf-32")),
    "zipped UTF-16": ("x.csv.gz", gzip.compress(table().encode("utf-16"))),
    "empty rows and columns": ("x.csv", table().replace("reference\n", "reference,,\n") + "\n,,\n\n"),
    "empty lines first": ("x.csv", "\n\r\n" + table()),
    "Excel's delimiter": ("x.csv", "sep=;\n" + table(";")),
    "spaces in the header": ("x.csv", table().replace("candidate,", " candidate ,")),
    "lines": ("x.jsonl", json_lines()),
    "lines by another name": ("x.out", json_lines(ensure_ascii=False)),
    "UTF-16 lines": ("x.jsonl", json_lines(ensure_ascii=False).encode("utf-16")),
    "lines with carriage returns": ("x.jsonl", json_lines().replace("\n", "\r")),
    "lines of Windows with a mark": ("x.jsonl", b"\xef\xbb\xbf" + json_lines().replace("\n", "\r\n").encode()),
    "joined files with marks": ("x.jsonl", "".join("\ufeff" + json_lines([row]) for row in ROWS)),
    "a table joined to its header": ("x.csv", "\ufeff" + table().replace("reference\n", "reference\n\ufeff")),
    "list": ("x.json", json.dumps(ROWS)),
    "indented list": ("x.json", json.dumps(ROWS, indent=2)),
    "data": ("x.json", json.dumps({"data": ROWS})),
    "indented, by another key": ("x.json", json.dumps({"examples": ROWS}, indent=2)),
    "data with a version": ("x.json", json.dumps({"version": "1.1", "data": ROWS})),
    **{
        f"pandas {orient}": ("x.json", FRAME.to_json(orient=orient))
        for orient in ("columns", "index", "records", "split")
    },
    "pandas lines": ("x.json", FRAME.to_json(orient="records", lines=True)),
    "columns as lists": ("x.json", json.dumps(FRAME.to_dict("list"))),
    "objects by id": ("x.json", json.dumps({row["id"]: {k: v for k, v in row.items() if k != "id"} for row in ROWS})),
}


def fields(path: Path) -> list[dict]:
    found = [*records(path)]
    assert not any(read.problem for read in found)
    return [{name: read.fields[name] for name in ROWS[0]} for read in found if any(read.fields.values())]


@pytest.mark.parametrize("written", WRITTEN)
def test_each_way_of_writing_gives_the_same_rows(tmp_path, written):
    name, content = WRITTEN[written]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    end = "\r" if written == "carriage returns" else "\r\n" if written == "Windows" else "\n"
    assert fields(path) == [{name: text.replace("\n", end) for name, text in row.items()} for row in ROWS]


def test_excel_is_read_as_the_csv_that_it_would_be_saved_as(tmp_path, caplog):
    day = datetime.datetime(2024, 2, 29)
    path = excel(
        tmp_path / "x.xlsx",
        (None,),
        (" id ", "text", "score", "day", "at", "sure", None),
        (1.0, "a, b", 0.5, day, day.replace(hour=7), True, None),
        (None,) * 3,
        (2, "=1+1", 10**6, None, None, None),
        ("x", "c", None),
    )
    first, formula, last = records(path)
    cells = ("1", "a, b", "0.5", "2024-02-29", "2024-02-29T07:00:00", "True")
    assert first == Read(
        f"{path}:3", "x-3", dict(zip(("id", "text", "score", "day", "at", "sure"), cells, strict=True))
    )
    assert "the formula =1+1 has no value" in formula.problem
    assert (last.fields["id"], last.fields["score"], last.fields["sure"]) == ("x", "", "")


def test_the_first_sheet_is_read_and_named(tmp_path, caplog):
    path = excel(tmp_path / "x.xlsx", ("text",), ("here",))
    book = openpyxl.load_workbook(path)
    book.create_sheet("two").append(["other"])
    book.save(path)
    with caplog.at_level("INFO"):
        assert [read.fields for read in records(path)] == [{"text": "here"}]
    assert "the first of 2 sheets, 'one'" in caplog.text


def repeated_in_excel(path: Path) -> None:
    excel(path, ("reference", "candidate", "reference "), ("a", "b", "c"))


REPEATED: dict[str, str | Callable[[Path], None]] = {
    "x.csv": "reference,candidate,reference\na,b,c\n",
    "x.tsv": "reference\tcandidate\treference\na\tb\tc\n",
    "x.xlsx": repeated_in_excel,
    "x.json": '[\n{"candidate": "a", "reference": "}"},\n{"reference": "b",\n"candidate": "c", "reference": "d"}\n]',
    "y.json": '{"data": [\n{"reference": "b", "reference": "d"}]}',
    "x.jsonl": '{"candidate": "a", "reference": "b"}\n{"candidate": "a", "scores": {"reference": 1, "reference": 2}}\n',
}
PLACES = {"x.json": "line 4", "y.json": "line 2", "x.jsonl": ":2", "x.csv": ":1", "x.tsv": ":1", "x.xlsx": ":1"}


@pytest.mark.parametrize("name", REPEATED)
def test_a_repeated_name_is_an_error_that_names_it_and_its_place(tmp_path, name):
    content = REPEATED[name]
    if isinstance(content, str):
        (tmp_path / name).write_text(content)
    else:
        content(tmp_path / name)
    try:
        told = [f"{read.where} {read.problem}" for read in records(tmp_path / name)][-1]
    except RecordError as error:
        told = str(error)
    assert "'reference'" in told
    assert PLACES[name] in told


@pytest.mark.parametrize(
    "value",
    [
        {"candidate": "a", "messages": [{"role": "user"}]},
        {"candidate": "a", "references": ["b", "c"]},
        {"train": [{"a": 1}], "test": [{"a": 2}]},
        {"data": []},
    ],
)
def test_an_object_that_holds_no_rows_is_a_row(tmp_path, value):
    (tmp_path / "x.jsonl").write_text(json.dumps(value))
    assert [read.fields for read in records(tmp_path / "x.jsonl")] == [value]


def test_no_list_of_rows_beside_another_is_lost(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps({"version": 1, "data": [{"a": 1}], "test": [{"a": 2}]}))
    with pytest.raises(RecordError, match=r"x.json: rows under data, test; give each of these lists a file"):
        list(records(tmp_path / "x.json"))


def test_strings_may_hold_what_ends_objects():
    with pytest.raises(NotJson, match="'a' is written twice in the object that ends in line 3"):
        json_value('{"x": "}\\"}",\n"y": {"b": "{"}, "z":\n{"a": 1, "a": 2}}')


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (['1\t"He left\tx', '2\tand "she"\ty', '3\tall"\tz'], ["quoting", ":3 quoting", "z"]),  # broken as CSV
        (['1\t"He left\tx', '2\tall"\ty', "3\tb\tz"], ["lines 2 to 3", ":3 quoting", "z"]),  # one row as CSV
        (['1\t"He left', 'again"\tx'], ["x"]),  # a quoted line feed
        (['1\t"a\tb', 'c"\tx'], ["x"]),  # with a tab in one of the lines
        (['1,"a,x', "2,b,y", '3,"c, d",z', "4,e,z"], [":2 broken", ":3 broken", ":4 broken", "z"]),  # c is in no quotes
        (['1,"a,x', "2,b,y", '3,c",z', "4,e,z"], [":2 broken", ":3 broken", ":4 broken", "z"]),  # one row as CSV
        (['1,"a,x', '2,b",y', "3,c,z"], [":2 broken", ":3 broken", "z"]),
        (['1,"a,x', '2,b,y"', "3,c,z"], [":2 broken", ":3 broken", "z"]),  # one row of two cells
        (["1,a,x", '2,"b,y', "3,c,z"], ["x", ":3 broken", ":4 broken"]),  # never closed
        (['1,"Yes, all', '""No,"" he said,', 'we do.",x'], ["x"]),  # commas in text are no cells
        (['1,"China wants men,women .', 'All .","x"'], ["x"]),
        (['1,"China wants 1,000 men .', 'All the 1,000 .",x'], ["x"]),
        (['1,"A said ""b"" c', "d, e", 'f",x', '2,"said "b" c', "d, e", "3,f,z"], ["x", ":5 broken", ":6 wrong", "z"]),
    ],
)
def test_stray_quotes_join_no_rows_unsaid(tmp_path, lines, read):
    delimiter = lines[0][1]
    (tmp_path / "x.csv").write_text("\n".join([f"id{delimiter}candidate{delimiter}reference", *lines]))
    rows = [*records(tmp_path / "x.csv")]
    assert len(rows) == len(read)
    found = [f":{row.where.rpartition(':')[2]} {row.problem or row.fields['reference']}" for row in rows]
    assert all(all(map(text.__contains__, told.split())) for text, told in zip(found, read, strict=True))


def test_lines_of_two_files_are_articles_and_summaries(tmp_path):
    (tmp_path / "train.source").write_text("one article\n\nthree\n")
    (tmp_path / "train.target").write_text(" one\ntwo\nthree \n")
    found = [read.fields for read in read_file(tmp_path / "train.source")]
    assert found[0] == {"source": "one article", "reference": "one"}
    assert [row["reference"] for row in found] == ["one", "two", "three"]
    (tmp_path / "train.target").write_text("one\ntwo\n")
    with pytest.raises(RecordError, match=r"train\.source:3: .*train\.target ends before"):
        list(read_file(tmp_path / "train.source"))
    (tmp_path / "train.target").unlink()
    with pytest.raises(RecordError, match=r"no train\.target beside it"):
        list(read_file(tmp_path / "train.source"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_text_a_line(tmp_path, end):
    (tmp_path / "x.hyp").write_bytes(end.join(["[Music] plays", "", "{a}", "last"]).encode())
    assert [read.fields["candidate"] for read in records(tmp_path / "x.hyp")] == ["[Music] plays", "", "{a}", "last"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.txt", b"id,candidate,reference\n1,a,b\n", "header of a table"),
        ("x.txt", b'"id";"candidate"\n"1";"a"\n', "header of a table"),
        ("x.txt", "a b\n".encode("utf-16-le"), "zero bytes, as UTF-16 without its mark"),
        ("x.csv", "candidate,reference\na,b\n".encode("utf-16-le"), "zero bytes, as UTF-16 without its mark"),
        ("x.xlsx", b"not a workbook", "an unreadable workbook"),
        ("x.txt", "caf\u00e9\n".encode("latin-1"), "x.txt:1: not UTF-8"),
        ("x.jsonl.zst", b"\x28\xb5\x2f\xfd\x04\0", "no text but compressed by zstd; decompress it"),
        ("x.jsonl.xz", lzma.compress(b"a"), "no text but compressed by xz"),
        ("x.csv.bz2", bz2.compress(b"a"), "no text but compressed by bzip2"),
        ("x.csv", b"PK\x03\x04\x14\0", "a zip archive"),
        ("x.jsonl", b"PAR1\x15\x04", "call it .parquet"),
        ("x.csv", b"ARROW1\0\0", "no text but Arrow"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_fix(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordError, match=told):
        list(records(tmp_path / name))
