"""A study: what judges see (public), and the key, which says which system wrote what (secret).

An *item* is an article. A *task* shows two summaries of an item, left and right fixed, to one judge. A *booklet* is the
ordered list of tasks that one judge receives. A *check* is a task whose right answer is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from rlsum.errors import UserError

Answer = Literal["left", "right", "none"]
Kind = Literal["pair", "identical", "shuffled", "swapped"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
KINDS: tuple[Kind, ...] = get_args(Kind)


class StudyError(UserError):
    """A study, or what one is made of, that cannot be used: the message names the file, the line and the fix."""


@dataclass(frozen=True)
class Criterion:
    """One question about two summaries; ``id`` names it in files, ``help`` says what counts ("" for nothing to say)."""

    id: str
    question: str
    help: str = ""


@dataclass(frozen=True)
class Task:
    """Two summaries of an item, in the place ``position`` (0..) of a ``booklet`` (0..)."""

    id: str
    item: str
    booklet: int
    position: int
    left: str
    right: str


@dataclass(frozen=True)
class Study:
    """All that judges, and the commands that serve them, may know. ``articles``: item -> text."""

    id: str
    title: str
    instructions: str
    criteria: tuple[Criterion, ...]
    judges_per_item: int
    articles: Mapping[str, str]
    tasks: tuple[Task, ...]

    @cached_property
    def booklets(self) -> tuple[tuple[Task, ...], ...]:
        """The tasks of each booklet, in the order in which they are shown."""
        lists: dict[int, list[Task]] = {}
        for task in sorted(self.tasks, key=lambda task: (task.booklet, task.position)):
            lists.setdefault(task.booklet, []).append(task)
        return tuple(tuple(lists[number]) for number in sorted(lists))

    @cached_property
    def by_id(self) -> dict[str, Task]:
        """Tasks by their ids."""
        return {task.id: task for task in self.tasks}


@dataclass(frozen=True)
class Secret:
    """What a task really shows.

    ``pair``: the two systems compared, in the study's order; ``left`` and ``right``: where they stand. A check of two
    identical texts, or of a text and its shuffled words, shows one system: all four names are the same.
    ``repeats``: the earlier task of the same booklet that a swapped check shows again, else None.
    ``expected``: "none" for identical texts, the side of the readable text for shuffled ones, else None.
    """

    pair: tuple[str, str]
    left: str
    right: str
    kind: Kind = "pair"
    repeats: str | None = None
    expected: Answer | None = None


@dataclass(frozen=True)
class Tie:
    """Two systems wrote the same about an item: nobody is asked, it counts as no difference."""

    item: str
    pair: tuple[str, str]


@dataclass(frozen=True)
class Key:
    """What unblinds a study. ``items``: item -> the id in the outputs, tied and check-only items included."""

    study: str
    seed: int
    systems: tuple[str, ...]
    baseline: str | None
    items: Mapping[str, str]
    tasks: Mapping[str, Secret]
    ties: tuple[Tie, ...] = ()
