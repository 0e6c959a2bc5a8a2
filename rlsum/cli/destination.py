"""Checks, before the work begins, that a command can write its files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from rlsum.errors import UserError


def check_free(option: str, path: Path, overwrite: bool = False) -> None:
    """Raise UserError if ``path`` exists and ``overwrite`` is not set, is not a file, or cannot be written.

    Creates a missing folder, and a temporary file in it: permissions alone do not tell, least of all to root.
    """
    try:
        if path.is_file() and not overwrite:
            raise UserError(f"{option} {path}: exists; add --overwrite, or choose another name")
        if path.exists() and not path.is_file():
            raise UserError(f"{option} {path}: cannot be written, not a file; give the name of a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.open("ab").close()  # fails for a protected file
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.partial."):
            pass
    except OSError as error:
        raise UserError(
            f"{option} {path}: cannot be written ({error.strerror}); choose a file in a folder you may write to"
        ) from error


def check_folder(option: str, folder: Path, names: Iterable[str], overwrite: bool = False) -> None:
    """Raise UserError if ``folder`` is a file, or ``check_free`` fails for one of the names in it."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{option} {folder}: is a file; give the name of a folder")
    for name in names:
        check_free(option, folder / name, overwrite)
