"""Files of users and of this package -> dataclasses. Every fault names the file, the place in it and the value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from human_eval.study import StudyError
from rlsum import parsing
from rlsum.files import bytes_of
from rlsum.yaml_files import NotYaml
from rlsum.yaml_files import parse as parse_yaml


class _Named(Protocol):
    @property
    def id(self) -> str: ...


Parsed = TypeVar("Parsed")
Named = TypeVar("Named", bound=_Named)

ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def read_text(option: str, path: Path, form: str = "text file") -> str:
    """The text of a user's file, stripped, its lines ended as Unix does. Raises StudyError."""
    try:
        return re.sub("\r\n?", "\n", bytes_of(path).decode("utf-8-sig")).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", error)
        raise StudyError(f"{option} {path}: cannot be read ({reason}); give a {form}") from error


def read_yaml(option: str, path: Path) -> Any:
    """The value in a user's YAML or JSON file. Raises StudyError."""
    text = read_text(option, path, "YAML or JSON file")
    try:
        return parse_yaml(text)
    except NotYaml as error:
        raise StudyError(f"{option} {path}:{error.line}: neither YAML nor JSON ({error})") from error


def read_list(
    kind: type[Named], option: str, path: Path, noun: str, defaults: Mapping[str, object] | None = None
) -> tuple[Named, ...]:
    """A dataclass for each object of a user's YAML or JSON list, its texts stripped; ``defaults``: of missing fields.

    A null is a missing field. Raises StudyError for an empty list, an empty text that is required, and ids that are
    malformed or equal.
    """
    where, rows = f"{option} {path}".strip(), read_yaml(option, path)
    needed = [field.name for field in fields(kind) if field.default is MISSING]  # type: ignore[arg-type]
    if not isinstance(rows, list) or not rows:
        raise StudyError(f"{where}: expected a list of objects with {', '.join(needed)}")
    made: dict[str, Named] = {}
    for number, row in enumerate(rows, 1):
        place = f"{where}: {noun} {number}"
        if isinstance(row, dict):
            written = {name: value for name, value in row.items() if value is not None}
            texts = {name: value.strip() if isinstance(value, str) else value for name, value in written.items()}
            row = {**(defaults or {}), **texts}
        parsed = parse(kind, row, place)
        if empty := [name for name in needed if not getattr(parsed, name)]:
            raise StudyError(f"{place}: {empty[0]} is empty")
        if not ID.fullmatch(parsed.id):
            raise StudyError(f"{place}: invalid id {parsed.id[:40]!r}; use lower-case letters, digits and hyphens")
        if parsed.id in made:
            raise StudyError(f"{where}: duplicate id {parsed.id}; give each {noun} a different id")
        made[parsed.id] = parsed
    return tuple(made.values())


def parse(kind: type[Parsed], row: object, where: str) -> Parsed:
    """Make a dataclass from a JSON or YAML object, as `rlsum.parsing.parse` does. Raises StudyError."""
    return parsing.parse(kind, row, where, StudyError)
