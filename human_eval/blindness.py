"""Could judges have known whose text they read? Names of systems in what they were shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from human_eval.study import Study
from human_eval.wording import counted

SHORTEST = 3  # letters of a name that gives a system away: "A" stands in every text; Chinese characters count twice


def named_in(text: str, systems: Sequence[str]) -> list[str]:
    """The systems whose names stand in a text as words of their own, whatever the case; short ones never.

    In scripts that put no spaces between words, such as Chinese, a name may stand anywhere.
    """
    return [
        name
        for name in systems
        if sum(1 + _is_wide(letter) for letter in name) >= SHORTEST and re.search(_pattern(name), text, re.IGNORECASE)
    ]


def _pattern(name: str) -> str:
    before = "" if _is_wide(name[0]) else r"(?<!\w)"
    after = "" if _is_wide(name[-1]) else r"(?!\w)"
    return before + re.escape(name) + after


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in ("W", "F")


def naming_tasks(study: Study, systems: Sequence[str]) -> tuple[str, ...]:
    """The tasks of which a summary names a system. All else that is served or exported is made from the same public
    study: its wording is refused by `build` where it names one, and its ids say nothing.
    """
    return tuple(task.id for task in study.tasks if named_in(f"{task.left}\n{task.right}", systems))


def told(tasks: Sequence[str]) -> str:
    """Tasks in words, the first few by their ids."""
    first = ", ".join(tasks[:3]) + (", ..." if len(tasks) > 3 else "")
    return f"in {counted(len(tasks), 'task')} a summary has the name of a system in its text ({first})"
