"""Where a command writes: looked at before the work begins, not after."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from rlsum.errors import UserError


def check_free(option: str, path: Path, overwrite: bool = False) -> None:
    """Raise UserError where ``path`` exists, unless it is a file that may be overwritten, or cannot be written.

    It is tried: a file is made beside it and removed again, since permissions alone do not tell, least of all to root.
    Its folder is made when missing.
    """
    try:
        if path.is_file() and not overwrite:
            raise UserError(f"{option} {path}: exists; add --overwrite, or choose another name")
        if path.exists() and not path.is_file():
            raise UserError(f"{option} {path}: cannot be written, it is no file; give the name of a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.open("ab").close()  # a file that is protected stays as it is
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.partial."):
            pass
    except OSError as error:
        raise UserError(
            f"{option} {path}: cannot be written ({error.strerror}); give a file in a folder you may write to"
        ) from error


def check_folder(option: str, folder: Path, names: Iterable[str], overwrite: bool = False) -> None:
    """Raise UserError where ``folder`` holds one of the files already, or nothing can be written there."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{option} {folder}: is a file; give the name of a folder")
    for name in names:
        check_free(option, folder / name, overwrite)
