"""Files of users and of this package -> dataclasses. Every fault names the file, the place in it and the value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from human_eval.study import StudyError
from rlsum.yaml_files import parse as parse_yaml


class _Named(Protocol):
    @property
    def id(self) -> str: ...


Parsed = TypeVar("Parsed")
Named = TypeVar("Named", bound=_Named)

ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

# Kinds of pydantic's faults -> what is expected.
EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "an object",
}


def read_text(option: str, path: Path, form: str = "text file") -> str:
    """The text of a user's file, stripped. Raises StudyError."""
    try:
        return path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", error)
        raise StudyError(f"{option} {path}: cannot be read ({reason}); give a {form}") from error


def read_yaml(option: str, path: Path) -> Any:
    """The value in a user's YAML or JSON file. Raises StudyError."""
    text = read_text(option, path, "YAML or JSON file")
    try:
        return parse_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise StudyError(f"{option} {path}: neither YAML nor JSON ({' '.join(str(error).split())[:200]})") from error


def read_list(
    kind: type[Named], option: str, path: Path, noun: str, defaults: Mapping[str, object] | None = None
) -> tuple[Named, ...]:
    """A dataclass for each object of a user's YAML or JSON list, its texts stripped; ``defaults``: of missing fields.

    Raises StudyError for an empty list, an empty text that is required, and ids that are malformed or equal.
    """
    where, rows = f"{option} {path}".strip(), read_yaml(option, path)
    needed = [field.name for field in fields(kind) if field.default is MISSING]  # type: ignore[arg-type]
    if not isinstance(rows, list) or not rows:
        raise StudyError(f"{where}: expected a list of objects with {', '.join(needed)}")
    made: dict[str, Named] = {}
    for number, row in enumerate(rows, 1):
        place = f"{where}: {noun} {number}"
        if isinstance(row, dict):
            texts = {name: value.strip() if isinstance(value, str) else value for name, value in row.items()}
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
    """A dataclass from an object of JSON or YAML. Raises StudyError, beginning with ``where``.

    Types are strict: 1 is no text, "1" and true are no numbers. Unknown fields of nested objects are ignored.
    """
    if not isinstance(row, dict):
        raise StudyError(f"{where}: not an object")
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if unknown := [str(name) for name in row if name not in known]:
        raise StudyError(f"{where}: unknown field {unknown[0]!r}; expected {', '.join(known)}")
    try:
        parsed: Parsed = _adapter(kind).validate_json(json.dumps(row, default=str), strict=True)  # type: ignore[arg-type]
    except ValidationError as error:
        raise StudyError(f"{where}: {_fault(error.errors()[0])}") from error
    return parsed


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _fault(fault: Any) -> str:
    """The first fault that pydantic found, in words."""
    *places, name = (str(place + 1 if isinstance(place, int) else place) for place in fault["loc"])
    inside = "".join(f"{place}: " for place in places)
    if fault["type"] == "missing":
        return f"{inside}no {name!r}"
    if fault["type"] == "dataclass_type":
        return f"{inside}{name}: not an object"
    expected = EXPECTED.get(fault["type"], fault["msg"].removeprefix("Input should be "))
    quote = "; quote it" if expected == "text" and isinstance(fault["input"], bool | int | float) else ""
    return f"{inside}{name} must be {expected}, not {json.dumps(fault['input'])[:40]}{quote}"
