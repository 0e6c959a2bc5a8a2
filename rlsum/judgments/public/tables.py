"""Strict readers of the files that public data comes in; every error names the file and the line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rlsum.errors import RecordError
from rlsum.judgments.cells import MISSING, is_number
from rlsum.readers import DAMAGED, json_value, jsonl, opened
from rlsum.readers.tables import check_names


@dataclass(frozen=True)
class Row:
    """One row: its cells by column name, and ``where`` (file:line) for messages."""

    where: str
    cells: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.cells[name]

    def number(self, name: str) -> float:
        """The cell as a finite number. Raises RecordError."""
        number = self.number_or_none(name)
        if number is None:
            raise RecordError(f"{self.where}: {name} is empty; a number is expected")
        return number

    def number_or_none(self, name: str) -> float | None:
        """The cell as a finite number, None if it is empty. Raises RecordError for anything else."""
        text = self.cells[name].strip()
        return None if text in MISSING else finite(text, f"{self.where}: {name}")

    def numbers(self, name: str) -> tuple[float, ...]:
        """The cell as a JSON list of finite numbers. Raises RecordError."""
        try:
            values = json_value(self.cells[name])
        except ValueError:
            values = None
        if not isinstance(values, list):
            raise RecordError(f"{self.where}: {name}={self.cells[name][:40]!r} is not a JSON list of numbers")
        return tuple(finite(value, f"{self.where}: {name}") for value in values)


def finite(value: Any, label: str) -> float:
    """``value`` as a finite number. Raises RecordError."""
    if not is_number(value):
        raise RecordError(f"{label}={str(value)[:40]!r} is not a finite number")
    return float(value)


@contextmanager
def parsing(where: str, what: str) -> Iterator[None]:
    """Turn a missing field or a value of the wrong type into a RecordError: ``where: not WHAT (KeyError: 'id')``."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{where}: not {what} ({type(error).__name__}: {error})") from error


def read_tsv(path: Path, columns: Sequence[str], otherwise: str | None = None) -> Iterator[Row]:
    """Rows of a tab-separated file with a header; quotation marks are text. ``otherwise`` as in `read_text`.

    Raises RecordError for a missing column of ``columns`` and for a row with more or fewer cells than the header.
    """
    lines = read_lines(path, otherwise)
    header = lines[0].split("\t") if lines else []
    check_columns(path, header, columns)
    for number, line in enumerate(lines[1:], 2):
        if not line:
            continue
        cells = line.split("\t")
        if len(cells) != len(header):
            raise RecordError(f"{path}:{number}: {len(cells)} cells for {len(header)} columns; copy the file again")
        yield Row(f"{path}:{number}", dict(zip(header, cells, strict=True)))


def read_csv(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Rows of a CSV file with a header; missing last cells (Mechanical Turk) are empty. Raises as `read_tsv`."""
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True, skipinitialspace=True)
    try:
        header = next(rows, [])
        check_columns(path, header, columns)
        for cells in rows:
            if len(cells) > len(header):
                raise RecordError(f"{path}:{rows.line_num}: {len(cells)} cells for {len(header)} columns")
            if cells:
                yield Row(f"{path}:{rows.line_num}", dict(zip_longest(header, cells, fillvalue="")))
    except csv.Error as error:
        raise RecordError(f"{path}:{rows.line_num}: broken CSV ({error}); copy the file again") from error


def check_columns(path: Path, header: Sequence[str], columns: Sequence[str]) -> None:
    """Raise RecordError if ``header`` lacks one of ``columns``, or has it twice."""
    check_names(f"{path}:1", (name for name in header if name in columns))
    if missing := [name for name in columns if name not in header]:
        present = ", ".join(header)[:200] or "none"
        raise RecordError(f"{path}: no column {', '.join(missing)}; its columns are {present}")


def read_lines(path: Path, otherwise: str | None = None) -> list[str]:
    """The lines of a text file, without line ends (LF or CRLF)."""
    lines = [line.removesuffix("\r") for line in read_text(path, otherwise).split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def read_text(path: Path, otherwise: str | None = None) -> str:
    """A text file, gzip or not: UTF-8, or ``otherwise`` if it is not. Raises RecordError if it cannot be read."""
    content = _content(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if otherwise is None:
            raise RecordError(f"{path}: not UTF-8 text (byte {error.start + 1:,}); convert the file") from error
        return content.decode(otherwise, errors="replace")


def first_row(path: Path) -> str:
    """The first line of a file, which distinguishes the layouts."""
    return _content(path).split(b"\n", 1)[0].decode("utf-8-sig", errors="replace").removesuffix("\r")


def _content(path: Path) -> bytes:
    try:
        with opened(path) as file:
            return file.read()
    except DAMAGED as error:
        raise RecordError(f"{path}: cannot be read ({error}); give the path of a complete file") from error


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, object) for each object of JSONL, or of a JSON list. Raises RecordError for anything else."""
    for row in jsonl(path):
        if row.problem:
            raise RecordError(f"{row.where}: {row.problem}; one object per line, or a list of objects, is expected")
        yield row.where, row.fields


def find_file(folder: Path, pattern: str) -> Path | None:
    """The file below ``folder`` that matches ``pattern``, if any. Raises RecordError for several matches."""
    files = sorted(path for path in folder.rglob(pattern) if path.is_file())
    if len(files) > 1:
        raise RecordError(f"{folder}: both {files[0]} and {files[1]} match; give the path of one, or a folder with one")
    return files[0] if files else None
