"""The texts in a row of columns: cells that hold lists, columns that are alternatives, lists of sentences."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Literal

from rewards.errors import RewardError

Lists = Literal["alternatives", "sentences"]  # what a list of texts in a column of references is
ALTERNATIVES = ("references", "summaries")  # ends of names that say so: lists are alternatives
NUMBERED = re.compile(r"(.*?)[ _.-]?(\d{1,2})")
MOST = 20  # the highest number of a column: `summary_50` has fifty words
# Names of columns that are only counted, whatever they hold.
COUNTED = ("", "c", "col", "column", "field", "text", "unnamed", "unnamed:", "v", "var", "variable", "x")
# A cell as Python and numpy write lists of texts: 'a' or "a", an empty member, brackets, what numpy adds, a comma.
TOKEN = re.compile(
    r"""\s*(?:[uU]?(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<none>None|nan|NaN|null)|(?P<open>array\(|[\[({])"""
    r"""|(?P<close>[\])}])|,?\s*dtype=[\w.'<>|]+|,)\s*""",
    re.DOTALL,
)
BRACKETS = ("[]", "()", "{}")
DEEPEST = 4  # levels of brackets around texts
UNREADABLE = re.compile(r"""\s*\[\s*((['"]).*\2|\{\s*".*\})\s*\]\s*""", re.DOTALL)  # also a list of objects


class NotText(RewardError):
    """A cell that holds no text; the message is for the end of a line that names the row."""


class Undecided(NotText):
    """A list of texts that may be alternatives or the sentences of one text, and nothing says which."""


@lru_cache
def reference_columns(name: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a row that hold alternatives together: ``name``, and those that differ from it in a number.

    ``reference`` or ``reference1``: of ``reference, reference2, reference_3, other`` the first three. Numbers begin
    with 0, 1 or 2. Only ``name`` where there are no others.
    """
    stem = _stem(name)
    numbers = {column: int(column[len(stem) :].lstrip(" _.-")) for column in columns if _numbered(column, stem)}
    if stem.strip().lower() in COUNTED or not {0, 1, 2} & set(numbers.values()):
        return (name,)
    members = sorted(numbers, key=lambda column: numbers[column])
    return (*([stem] if stem in columns else []), *members)


def _stem(name: str) -> str:
    match = NUMBERED.fullmatch(name)
    return match[1] if match and int(match[2]) <= MOST else name


def _numbered(column: str, stem: str) -> bool:
    return column != stem and _stem(column) == stem


def references(
    row: Mapping[str, Any], name: str, lists: Lists | None = None, others: Collection[str] = ()
) -> list[str]:
    """The references of a row in the column ``name`` and those that belong to it; empty ones are left out.

    A list of texts is alternatives, or the sentences of one text, which then become its lines: as ``lists`` says, or
    as a column says whose name ends in `references` or `summaries` (alternatives). ``others``: columns that hold
    something else. Raises NotText, and Undecided where nothing says what a list is.
    """
    columns = reference_columns(name, tuple(column for column in row if column not in others) if others else (*row,))
    return [text for column in columns for text in _alternatives(row.get(column), column, lists)]


def one_text(cell: Any) -> str:
    """An article or a candidate: a text, or a list of sentences (texts, or lists of tokens), which become its lines.

    Raises NotText for anything else.
    """
    listed = members(cell)
    if listed is not None:
        return _lines(listed)
    if not isinstance(cell, str):
        raise NotText("not text")
    return cell


def members(cell: Any) -> list[Any] | None:
    """The list that a cell holds, also as JSON, Python or numpy writes it; None for a text or anything else."""
    if not isinstance(cell, str):
        cell = cell.tolist() if hasattr(cell, "tolist") else cell  # numpy, as pandas reads lists of parquet
        return list(cell) if isinstance(cell, list | tuple) else None
    if cell[:1].isalnum() or (text := cell.strip())[:1] + text[-1:] not in BRACKETS:
        return None
    try:
        value = json.loads(text, strict=False)
        return value if isinstance(value, list) and _only_texts(value) else None
    except (ValueError, RecursionError):
        return _python(text)


def _alternatives(cell: Any, column: str, lists: Lists | None) -> list[str]:
    if isinstance(cell, str) and cell[:1].isalnum():  # nearly all
        return [cell]
    listed = members(cell)
    if listed is None:
        if _empty(cell):
            return []
        if not isinstance(cell, str):
            raise NotText(f"{column}: not text")
        if UNREADABLE.fullmatch(cell):
            raise NotText(f"{column}: begins and ends as a list, and cannot be read as one")
        return [cell]
    present = [member for member in listed if not _empty(member)]
    try:
        texts = [_lines(member) if isinstance(member, list) else _line(member) for member in present]
        lines = [_lines(present)] if present and lists == "sentences" else []
    except NotText as error:
        raise NotText(f"{column}: {error}") from error
    named = column.lower().endswith(ALTERNATIVES)
    if lists is None and not named and (len(present) > 1 or any(isinstance(member, list) for member in present)):
        raise Undecided(
            f"{column}: a list of {len(present)} texts, which may be alternatives or the sentences of one; say which "
            "with --reference-lists alternatives or sentences (reference_lists in Python, data.reference_lists in a "
            "configuration), or call the column references if they are alternatives"
        )
    return lines if lists == "sentences" else texts


def _lines(sentences: list[Any]) -> str:
    return "\n".join(_line(sentence) for sentence in sentences if not _empty(sentence))


def _line(sentence: Any) -> str:
    """A sentence: a text, or a list of tokens."""
    if isinstance(sentence, list) and all(isinstance(token, str) for token in sentence):
        return " ".join(sentence)
    if not isinstance(sentence, str):
        raise NotText("not text")
    return sentence


def _empty(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _only_texts(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_only_texts, value))
    return isinstance(value, str) or _empty(value)


def _python(text: str) -> Any:
    """The list that a text writes as Python or numpy does, which has no commas; None for any other text."""
    place, levels, arrays = 0, [list[Any]()], [False]
    while place < len(text):
        token = TOKEN.match(text, place)
        if token is None or (token["close"] and len(levels) < 2) or len(levels) > DEEPEST:
            return None
        if token["text"]:
            try:
                with warnings.catch_warnings(action="ignore"):
                    levels[-1].append(ast.literal_eval(token["text"].replace("\n", "\\n")))
            except (ValueError, SyntaxError):
                return None
        elif token["none"]:
            levels[-1].append(None)
        elif token["open"]:
            levels.append([])
            arrays.append(token["open"] == "array(")
        elif token["close"]:
            inner, array = levels.pop(), arrays.pop()
            levels[-1] += inner if array else [inner]
        place = token.end()
    return levels[0][0] if len(levels) == 1 and len(levels[0]) == 1 else None
