"""Damage to files, and what a command says about them."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import Result

from rlsum.cli.app import USER_ERRORS


def deep(levels: int) -> bytes:
    return b'{"id": ' + b"[" * levels + b"]" * levels + b"}"


def bomb() -> bytes:
    """YAML of a kilobyte that stands for 10 ** 10 values."""
    rows = [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(["a0: &a0 [x,x,x,x,x,x,x,x,x,x]", *rows]).encode()


def damaged_bytes(content: bytes, kind: str, place: float) -> bytes:
    """One kind of damage to a whole file; ``place``, 0 to 1, says where."""
    at = int(place * len(content))
    zipped = gzip.compress(content, mtime=0)
    there = min(10 + int(place * (len(zipped) - 10)), len(zipped) - 1)
    return {
        "empty": b"",
        "blank": b"\n \n",
        "cut": content[:at],
        "zeros": content[:at] + b"\0" * 9 + content[at:],
        "high": content[:at] + b"\xff\xfe\xe9" + content[at:],
        "mark": content[:at] + b"\xef\xbb\xbf" + content[at:],
        "utf-16": content.decode(errors="replace").encode("utf-16"),
        "brackets": content[:at] + b"[ " * 50_000 + content[at:],  # within a text, words of their own
        "digits": content[:at] + b"7" * 5_000 + content[at:],
        "infinity": content.replace(b"1", b"1e999").replace(b'"a b"', b"-Infinity"),
        "surrogate": content.replace(b"a", b"\\ud800"),
        "carriage": content.replace(b"\n", b"\r"),
        "zipped and cut": zipped[:there],
        "zipped and broken": zipped[:there] + bytes([zipped[there] ^ 0x5A]) * 4 + zipped[there + 4 :],
        "zip header alone": zipped[:2],
        "not zip": b"PK\x03\x04" + content,
        "bomb": bomb(),
    }[kind]


KINDS = (
    *("empty", "blank", "cut", "zeros", "high", "mark", "utf-16", "brackets", "digits", "infinity", "surrogate"),
    *("carriage", "zipped and cut", "zipped and broken", "zip header alone", "not zip", "bomb"),
)
NO_FILES = ("folder", "pipe", "missing", *(["locked"] if os.geteuid() else []))  # root may read a locked file


def no_file(path: Path, kind: str) -> None:
    """Put what cannot be read as a file at a free path."""
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "locked":
        path.write_bytes(b"")
        path.chmod(0)


def remove(path: Path) -> None:
    """Remove what is at a path, if anything."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def message(result: Result) -> str:
    """What a command said that failed; "" where it succeeded. Fails for a traceback."""
    if result.exit_code == 0:
        return ""
    if not isinstance(result.exception, (*USER_ERRORS, SystemExit)):
        raise AssertionError(f"a traceback: {result.exception!r}") from result.exception
    return str(result.exception) if isinstance(result.exception, USER_ERRORS) else result.output


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError where the block takes longer, as a reader of a pipe does that nobody writes to."""

    def end(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
