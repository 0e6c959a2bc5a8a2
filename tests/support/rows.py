"""Tiny files of rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def jsonl(path: Path, *rows: object) -> Path:
    """A file with a row a line as JSON."""
    return lines(path, *map(json.dumps, rows))


def tsv(path: Path, *rows: Sequence[str]) -> Path:
    """A file with a row a line, its cells separated by tabs."""
    return lines(path, *map("\t".join, rows))


def rows_of(path: Path | str) -> list[Any]:
    """What such a file holds."""
    return list(map(json.loads, Path(path).read_text(encoding="utf-8").splitlines()))


def lines(path: Path, *texts: str) -> Path:
    """A file of lines, its folder made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def changed(path: Path, **values: object) -> None:
    """Give the JSON object of a file other values."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def table(path: Path, *rows: Mapping[str, Any], delimiter: str = ",") -> Path:
    """A CSV file with the columns of all rows."""
    with path.open("w", newline="", encoding="utf-8") as file:
        written = csv.DictWriter(file, dict.fromkeys(name for row in rows for name in row), "", delimiter=delimiter)
        written.writeheader()
        written.writerows(rows)
    return path
