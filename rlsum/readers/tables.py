"""Rows of tables: CSV, TSV, Excel, parquet, data sets that `datasets` saved. A column's name occurs once."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from itertools import chain
from os import SEEK_END
from pathlib import Path
from typing import Any

from rlsum.readers.rows import CorpusError, Read, numbered
from rlsum.readers.text import ZEROS, opened
from rlsum.readers.understood import say

END = b"\xff\xff\xff\xff\0\0\0\0"  # of a stream of Arrow
MTURK = ("Approve", "Reject")  # last columns of Mechanical Turk's results, which its rows do not have
QUOTING = "broken CSV quoting"
THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
FIELD_LIMIT = 2**24  # characters in one CSV field; Python's default of 131,072 is too little for long articles


def check_names(where: str, names: Iterable[str]) -> None:
    """Raise CorpusError for a name that two columns have: one of them would be lost."""
    for name, count in Counter(filter(None, names)).items():
        if count > 1:
            raise CorpusError(f"{where}: {count} columns are called {name!r}; rename or delete one")


def csv_file(path: Path) -> Iterator[Read]:
    """Rows of a CSV or TSV file with a header. Raises CorpusError for a repeated name.

    Where a stray quote joins rows, each of them has a problem: see `_joined`.
    """
    csv.field_size_limit(max(FIELD_LIMIT, csv.field_size_limit()))  # process-wide; only ever raised
    # Undecodable bytes become lone surrogates, which are detected field by field: they break one row, not the file.
    with io.TextIOWrapper(opened(path), "utf-8-sig", "surrogateescape", newline="") as file:
        first, beginning = file.readline(), list[str]()
        while first and not first.strip():
            beginning.append(first)
            first = file.readline()
        if "\0" in first:
            raise CorpusError(f"path={str(path)!r}: {ZEROS}")
        delimiter = _delimiter(path, first)
        beginning.append("\n" if first.strip() == f"sep={delimiter}" else first)  # as Excel names the delimiter
        taken: list[str] = []  # the lines of a row
        rows = csv.reader(_kept(chain(filter(None, beginning), file), taken), strict=True, delimiter=delimiter)
        header = [name.strip() for name in next(filter(None, rows), [])]
        check_names(f"{path}:{rows.line_num}", header)
        while True:
            begin = rows.line_num + 1
            taken.clear()
            try:
                row, problem = next(rows), ""
            except StopIteration:
                return
            except csv.Error:
                row, problem = [], QUOTING
            if len(row) == len(header) - len(MTURK) and tuple(header[-len(MTURK) :]) == MTURK:
                row += [""] * len(MTURK)
            # the empty text of a file of one column is a row, any other empty row is none
            if not (problem or any(row) or len(row) == len(header) == 1):
                continue
            fields, problem = ({}, problem) if problem else _fields(header, row)
            if joined := _joined(taken, delimiter, max(2, len(header)), bool(problem)):
                fields, problem = {}, f"{QUOTING}: a quote joins lines {begin} to {rows.line_num}"
            for number in (begin, *(begin + place for place in joined)):
                yield Read(f"{path}:{number}", numbered(path, number), fields, problem)


def _joined(lines: Sequence[str], delimiter: str, size: int, broken: bool) -> list[int]:
    """The places of rows that a stray quote joined to the one before: lines after the first, rows by themselves.

    Without a ``broken`` row, as where a second stray quote ends it, all lines must have its cells if quotes are text.
    Text with line feeds has few such lines: white space or another quote follows its commas. Two lines may be text
    where another cell is quoted, and where a comma is in a number.
    """

    def is_row(cells: Sequence[str]) -> bool:
        return len(cells) == size and (delimiter == "\t" or not any(cell.startswith((" ", '""')) for cell in cells[1:]))

    later = range(1, len(lines))
    if broken:
        return [place for place in later if is_row(_cells(lines[place], delimiter))]
    row = "".join(lines)
    certain = delimiter == "\t" or len(lines) > 2 or (row.count('"') == 2 and not THOUSANDS.search(row))
    return [*later] if certain and all(is_row(line.split(delimiter)) for line in lines) else []


def _cells(line: str, delimiter: str) -> list[str]:
    """Those of one line, none if it is no CSV by itself."""
    try:
        return next(csv.reader([line], strict=True, delimiter=delimiter), [])
    except csv.Error:
        return []


def _kept(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    """The lines, each of which is added to ``taken``, without the byte order mark of a file that was joined."""
    for line in lines:
        line = line.removeprefix("\ufeff")
        taken.append(line)
        yield line


def _fields(header: Sequence[str], row: Sequence[Any]) -> tuple[dict[str, Any], str]:
    """The named cells of a row, and its problem; cells without a name at the end may be missing, or empty."""
    named = max((place for place, name in enumerate(header, 1) if name), default=0)
    if len(row) < named or any(row[max(named, len(header)) :]):
        return {}, "wrong number of CSV fields"
    return {name: cell for name, cell in zip(header, row, strict=False) if name}, ""


def _delimiter(path: Path, header: str) -> str:
    """A tab in .tsv; in .csv a semicolon or a tab where the header has more of them than commas."""
    if ".tsv" in path.suffixes:
        return "\t"
    return max(",;\t", key=header.count)  # a comma, the first, if none is there


def excel_file(path: Path) -> Iterator[Read]:
    """Rows of the first sheet, as the CSV that it would be saved as: cells are texts, whole numbers without a point."""
    import openpyxl

    try:
        shown, written = (openpyxl.load_workbook(path, read_only=True, data_only=values) for values in (True, False))
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise CorpusError(f"path={str(path)!r}: an unreadable workbook ({error}); save it as .xlsx again") from error
    name, *more = shown.sheetnames
    if more:
        say(f"{path}: the first of {len(more) + 1} sheets, {name!r}")
    header: list[str] = []
    sheets = (book.worksheets[0].iter_rows(values_only=True) for book in (shown, written))
    for number, (values, formulas) in enumerate(zip(*sheets, strict=True), 1):
        cells = [_cell(value) for value in values]
        if not any(cells) and not any(formulas):
            continue
        where = f"{path}:{number}"
        if not header:
            header = [name.strip() for name in cells]
            check_names(where, header)
            continue
        empty = [cell for value, cell in zip(values, formulas, strict=True) if value is None and cell is not None]
        problem = f"the formula {empty[0]} has no value; save the file in a spreadsheet program" if empty else ""
        fields, wrong = _fields(header, cells)
        yield Read(where, numbered(path, number), {} if problem else fields, problem or wrong)


def _cell(value: Any) -> str:
    """A cell as text; a date as ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def parquet_file(path: Path) -> Iterator[Read]:
    """Rows of a parquet file. Raises CorpusError for a damaged one and for a repeated name."""
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            check_names(str(path), file.schema_arrow.names)
            classes = _classes_in(file.schema_arrow)
            for batch in file.iter_batches(batch_size=1000):
                for fields in batch.to_pylist():
                    number += 1
                    fields |= {name: _named(fields[name], feature) for name, feature in classes.items()}
                    yield Read(f"{path}:{number}", numbered(path, number), _empty_as_none(fields))
    except pyarrow.ArrowInvalid as error:
        raise CorpusError(f"path={str(path)!r}: broken parquet after row {number} ({error}); copy it again") from error


def _empty_as_none(fields: dict[str, Any]) -> dict[str, Any]:
    """The cells of a row; pandas writes an empty one in a column of numbers as NaN."""
    return {name: None if isinstance(value, float) and value != value else value for name, value in fields.items()}


def named_classes(loaded: Any) -> Any:
    """A data set, or its splits, with the names of classes in place of their numbers, which often are alphabetical."""
    if isinstance(loaded, dict):
        return type(loaded)({split: named_classes(dataset) for split, dataset in loaded.items()})
    columns = loaded.column_names
    for name, feature in _with_classes(loaded.features).items():
        named = [_named(value, feature) for value in loaded[name]]
        loaded = loaded.remove_columns(name).add_column(name, named).select_columns(columns)
    return loaded


def _classes_in(schema: Any) -> dict[str, Any]:
    """The columns of classes in a parquet file that `datasets` wrote, with their types."""
    if b"ClassLabel" not in (schema.metadata or {}).get(b"huggingface", b""):
        return {}
    from datasets import Features

    return _with_classes(Features.from_arrow_schema(schema))


def _with_classes(features: Mapping[str, Any]) -> dict[str, Any]:
    return {name: feature for name, feature in features.items() if "ClassLabel(" in repr(feature)}


def _named(value: Any, feature: Any) -> Any:
    """A value with the names of its classes, which lists and objects may hold; -1 is none."""
    if isinstance(value, dict):
        return {name: _named(member, feature[name]) for name, member in value.items()}
    if isinstance(value, list):
        return [_named(member, feature.feature) for member in value]
    named = hasattr(feature, "int2str") and value is not None
    return (feature.int2str(value) if value >= 0 else None) if named else value


def saved(folder: Path) -> Any:
    """The data set, or its splits, that `datasets` saved in a folder, see `named_classes`.

    Raises CorpusError for a damaged file.
    """
    from datasets import Dataset, load_from_disk

    try:
        loaded = load_from_disk(str(folder))
        for dataset in [loaded] if isinstance(loaded, Dataset) else loaded.values():
            check_complete(dataset)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:  # of JSON that says something else
        file = damaged(folder) or folder
        raise CorpusError(f"path={str(folder)!r}: {file} cannot be read ({error}); save the data set again") from error
    return named_classes(loaded)


def check_complete(dataset: Any) -> None:
    """Raise ArrowInvalid for a data set whose file is cut between two batches of rows: Arrow reads it as shorter."""
    from pyarrow import ArrowInvalid

    for name in (file["filename"] for file in dataset.cache_files):
        with open(name, "rb") as content:
            content.seek(-len(END), SEEK_END)
            if content.read() != END:
                raise ArrowInvalid("it has no end")


def damaged(folder: Path) -> Path | None:
    """The first file in or below a folder, of those that `datasets` writes, that cannot be read."""
    from datasets import Dataset

    for file in sorted(folder.rglob("*")):
        try:
            if file.suffix == ".arrow":
                check_complete(Dataset.from_file(str(file)))
            elif file.name in ("state.json", "dataset_info.json", "dataset_dict.json"):
                json.loads(file.read_bytes())
        except (OSError, ValueError):
            return file
    return None


def saved_rows(folder: Path) -> Iterator[Read]:
    """Rows of a data set that `datasets` saved. Raises CorpusError for a damaged one, and for several splits."""
    from datasets import Dataset

    dataset = saved(folder)
    if not isinstance(dataset, Dataset):
        raise CorpusError(f"{folder}: several splits; give one of {', '.join(str(folder / name) for name in dataset)}")
    for number, fields in enumerate(dataset, 1):
        yield Read(f"{folder}, row {number}", numbered(folder, number), _empty_as_none(fields))
