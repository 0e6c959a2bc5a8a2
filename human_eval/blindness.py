"""Could judges have known whose text they read? Names of systems in what they were shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from human_eval.study import Study

SHORTEST = 3  # letters of a name that gives a system away: "A" stands in every text


def named_in(text: str, systems: Sequence[str]) -> list[str]:
    """The systems whose names stand in a text as words of their own, whatever the case; short ones never."""
    return [
        name
        for name in systems
        if len(name) >= SHORTEST and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    ]


def naming_tasks(study: Study, systems: Sequence[str]) -> tuple[str, ...]:
    """The tasks of which a summary names a system. All else that is served or exported is made from the same public
    study: its wording is refused by `build` where it names one, and its ids say nothing.
    """
    return tuple(task.id for task in study.tasks if named_in(f"{task.left}\n{task.right}", systems))


def told(tasks: Sequence[str]) -> str:
    """Tasks in words, the first few by their ids."""
    first = ", ".join(tasks[:3]) + (", ..." if len(tasks) > 3 else "")
    return f"in {len(tasks)} tasks a summary has the name of a system in its text ({first})"
