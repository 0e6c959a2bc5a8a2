"""Corpus files row by row: JSONL, CSV, parquet and CNN/DailyMail's ``.story``. A broken row is reported, not raised."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from rlsum.errors import UserError

BOM = b"\xef\xbb\xbf"
NOT_UTF8 = "not UTF-8"
FIELD_LIMIT = 2**24  # characters in one CSV field; Python's default of 131,072 is too little for long articles
# Ends of sentences for See et al. (2017), who add a period to lines of `.story` files without one.
SENTENCE_ENDS = (".", "!", "?", "...", "'", "`", '"', "\u2019", "\u201d", ")")


class CorpusError(UserError):
    """An unusable corpus: the message names the argument, its value and the fix."""


@dataclass(frozen=True)
class Read:
    """One row of a file, at ``where`` (file:line).

    ``name`` is an id for rows without; ``problem`` says what is wrong with the row, or is empty.
    """

    where: str
    name: str
    fields: dict[str, Any]
    problem: str = ""


def read_file(path: Path) -> Iterator[Read]:
    """Rows of one file, in order, broken ones with their ``problem``.

    Raises CorpusError if the file cannot be read (unknown format, damaged compression, no parquet).
    """
    reader = READERS[file_format(path)]
    try:
        yield from reader(path)
    except (OSError, EOFError, zlib.error, csv.Error) as error:  # damaged gzip raises any of three; csv: the header
        raise CorpusError(f"path={str(path)!r}: cannot be read to its end ({error}); copy it again") from error


def file_format(path: Path) -> str:
    """The suffix that selects the reader, without ``.gz``. Raises CorpusError for an unknown one."""
    suffix = (Path(path.stem) if path.suffix == ".gz" else path).suffix
    if suffix not in READERS or (path.suffix == ".gz" and suffix == ".parquet"):
        raise CorpusError(f"path={str(path)!r}: unknown format; expected {', '.join(READERS)} (text formats also .gz)")
    return suffix


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _name(path: Path, number: int) -> str:
    return f"{path.name.split('.')[0]}-{number}"


def jsonl(path: Path) -> Iterator[Read]:
    """Rows of a JSONL file. Raises OSError, EOFError or zlib.error if it cannot be read to its end."""
    # Bytes: only a line feed ends a line (JSON may contain U+2028), and bad UTF-8 breaks one row only.
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(BOM) if number == 1 else line
            if line.strip():
                fields, problem = _json_object(line)
                yield Read(f"{path}:{number}", _name(path, number), fields, problem)


def _json_object(line: bytes) -> tuple[dict[str, Any], str]:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return {}, NOT_UTF8
    except (ValueError, RecursionError):  # also integers of thousands of digits, and deep nesting
        return {}, "not JSON"
    return (row, "") if isinstance(row, dict) else ({}, "not a JSON object")


def _csv(path: Path) -> Iterator[Read]:
    csv.field_size_limit(max(FIELD_LIMIT, csv.field_size_limit()))  # process-wide; only ever raised
    # Undecodable bytes become lone surrogates, which are detected field by field: they break one row, not the file.
    with io.TextIOWrapper(_open(path), "utf-8-sig", "surrogateescape", newline="") as file:
        rows = csv.reader(file, strict=True)
        header = next(rows, [])
        while True:
            where, name = f"{path}:{rows.line_num + 1}", _name(path, rows.line_num + 1)
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error:
                yield Read(where, name, {}, "broken CSV quoting")
                continue
            if len(row) == len(header):
                yield Read(where, name, dict(zip(header, row, strict=True)))
            elif row:
                yield Read(where, name, {}, "wrong number of CSV fields")


def _parquet(path: Path) -> Iterator[Read]:
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1000):
                for fields in batch.to_pylist():
                    number += 1
                    yield Read(f"{path}:{number}", _name(path, number), fields)
    except pyarrow.ArrowInvalid as error:
        raise CorpusError(f"path={str(path)!r}: broken parquet after row {number} ({error}); copy it again") from error


def _story(path: Path) -> Iterator[Read]:
    with _open(path) as file:
        content = file.read()
    where, name = f"{path}:1", path.name.split(".")[0]
    try:
        lines = [line.strip() for line in content.removeprefix(BOM).decode("utf-8").split("\n")]
    except UnicodeDecodeError:
        yield Read(where, name, {}, NOT_UTF8)
        return
    fields = {"id": name, **story(lines)}
    yield Read(where, name, fields, "" if "@highlight" in lines else "no @highlight")


def story(lines: list[str]) -> dict[str, str]:
    """Split the stripped lines of a ``.story`` file into ``article`` (one line) and ``highlights`` (a sentence a line).

    As in the published CNN/DailyMail corpora, a line without an end mark gets " ." (See et al. 2017).
    """
    article: list[str] = []
    highlights: list[str] = []
    part = article
    for line in lines:
        if line == "@highlight":
            part = highlights
        elif line:
            part.append(line if line.endswith(SENTENCE_ENDS) else f"{line} .")
    return {"article": " ".join(article), "highlights": "\n".join(highlights)}


READERS: dict[str, Callable[[Path], Iterator[Read]]] = {
    ".jsonl": jsonl,
    ".json": jsonl,
    ".csv": _csv,
    ".parquet": _parquet,
    ".story": _story,
}
