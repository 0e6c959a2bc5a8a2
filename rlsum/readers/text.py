"""Bytes of a file to text: gzip, UTF-8 and UTF-16, lines."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from rlsum.errors import RecordError
from rlsum.files import check_no_pipe

BOM, GZIP = b"\xef\xbb\xbf", b"\x1f\x8b"
COMPRESSED = (".gz",)  # what the names of compressed files end in
AT_ONCE = 2**24  # bytes
# The longer mark first: that of UTF-32 begins with that of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
NO_TEXT = {
    b"\x28\xb5\x2f\xfd": "compressed by zstd; decompress it",
    b"\xfd7zXZ\0": "compressed by xz; decompress it",
    b"BZh91AY&": "compressed by bzip2; decompress it",
    b"PK\x03\x04": "a zip archive; take the file out of it, or call a table of Excel .xlsx",
    b"PAR1": "Parquet; call it .parquet",
    b"ARROW1\0\0": "Arrow; write it as Parquet or JSONL",
}
NOT_UTF8 = "not UTF-8"
ZEROS = "zero bytes, as UTF-16 without its mark has; save the file as UTF-8"
DAMAGED = (OSError, EOFError, zlib.error)  # what a missing file and damaged gzip raise


def uncompressed(path: Path) -> Path:
    """The name that a file would have without compression."""
    return path.with_suffix("") if path.suffix in COMPRESSED else path


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, gzip or not, whatever its name; UTF-16 and UTF-32, known by their mark, become UTF-8.

    Raises OSError, also for a pipe: files are read twice. Raises RecordError for a file that holds no text.
    """
    check_no_pipe(path)
    with path.open("rb") as file:
        zipped = file.read(2) == GZIP
    content = cast(BinaryIO, gzip.open(path, "rb")) if zipped else path.open("rb")  # noqa: SIM115 (the caller closes it)
    beginning = content.read(8)
    if kind := next(filter(beginning.startswith, NO_TEXT), None):
        content.close()
        raise RecordError(f"{path}: no text but {NO_TEXT[kind]}")
    mark = next(filter(beginning.startswith, MARKS), None)
    if mark is None:
        content.seek(0)
        return content
    with content:
        encoded = beginning + content.read()
    try:
        return io.BytesIO(encoded.decode(MARKS[mark]).encode())
    except UnicodeDecodeError as error:
        raise OSError(f"{MARKS[mark].upper()} by its mark, but not in full: {error.reason}") from error


def lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Each line of a file with its place (file:line): see ``numbered_lines``."""
    return ((f"{path}:{number}", line) for number, line in numbered_lines(path))


def numbered_lines(path: Path, begin: int = 0, end: int = sys.maxsize) -> Iterator[tuple[int, bytes]]:
    """Each line of a file with its number, gzip or not, without a byte order mark, also that of a file joined to it.

    A line feed ends a line, or a carriage return in a file without line feeds; JSON may contain U+2028. With ``begin``
    or ``end`` only lines that begin at these bytes, of a file that is ``divisible``. Raises RecordError, with the line,
    for a file that cannot be read to its end.
    """
    number, place = 0, begin
    try:
        with opened(path) as file:
            if begin:
                number, place = _skipped(file, begin)
            for line in file if begin else _lines(file):
                if place >= end:
                    return
                number, place = number + 1, place + len(line)
                yield number, line.removeprefix(BOM)
    except DAMAGED as error:
        where = f"{path}:{number + 1}" if number else f"{path}"
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"{where}: cannot be read ({reason}); give the path of a complete file") from error


def divisible(path: Path) -> bool:
    """Whether the bytes of a file are its text, whose lines end in line feeds: not gzip, not UTF-16."""
    with path.open("rb") as file:
        first = file.readline()
    return first.endswith(b"\n") and not first.startswith((GZIP, *MARKS))


def _skipped(file: BinaryIO, begin: int) -> tuple[int, int]:
    """Go to the first line that begins at byte ``begin`` or later: how many lines are before it, and its place."""
    number = sum(file.read(min(AT_ONCE, begin - 1 - start)).count(b"\n") for start in range(0, begin - 1, AT_ONCE))
    line = file.readline()
    return number + line.endswith(b"\n"), begin - 1 + len(line)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    first = file.readline()
    if first and not first.endswith(b"\n"):  # all of it, so that it is in memory anyhow
        yield from io.BytesIO(first.replace(b"\r", b"\n"))
    else:
        yield from chain([first] if first else [], file)


def text_of(where: str, line: bytes) -> str:
    """A line's text. Raises RecordError."""
    if b"\0" in line:
        raise RecordError(f"{where}: {ZEROS}")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"{where}: {NOT_UTF8} ({error.reason}); convert the file") from error


def encoding_problem(value: object) -> str:
    """What is wrong with a field of a row: invalid bytes of a CSV file are read as lone surrogates."""
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        return NOT_UTF8
    return ""
