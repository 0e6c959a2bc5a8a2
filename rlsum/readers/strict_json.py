"""JSON, read such that it can be written again, and without a key lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from rlsum.errors import RecordError, UserError
from rlsum.readers.text import BOM, DAMAGED, NOT_UTF8, opened

DEEPEST = 100  # levels of a JSON value; deeper ones are read, but fail where they are written or sent to a process
TOO_DEEP = f"JSON of more than {DEEPEST} levels"
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class NotJson(ValueError):
    """A text that is no JSON value; the message is for one line."""


class Repeated(NotJson):
    """An object has a key twice; Python would keep the last value."""


def json_value(text: str | bytes) -> Any:
    """The value of a JSON text, such that it can be written as JSON again.

    Raises NotJson, also for nesting of more than 100 levels, integers of thousands of digits and half a surrogate pair;
    Repeated for a key that an object has twice.
    """
    objects = 0

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal objects
        objects += 1
        members = dict(pairs)
        if len(members) < len(pairs):
            raise Repeated(f"{Counter(name for name, _ in pairs).most_common(1)[0][0]!r} is written twice")
        return members

    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(text, object_pairs_hook=once)
    except UnicodeDecodeError as error:
        raise NotJson(NOT_UTF8) from error
    except RecursionError as error:
        raise NotJson(TOO_DEEP) from error
    except Repeated as error:
        raise Repeated(f"{error}{_place(str(text), objects)}") from error
    except NotJson:
        raise
    except ValueError as error:  # a wrong character, or an integer of thousands of digits
        raise NotJson("not JSON") from error
    if text.count("[") + text.count("{") > DEEPEST and _levels(value) > DEEPEST:
        raise NotJson(TOO_DEEP)
    if SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise NotJson(f"{NOT_UTF8} (half a surrogate pair)") from error
    return value


def json_file(path: Path, fix: str, error: type[UserError] = RecordError) -> Any:
    """The value in a JSON file. Raises ``error``, whose message ends in ``fix``."""
    try:
        with opened(path) as file:
            return json_value(file.read().removeprefix(BOM))
    except DAMAGED as failed:
        raise error(f"{path}: cannot be read ({getattr(failed, 'strerror', None) or failed}); {fix}") from failed
    except NotJson as failed:
        raise error(f"{path}: {failed}; {fix}") from failed


def json_object(path: Path, fix: str, error: type[UserError] = RecordError) -> dict[str, Any]:
    """The object in a JSON file. Raises ``error``, whose message ends in ``fix``."""
    value = json_file(path, fix, error)
    if not isinstance(value, dict):
        raise error(f"{path}: not a JSON object; {fix}")
    return value


def _place(text: str, objects: int) -> str:
    """Where the last of so many objects ends, in a text of several lines; objects end in the order of their braces."""
    if "\n" not in text.strip():
        return ""
    braces = (match for match in re.finditer(r'"(?:[^"\\]|\\.)*"|}', text) if match[0] == "}")
    last = next(islice(braces, objects - 1, None))
    return f" in the object that ends in line {text.count(chr(10), 0, last.start()) + 1}"


def _levels(value: Any) -> int:
    """How deep lists and objects lie within each other."""
    count, level = 0, [value]
    while level := [member for member in level if isinstance(member, list | dict)]:
        count += 1
        level = [inner for member in level for inner in (member.values() if isinstance(member, dict) else member)]
    return count
