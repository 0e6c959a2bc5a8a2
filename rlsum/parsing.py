"""Objects of JSON and YAML -> dataclasses. A fault names the place in the file and the value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from rewards.options import nearest
from rlsum.errors import UserError, option

Parsed = TypeVar("Parsed")

# Kinds of pydantic's faults -> what is expected.
EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "an object",
}


def parse(
    kind: type[Parsed], row: object, where: str, error: type[UserError], known: Sequence[str] | None = None
) -> Parsed:
    """A dataclass from an object. Raises ``error``, whose message begins with ``where``.

    ``known``: the fields that an object may have, by default those of the dataclass. Types are strict: 1 is no text,
    "1" and true are no numbers. Unknown fields of nested objects are ignored.
    """
    if not isinstance(row, dict):
        raise error(f"{where}: not an object")
    known = known or [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if unknown := [str(name) for name in row if name not in known]:
        hint = nearest(unknown[0], known)
        raise error(f"{where}: unknown field {unknown[0]!r}{hint}; expected {', '.join(known)}")
    try:
        text = json.dumps(row, default=str)
    except (TypeError, ValueError, RecursionError) as invalid:  # of YAML: a date as a name, an anchor within itself
        raise error(f"{where}: not an object as JSON has them ({invalid})") from invalid
    try:
        parsed: Parsed = _adapter(kind).validate_json(text, strict=True)  # type: ignore[arg-type]
    except ValidationError as invalid:
        raise error(f"{where}: {_fault(invalid.errors()[0])}") from invalid
    return parsed


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _fault(fault: Any) -> str:
    if not fault["loc"]:  # half a surrogate pair, or hundreds of levels
        return f"not valid JSON ({fault['ctx']['error']})"
    *places, name = (str(place + 1 if isinstance(place, int) else place) for place in fault["loc"])
    inside = "".join(f"{place}: " for place in places)
    if fault["type"] == "missing":
        return f"{inside}no {name!r}"
    if fault["type"] == "dataclass_type":
        return f"{inside}{name}: not an object"
    expected = EXPECTED.get(fault["type"], fault["msg"].removeprefix("Input should be "))
    quote = "; quote it" if expected == "text" and isinstance(fault["input"], bool | int | float) else ""
    return f"{inside}{name} must be {expected}, not {json.dumps(fault['input'])[:40]}{quote}"


@contextmanager
def options_checked() -> Iterator[None]:
    """Around dataclasses of pydantic made of arguments: their first fault as a UserError, which names the argument."""
    try:
        yield
    except ValidationError as error:
        fault = error.errors()[0]
        if isinstance(cause := fault.get("ctx", {}).get("error"), UserError):  # raised by the dataclass itself
            raise cause from error
        raise UserError(f"{option(str(fault['loc'][0]), fault['input'])}: {problem_of(fault)}") from error


def problem_of(fault: Any) -> str:
    """What is wrong with the value of a fault of pydantic, whose message does not show the value."""
    message: str = fault["msg"]
    return message.removeprefix("Value error, ").replace("Input should be", "must be").rstrip(".")
