"""Blinding: ids that reveal nothing, and a search for names of systems in what judges read."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from human_eval.formatting import counted
from human_eval.study import Study

SHORTEST = 3  # letters of a name that identifies a system: "A" is in every text. Wide (Chinese) characters count twice


class OpaqueIds:
    """Ids that depend only on the seed and the content of a study: keyed hashes of what they name.

    Of dataclasses in the content, at any depth, only what differs from the defaults counts.
    An id begins with a letter, so that no spreadsheet takes it for a number.
    """

    def __init__(self, seed: int, content: object) -> None:
        self._key = hashlib.blake2b(json.dumps([seed, content], default=_chosen).encode(), digest_size=32).digest()

    def __call__(self, letter: str, *names: str | int) -> str:
        """The id of the object of a kind (a letter) with these names."""
        content = json.dumps([letter, *names]).encode()
        return letter + hashlib.blake2b(content, key=self._key, digest_size=7).hexdigest()


def _chosen(options: Any) -> dict[str, Any]:
    """The fields of a dataclass that differ from their defaults: an option that is added later changes no id."""
    chosen = {}
    for field in fields(options):
        made = field.default_factory
        usual = getattr(type(options), field.name, MISSING) if made is MISSING else made()
        if (value := getattr(options, field.name)) != usual:
            chosen[field.name] = value
    return chosen


def named_in(text: str, systems: Sequence[str]) -> list[str]:
    """The systems whose names occur in a text as whole words, in any case. Very short names are ignored.

    Scripts without spaces between words, such as Chinese, match anywhere.
    """
    return [
        name
        for name in systems
        if sum(1 + _is_wide(letter) for letter in name) >= SHORTEST and re.search(_pattern(name), text, re.IGNORECASE)
    ]


def naming_tasks(study: Study, systems: Sequence[str]) -> dict[str, list[str]]:
    """The ids of tasks in which a summary names a system -> the systems named.

    Nothing else that judges see can: `build` refuses wording that names a system, and ids are opaque.
    """
    named = ((task.id, named_in("\n".join(task.texts), systems)) for task in study.tasks)
    return {task: names for task, names in named if names}


def naming_note(tasks: Mapping[str, Sequence[str]]) -> str:
    """The result of `naming_tasks` in words, with the names and the first few ids."""
    first = ", ".join([*tasks][:3]) + (", ..." if len(tasks) > 3 else "")
    names = ", ".join(f"“{name}”" for name in dict.fromkeys(name for names in tasks.values() for name in names))
    return f"in {counted(len(tasks), 'task')} a summary contains the name of a system, {names} ({first})"


def _pattern(name: str) -> str:
    before = "" if _is_wide(name[0]) else r"(?<!\w)"
    after = "" if _is_wide(name[-1]) else r"(?!\w)"
    return before + re.escape(name) + after


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in ("W", "F")
