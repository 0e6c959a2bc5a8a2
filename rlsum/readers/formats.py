"""Files row by row, by their suffix or what they begin with. A broken row is reported, not raised."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from rlsum.readers.json_rows import jsonl
from rlsum.readers.plain import PARTNERS, line_pairs, story_file, texts
from rlsum.readers.rows import CorpusError, Read
from rlsum.readers.tables import csv_file, excel_file, parquet_file, saved_rows
from rlsum.readers.text import BOM, COMPRESSED, DAMAGED, encoding_problem, opened, uncompressed


class Format(NamedTuple):
    """How files of a suffix are read, what they hold, and whether they are binary, hence never gzip."""

    read: Callable[[Path], Iterator[Read]]
    holds: Literal["json", "table", "texts"]
    binary: bool = False


READERS = {
    ".jsonl": Format(jsonl, "json"),
    ".json": Format(jsonl, "json"),
    ".csv": Format(csv_file, "table"),
    ".tsv": Format(csv_file, "table"),
    ".xlsx": Format(excel_file, "table", binary=True),
    ".parquet": Format(parquet_file, "table", binary=True),
    ".story": Format(story_file, "texts"),
    **dict.fromkeys(PARTNERS, Format(line_pairs, "texts")),
}
SAVED = ("state.json", "dataset_dict.json")  # files of a folder that ``save_to_disk`` of `datasets` wrote
OBJECTS = re.compile(rb'\s*(\{\s*("|$)|\[\s*(\{|$))')  # how JSON begins that holds objects


def read_file(path: Path) -> Iterator[Read]:
    """Rows of one file, in order, broken ones with their ``problem``.

    Raises RecordError if the file cannot be read (unknown format, damaged compression, no parquet).
    """
    read = READERS[file_format(path)].read
    try:
        yield from read(path)
    except (*DAMAGED, csv.Error) as error:  # csv: the header
        raise CorpusError(f"path={str(path)!r}: cannot be read to its end ({error}); copy it again") from error


def file_format(path: Path) -> str:
    """The suffix that selects the reader, without that of a compression. Raises CorpusError for an unknown one."""
    suffix = uncompressed(path).suffix
    if suffix not in READERS or (path.suffix in COMPRESSED and READERS[suffix].binary):
        also = f"text formats also {', '.join(COMPRESSED)}"
        raise CorpusError(f"path={str(path)!r}: unknown format; expected {', '.join(READERS)} ({also})")
    return suffix


def _holds(path: Path) -> str:
    reader = READERS.get(uncompressed(path).suffix)
    return reader.holds if reader else ""


def is_table(path: Path) -> bool:
    """Whether a file is CSV, TSV (gzip or not), Excel or parquet, by its name; or a saved data set."""
    return _holds(path) == "table" if path.is_file() else is_saved(path)


def is_saved(folder: Path) -> bool:
    """Whether `datasets` saved a data set in this folder."""
    return any((folder / name).is_file() for name in SAVED)


def is_text(path: Path) -> bool:
    """Whether a file has a text a line: none of our formats by its name, and no JSON objects by its beginning."""
    if _holds(path) in ("json", "table") or not path.is_file():
        return False
    with suppress(*DAMAGED), opened(path) as file:
        beginning = file.read(1000).removeprefix(BOM)
        return bool(beginning) and not OBJECTS.match(beginning)
    return False  # whoever reads it says what is wrong


def records(path: Path, text: str = "candidate") -> Iterator[Read]:
    """Rows of a table, a saved data set or JSON, or the lines of any other file in the field ``text``.

    Text that is not UTF-8 is a problem.
    """
    if is_saved(path):
        yield from saved_rows(path)
    elif is_table(path):
        for read in read_file(path):
            problem = next(filter(None, map(encoding_problem, read.fields.values())), "")
            yield replace(read, problem=read.problem or problem)
    elif is_text(path):
        yield from texts(path, text)
    else:
        yield from jsonl(path)
