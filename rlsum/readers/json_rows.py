"""Rows of JSON: an object a line, or one value that holds them all, as pandas and others write it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from rlsum.errors import RecordError
from rlsum.readers.rows import Read, numbered
from rlsum.readers.strict_json import NotJson, Repeated, json_file, json_value
from rlsum.readers.text import divisible, lines, numbered_lines


def jsonl(path: Path) -> Iterator[Read]:
    """Rows of a file of one object a line, or of one JSON value: see `rows_of`. Raises RecordError as `lines`."""
    rows = _whole(path)
    if rows is not None:
        for number, row in enumerate(rows, 1):
            yield Read(f"{path}, row {number}", numbered(path, number), *_object(row))
        return
    yield from lines_of_objects(path)


def lines_of_objects(path: Path, begin: int = 0, end: int = sys.maxsize) -> Iterator[Read]:
    """Rows of a file of one object a line; of one that ``has_pieces``, those whose lines begin at these bytes."""
    for number, line in numbered_lines(path, begin, end):
        if line.strip():
            try:
                row = _object(json_value(line))
            except NotJson as error:
                row = {}, str(error)
            yield Read(f"{path}:{number}", numbered(path, number), *row)


def has_pieces(path: Path) -> bool:
    """Whether a file is read line by line, and from any of its bytes on."""
    return divisible(path) and _begins_with_objects(_beginning(path))


def rows_of(value: Any, path: Path) -> list[Any]:
    """The rows in a JSON value.

    A list; the list of objects under ``data``, or under the only key; pandas' ``to_json`` with any ``orient``: a column
    or a row for each key, lists for columns; objects by their ids. Any other object is one row. Raises RecordError for
    rows beside ``data``, which would be lost.
    """
    if not isinstance(value, dict):
        return value if isinstance(value, list) else [value]
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(names, row, strict=True)) for row in data]
    of_objects = {key: rows for key, rows in value.items() if isinstance(rows, list) and all_objects(rows)}
    if "data" in of_objects and len(of_objects) > 1:
        raise RecordError(f"{path}: rows under {', '.join(of_objects)}; give each of these lists a file of its own")
    if "data" in of_objects or len(value) == len(of_objects) == 1:
        return of_objects.get("data", next(iter(of_objects.values())))
    inner = list(value.values())
    if all_objects(inner) and all(key.isdecimal() for column in inner for key in column):  # {"column": {"0": ...}}
        places = dict.fromkeys(key for column in inner for key in column)
        return [{name: column[key] for name, column in value.items() if key in column} for key in places]
    if all_objects(inner):
        return [{"id": key, **row} for key, row in value.items()]
    columns = not of_objects and all(isinstance(column, list) and len(column) == len(inner[0]) for column in inner)
    if len(value) > 1 and columns:
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]
    return [value]


def all_objects(values: list[Any]) -> bool:
    """Whether there are values, all of them objects."""
    return bool(values) and all(isinstance(value, dict) for value in values)


def _whole(path: Path) -> list[Any] | None:
    """The rows of a file that is one JSON value, None for one of an object a line."""
    beginning = _beginning(path)
    if not beginning or beginning[0][:1] not in (b"[", b"{") or _begins_with_objects(beginning):
        return None
    try:
        value = json_file(path, "give one object a line, or a list of objects")
    except RecordError as error:
        if beginning[0][:1] == b"[" or (len(beginning) > 1 and isinstance(error.__cause__, Repeated)):
            raise
        return None  # its lines say what is wrong
    rows = rows_of(value, path)
    return None if len(beginning) == 1 and rows == [value] else rows


def _beginning(path: Path) -> list[bytes]:
    """The first two lines that are not empty."""
    return [*islice((line.strip() for _, line in lines(path) if line.strip()), 2)]


def _begins_with_objects(beginning: list[bytes]) -> bool:
    """Whether two lines are objects."""
    return len(beginning) > 1 and beginning[0][:1] == b"{" and beginning[0][-1:] == b"}"


def _object(row: Any) -> tuple[dict[str, Any], str]:
    return (row, "") if isinstance(row, dict) else ({}, "not a JSON object")
