"""Corpus files row by row: JSONL, CSV, parquet and CNN/DailyMail's ``.story``. A broken row is reported, not raised."""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from rewards.references import Lists
from rlsum.errors import RecordError, UserError
from rlsum.files import check_no_pipe

log = logging.getLogger(__name__)
BOM = b"\xef\xbb\xbf"
NOT_UTF8 = "not UTF-8"
DAMAGED = (OSError, EOFError, zlib.error)  # what a missing file and damaged gzip raise
DEEPEST = 100  # levels of a JSON value; deeper ones are read, but fail where they are written or sent to a process
TOO_DEEP = f"JSON of more than {DEEPEST} levels"
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
MTURK = ("Approve", "Reject")  # last columns of Mechanical Turk's results, which its rows do not have
FIELD_LIMIT = 2**24  # characters in one CSV field; Python's default of 131,072 is too little for long articles
# Ends of sentences for See et al. (2017), who add a period to lines of `.story` files without one.
SENTENCE_ENDS = (".", "!", "?", "...", "'", "`", '"', "\u2019", "\u201d", ")")


class CorpusError(RecordError):
    """An unusable corpus: the message names the argument, its value and the fix."""


class NotJson(ValueError):
    """A text that is no JSON value; the message is for one line."""


@dataclass(frozen=True)
class Read:
    """One row of a file, at ``where`` (file:line).

    ``name`` is an id for rows without; ``problem`` says what is wrong with the row, or is empty.
    """

    where: str
    name: str
    fields: dict[str, Any]
    problem: str = ""


@dataclass
class Understood:
    """What a command understood of a file's rows, for one line: columns, references a row, rows left out."""

    path: str
    lists: Lists | None = None
    rows: int = 0
    columns: dict[str, dict[str, None]] = field(default_factory=dict)  # role -> names
    counts: set[int] = field(default_factory=set)  # references a row
    left_out: str = ""

    def add(self, count: int, **columns: Iterable[str]) -> None:
        """A row with ``count`` references, and the columns of each role."""
        self.rows += 1
        self.counts.add(count)
        for role, names in columns.items():
            self.columns.setdefault(role, {}).update(dict.fromkeys(names))

    def __str__(self) -> str:
        roles = [(role, ", ".join(map(repr, names))) for role, names in self.columns.items() if names]
        parts = [f"{role} {names}{self._counted() if role == 'references' else ''}" for role, names in roles]
        return "; ".join([f"{self.path}: {self.rows:,} rows", *parts, *([self.left_out] if self.left_out else [])])

    def _counted(self) -> str:
        fewest, most = min(self.counts, default=0), max(self.counts, default=0)
        several = most > len(self.columns["references"])
        lists = f", lists are {self.lists or 'alternatives'}" if several or self.lists else ""
        return f" ({fewest if fewest == most else f'{fewest} to {most}'} a row{lists})"

    def say(self) -> None:
        """Log it, once a process: a comparison reads the same articles for every kind of training."""
        _say(str(self), logging.WARNING if self.left_out else logging.INFO)


@cache
def _say(line: str, level: int) -> None:
    log.log(level, "%s", line)


def identity(value: object) -> str | None:
    """An id as text: a text, or a whole number, which tables may write as 1.0; None for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def read_file(path: Path) -> Iterator[Read]:
    """Rows of one file, in order, broken ones with their ``problem``.

    Raises RecordError if the file cannot be read (unknown format, damaged compression, no parquet).
    """
    reader = READERS[file_format(path)]
    try:
        yield from reader(path)
    except (*DAMAGED, csv.Error) as error:  # csv: the header
        raise CorpusError(f"path={str(path)!r}: cannot be read to its end ({error}); copy it again") from error


def file_format(path: Path) -> str:
    """The suffix that selects the reader, without ``.gz``. Raises CorpusError for an unknown one."""
    suffix = (Path(path.stem) if path.suffix == ".gz" else path).suffix
    if suffix not in READERS or (path.suffix == ".gz" and suffix == ".parquet"):
        raise CorpusError(f"path={str(path)!r}: unknown format; expected {', '.join(READERS)} (text formats also .gz)")
    return suffix


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, gzip or not, whatever its name. Raises OSError, also for a pipe: files are read twice."""
    check_no_pipe(path)
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if zipped else path.open("rb")


def lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Each line of a file with its place (file:line), gzip or not, without a byte order mark.

    Only a line feed ends a line: JSON may contain U+2028. Raises RecordError, with the line, for a file that cannot be
    read to its end.
    """
    number = 0
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                yield f"{path}:{number}", line.removeprefix(BOM) if number == 1 else line
    except DAMAGED as error:
        where = f"{path}:{number + 1}" if number else f"{path}"
        raise RecordError(f"{where}: cannot be read ({error}); give the path of a complete file") from error


def text_of(where: str, line: bytes) -> str:
    """A line's text. Raises RecordError."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"{where}: {NOT_UTF8} ({error.reason}); convert the file") from error


def json_value(text: str | bytes, finite: bool = False) -> Any:
    """The value of a JSON text, such that it can be written as JSON again.

    ``finite``: also refuse NaN, infinite numbers and numbers beyond float64, which Python reads and JSON does not have.
    Raises NotJson, also for nesting of more than 100 levels, integers of thousands of digits and half a surrogate pair.
    """
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite) if finite else json.loads(text)
    except UnicodeDecodeError as error:
        raise NotJson(NOT_UTF8) from error
    except RecursionError as error:
        raise NotJson(TOO_DEEP) from error
    except NotJson:
        raise
    except ValueError as error:  # a wrong character, or an integer of thousands of digits
        raise NotJson("not JSON") from error
    if text.count("[") + text.count("{") > DEEPEST and _levels(value) > DEEPEST:
        raise NotJson(TOO_DEEP)
    if SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise NotJson(f"{NOT_UTF8} (half a surrogate pair)") from error
    return value


def json_file(path: Path, fix: str, error: type[UserError] = RecordError) -> Any:
    """The value in a JSON file. Raises ``error``, whose message ends in ``fix``."""
    try:
        with opened(path) as file:
            return json_value(file.read().removeprefix(BOM))
    except DAMAGED as failed:
        raise error(f"{path}: cannot be read ({getattr(failed, 'strerror', None) or failed}); {fix}") from failed
    except NotJson as failed:
        raise error(f"{path}: {failed}; {fix}") from failed


def json_object(path: Path, fix: str, error: type[UserError] = RecordError) -> dict[str, Any]:
    """The object in a JSON file. Raises ``error``, whose message ends in ``fix``."""
    value = json_file(path, fix, error)
    if not isinstance(value, dict):
        raise error(f"{path}: not a JSON object; {fix}")
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    return number if abs(number) != float("inf") else _refuse(digits[:20])


def _refuse(name: str) -> NoReturn:
    raise NotJson(f"{name} is not JSON; write null")


def _levels(value: Any) -> int:
    """How deep lists and objects lie within each other."""
    count, level = 0, [value]
    while level := [member for member in level if isinstance(member, list | dict)]:
        count += 1
        level = [inner for member in level for inner in (member.values() if isinstance(member, dict) else member)]
    return count


def _name(path: Path, number: int) -> str:
    return f"{path.name.split('.')[0]}-{number}"


def jsonl(path: Path) -> Iterator[Read]:
    """Rows of a JSONL file, or of a file that is one JSON list. Raises RecordError if it cannot be read to its end."""
    if is_list(path):
        for number, row in enumerate(json_file(path, "give one object a line, or a list of objects"), 1):
            yield Read(f"{path}, row {number}", _name(path, number), *_object(row))
        return
    for number, (where, line) in enumerate(lines(path), 1):
        if line.strip():
            try:
                found = _object(json_value(line))
            except NotJson as error:
                found = {}, str(error)
            yield Read(where, _name(path, number), *found)


def _object(row: Any) -> tuple[dict[str, Any], str]:
    return (row, "") if isinstance(row, dict) else ({}, "not a JSON object")


def _csv(path: Path) -> Iterator[Read]:
    csv.field_size_limit(max(FIELD_LIMIT, csv.field_size_limit()))  # process-wide; only ever raised
    # Undecodable bytes become lone surrogates, which are detected field by field: they break one row, not the file.
    with io.TextIOWrapper(opened(path), "utf-8-sig", "surrogateescape", newline="") as file:
        first = file.readline()
        rows = csv.reader(chain([first] if first else [], file), strict=True, delimiter=_delimiter(path, first))
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
            if len(row) == len(header) - len(MTURK) and tuple(header[-len(MTURK) :]) == MTURK:
                row += [""] * len(MTURK)
            if len(row) == len(header):
                yield Read(where, name, dict(zip(header, row, strict=True)))
            elif row:
                yield Read(where, name, {}, "wrong number of CSV fields")


def _delimiter(path: Path, header: str) -> str:
    """A tab in .tsv; in .csv a semicolon or a tab where the header has more of them than commas."""
    if ".tsv" in path.suffixes:
        return "\t"
    return max(",;\t", key=header.count)  # a comma, the first, if none is there


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
    with opened(path) as file:
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
    ".tsv": _csv,
    ".parquet": _parquet,
    ".story": _story,
}


TABLES = (".csv", ".tsv", ".parquet")
SAVED = ("state.json", "dataset_dict.json")  # files of a folder that ``save_to_disk`` of `datasets` wrote


def is_table(path: Path) -> bool:
    """Whether a file is CSV, TSV (gzip or not) or parquet, by its name; or a saved data set."""
    suffix = (Path(path.stem) if path.suffix == ".gz" else path).suffix
    return suffix in TABLES if path.is_file() else is_saved(path)


def is_saved(folder: Path) -> bool:
    """Whether `datasets` saved a data set in this folder."""
    return any((folder / name).is_file() for name in SAVED)


def is_list(path: Path) -> bool:
    """Whether a file begins as a JSON list does."""
    with suppress(*DAMAGED), opened(path) as file:
        return file.read(100).removeprefix(BOM).lstrip()[:1] == b"["
    return False  # whoever reads it says what is wrong


def records(path: Path) -> Iterator[Read]:
    """Rows of a table or a saved data set, or of JSONL under any other name; text that is not UTF-8 is a problem."""
    if is_saved(path):
        yield from _saved(path)
    elif is_table(path):
        for read in read_file(path):
            problem = next(filter(None, map(encoding_problem, read.fields.values())), "")
            yield replace(read, problem=read.problem or problem)
    else:
        yield from jsonl(path)


def encoding_problem(value: object) -> str:
    """What is wrong with a field of a row: invalid bytes of a CSV file are read as lone surrogates."""
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        return NOT_UTF8
    return ""


def _saved(folder: Path) -> Iterator[Read]:
    from datasets import Dataset, load_from_disk

    found = load_from_disk(str(folder))
    if not isinstance(found, Dataset):
        raise CorpusError(f"{folder}: several splits; give one of {', '.join(str(folder / name) for name in found)}")
    for number, fields in enumerate(found, 1):
        yield Read(f"{folder}, row {number}", _name(folder, number), fields)
