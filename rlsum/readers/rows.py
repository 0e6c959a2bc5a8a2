"""One row of a file, and the error of a file that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlsum.errors import RecordError

USUAL = {  # names of columns that are taken unasked, in lower case
    "articles": ("article", "source", "document", "dialogue", "text"),
    "candidates": ("candidate", "prediction", "summary"),
    "references": ("references", "reference", "reference_summary", "highlights", "summary", "target", "gold"),
}


class CorpusError(RecordError):
    """An unusable corpus: the message names the argument, its value and the fix."""


@dataclass(frozen=True)
class Read:
    """One row of a file, at ``where`` (file:line).

    ``name`` is an id for rows without; ``problem`` says what is wrong with the row, or is empty.
    """

    where: str
    name: str
    fields: dict[str, Any]
    problem: str = ""


def numbered(path: Path, number: int) -> str:
    """The name of a row without an id."""
    return f"{path.name.split('.')[0]}-{number}"


def identity(value: object) -> str | None:
    """An id as text: a text, or a whole number, which tables may write as 1.0; None for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
