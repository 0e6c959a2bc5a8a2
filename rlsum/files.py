"""Files written whole or not at all, also under SIGKILL or a power cut."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write instead of ``path``, which it then replaces, whole and on the disk."""
    partial = path.with_name(path.name + ".partial")
    yield partial
    sync(partial)
    partial.replace(path)
    sync(path.parent)  # the rename itself must survive a power cut


@contextmanager
def replacing_files(folder: Path) -> Iterator[Path]:
    """A folder to write files in, which then replace those of ``folder``, each whole and on the disk."""
    partial = folder / ".partial"
    shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
    partial.mkdir()
    try:
        yield partial
        for file in sorted(path for path in partial.rglob("*") if path.is_file()):
            place = folder / file.relative_to(partial)
            place.parent.mkdir(exist_ok=True)
            sync(file)
            file.replace(place)
    finally:
        shutil.rmtree(partial)
    sync(folder)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content: a reader or a crash sees the old content or the new one, nothing between."""
    with replacing(path) as partial, partial.open("wb") as file:
        file.write(content)


def sync(path: Path) -> None:
    """Bring a file, or what a folder lists, onto the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
