"""Files written whole or not at all, also under SIGKILL or a power cut; whether a file may be read or written."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from rlsum.errors import UserError, option


def check_no_pipe(path: Path) -> None:
    """Raise OSError for a pipe: reading would wait for a writer, and some files are read twice."""
    if path.is_fifo():
        raise OSError(errno.EINVAL, "it is a pipe", str(path))


def bytes_of(path: Path) -> bytes:
    """The bytes of a file. Raises OSError, also for a pipe."""
    check_no_pipe(path)
    return path.read_bytes()


def file_digest(path: Path) -> str:
    """A SHA-256 of the bytes of a file, in hex. Raises OSError, also for a pipe."""
    check_no_pipe(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write to, which then replaces ``path``. An error leaves ``path`` as it was."""
    partial = path.with_name(path.name + ".partial")
    try:
        yield partial
        sync(partial)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync(path.parent)  # the rename itself must survive a power cut


@contextmanager
def replacing_files(folder: Path) -> Iterator[Path]:
    """A temporary folder to write to, whose files then replace those of ``folder``, each whole or not at all."""
    partial = folder / ".partial"
    shutil.rmtree(partial, ignore_errors=True)  # left by a run that was killed
    partial.mkdir()
    try:
        yield partial
        for file in sorted(path for path in partial.rglob("*") if path.is_file()):
            target = folder / file.relative_to(partial)
            target.parent.mkdir(exist_ok=True)
            sync(file)
            file.replace(target)
    finally:
        shutil.rmtree(partial)
    sync(folder)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content: readers, also after a crash, see the old content or the new one."""
    with replacing(path) as partial, partial.open("wb") as file:
        file.write(content)


def write_lines(path: str | Path, lines: Iterable[str]) -> int:
    """Write lines (gzip if the name ends in .gz), all or none of them, also into a new folder; returns their number."""
    path, count = Path(path), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, partial.open("wb") as file:
        # without a time stamp, the same lines give the same bytes
        target = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix == ".gz" else nullcontext(file)
        with target as written:
            for line in lines:
                written.write(line.encode() + b"\n")
                count += 1
    return count


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_free(name: str, path: Path, overwrite: bool = False, typed: str | None = None) -> None:
    """Raise UserError if ``path``, the argument ``name``, exists without ``overwrite``, is no file, or is not writable.

    Creates a missing folder, and a temporary file in it: permissions alone do not tell, least of all to root.
    """
    argument = option(name, path, typed)
    try:
        if path.is_file() and not overwrite:
            raise UserError(f"{argument}: exists; add {option('overwrite', True)}, or choose another name")
        if path.exists() and not path.is_file():
            raise UserError(f"{argument}: cannot be written, not a file; give the name of a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.open("ab").close()  # fails for a protected file
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.partial."):
            pass
    except OSError as error:
        fix = "choose a file in a folder you may write to"
        raise UserError(f"{argument}: cannot be written ({error.strerror}); {fix}") from error


def check_folder(name: str, folder: Path, files: Iterable[str], overwrite: bool = False) -> None:
    """Raise UserError if ``folder``, the argument ``name``, is a file, or ``check_free`` fails for a file in it.

    No new folder is left behind: a command that goes on to fail for another reason has written nothing.
    """
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{option(name, folder)}: is a file; give the name of a folder")
    for file in files:
        check_free(name, folder / file, overwrite)
    with suppress(OSError):  # of NEW/../NAME, or another command writes there by now
        for place in missing:
            place.rmdir()
