"""Files written whole or not at all, also under SIGKILL or a power cut."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
