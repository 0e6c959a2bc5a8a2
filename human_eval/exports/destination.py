"""Where an export goes: a new folder, or nothing at all."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from human_eval.study import Study, StudyError


def booklet_name(study: Study, number: int) -> str:
    """The file name of a booklet (0..), without its ending: names sort as booklets do."""
    width = max(2, len(str(len(study.booklets))))
    return f"booklet-{number + 1:0{width}}"


def write_files(folder: str | Path, files: Mapping[str, str]) -> None:
    """Write texts by file name into a folder that is new or empty. Raises StudyError.

    Line ends are written as they are: CSV wants its own.
    """
    folder = Path(folder)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StudyError(f"{folder}: exists and is not an empty folder; an export replaces nothing, choose another")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.partial.") as partial:
            made = Path(partial) / "export"
            made.mkdir()
            for name, text in files.items():
                (made / name).write_text(text, encoding="utf-8", newline="")
            made.replace(folder)
    except OSError as error:
        raise StudyError(f"{folder}: cannot be written ({error.strerror}); choose a folder you may write to") from error
