"""What is in a row of judgments at a name or path: texts, names, numbers."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any
from unicodedata import normalize

from rlsum.errors import RecordError
from rlsum.readers import NotJson, identity, json_value

MISSING = ("", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "None")
WORDS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
# Numbers for people: 4,5 and 1.234,5, 1,234.5, 85 %.
FOR_PEOPLE = re.compile(r"\s*-?(\d+,\d+|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(,\d{3})+(\.\d+)?|\d+([.,]\d+)?\s*%)\s*")


def at(value: Any, path: str) -> Any:
    """What is at a path: a name, or names with dots between them; through a list, a list; None if nothing is there.

    A name with dots of its own comes first. Text that holds an object or a list is opened where the path goes on.
    """
    value = opened(value)
    if isinstance(value, list):
        return [at(member, path) for member in value]
    if not isinstance(value, dict):
        return None
    if path in value:
        return value[path]
    head, dot, tail = path.partition(".")
    if "*" in path and (matching := [member for name, member in value.items() if fnmatchcase(name, path)]):
        return matching[0] if len(matching) == 1 else matching
    if dot and "*" in head:
        matching = [at(member, tail) for name, member in value.items() if fnmatchcase(name, head)]
        return matching[0] if len(matching) == 1 else matching
    for end in (match.start() for match in re.finditer(r"\.", path)):
        if path[:end] in value:
            return at(value[path[:end]], path[end + 1 :])
    return None


def in_one_list(value: Any, path: str, other: str) -> bool:
    """Whether two paths go through one list, so that its members have both."""
    ends = [match.start() for match in re.finditer(r"\.", path)]
    shared = [path[:end] for end in ends if other.startswith(path[: end + 1])]
    return any(isinstance(opened(at(value, prefix)), list) for prefix in shared)


def opened(value: Any) -> Any:
    """The object or list that a cell holds as JSON or Python writes it; any other value unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json_value(value)
    except NotJson:
        pass
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """``change`` of a value, or of those in nested lists, which a cell may hold as text."""
    value = opened(value)
    return [mapped(member, change) for member in value] if isinstance(value, list) else change(value)


def leaves(value: Any) -> Iterator[Any]:
    """A value, or those in nested lists."""
    if isinstance(value, list):
        for member in value:
            yield from leaves(member)
    else:
        yield value


def nothing(value: Any) -> bool:
    """Whether a path leads nowhere: None, or a list of nothing else."""
    return all(leaf is None for leaf in leaves(value))


def name_of(value: Any) -> Any:
    """A name without white space at its ends, in one Unicode form; files may hold it as a whole number."""
    return value if (name := identity(value)) is None else normalize("NFC", name.strip())


def missing(value: Any) -> bool:
    """Whether a cell holds no score and no name."""
    return value is None or value != value or (isinstance(value, str) and value.strip() in MISSING)


def number(value: Any, label: str) -> float | None:
    """A score; yes and true are 1, no and false 0, an empty cell None. Raises RecordError for anything else."""
    if missing(value):
        return None
    if (word := str(value).strip().casefold()) in WORDS:
        return WORDS[word]
    if is_number(value):
        return float(value)
    fix = "write a number (1.5), yes or no, or leave it empty"
    if isinstance(value, dict):
        fix = f"an object: name what is in it, as in {label.rpartition(' ')[2]}.{next(iter(value), 'NAME')} or .*"
    raise RecordError(f"{label}={str(value)[:40]!r} is not a score; {fix}")


def is_number(value: Any) -> bool:
    """Whether a value, or the text of a cell, is a finite number; 1_000 is one for Python alone."""
    try:
        return not isinstance(value, bool) and "_" not in str(value) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def miswritten(value: Any) -> bool:
    """Whether a cell that `is_number` refuses is one but for its commas or a percent sign."""
    return FOR_PEOPLE.fullmatch(str(value)) is not None


def no_number(value: Any) -> str:
    """What is wrong with a cell that `is_number` refuses in a column of numbers."""
    return f"{str(value)[:40]!r} is not a number (write 4.5: a point, no comma, no %)"
