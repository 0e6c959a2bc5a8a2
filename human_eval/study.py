"""A study: what judges see (public), and the key, which says which system wrote what (secret).

An *item* is an article. A *task* shows one judge two summaries of an item, on fixed sides. A *booklet* is the ordered
list of tasks of one judge. A *check* is a task whose right answer is known. An *answer* is a judge's choice for one
criterion (`human_eval.answers`); a *response* is all answers of a judge to a task.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Literal

from human_eval.answers import KINDS, PAIR, AnswerKind, Option
from human_eval.marks import Category
from rlsum.errors import UserError

Pair = tuple[str, str]  # two systems that are compared
TaskKind = Literal["pair", "identical", "shuffled", "swapped"]
CHECKS: Mapping[TaskKind, str] = {  # tasks whose answer is known, and how a judge fails them
    "identical": "preferring one of two equal summaries",
    "shuffled": "preferring shuffled words",
    "swapped": "choosing the same side when a comparison is repeated with its sides swapped",
}


class StudyError(UserError):
    """A study, or its input, that cannot be used. The message names the file, the line and what to do."""


@dataclass(frozen=True)
class Criterion:
    """One question about the summaries of a task. ``id`` names it in files; ``help`` explains it and may be empty.

    ``answers``: the name of the kind of its answers, in `human_eval.answers.KINDS`.
    """

    id: str
    question: str
    help: str = ""
    answers: str = PAIR

    @property
    def kind(self) -> AnswerKind:
        """The kind of its answers."""
        return KINDS[self.answers]


@dataclass(frozen=True)
class AboutJudge:
    """A question about the judge, such as a first language. No ``choices``: the answer is free text.

    Who gives one of the answers in ``screen_out`` is not asked to judge.
    """

    id: str
    question: str
    choices: tuple[str, ...] = ()
    screen_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Enrolment:
    """What judges agree to ("" for nothing) and tell about themselves before they begin."""

    consent: str = ""
    questions: tuple[AboutJudge, ...] = ()


@dataclass(frozen=True)
class Interface:
    """The language of judges' pages (a code of HTML) and the texts in it, by the English text, which is the default."""

    language: str = "en"
    texts: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, text: str, **values: object) -> str:
        """A text of the pages, with ``values`` for its names in braces."""
        text = self.texts.get(text, text)
        return text.format(**values) if values else text


@dataclass(frozen=True)
class Task:
    """Two or more summaries of an item, at a ``position`` (0..) of a ``booklet`` (0..). ``more``: the third and on."""

    id: str
    item: str
    booklet: int
    position: int
    left: str
    right: str
    more: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All summaries, as they are shown."""
        return (self.left, self.right, *self.more)


ERRORS = "errors"  # names the marks of a response, beside its answers to criteria


@dataclass(frozen=True)
class Marking:
    """Judges mark errors in the summaries, beside or instead of comparing them (see `human_eval.marks`)."""

    question: str
    categories: tuple[Category, ...]


@dataclass(frozen=True)
class PracticeTask:
    """A task of a training round. ``answers``: criterion -> the answers that are right, of one criterion or more.

    `ERRORS` is a criterion of studies in which errors are marked. ``explanation``: why, for judges to read after they
    have answered; may be empty. ``more``: the third summary and on.
    """

    article: str
    left: str
    right: str
    answers: Mapping[str, tuple[str, ...]]
    explanation: str = ""
    more: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All summaries, as they are shown."""
        return (self.left, self.right, *self.more)


@dataclass(frozen=True)
class Training:
    """A training round before the first task. A judge passes with a share ``pass_mark`` of right answers in a round.

    ``attempts``: the most rounds of a judge, all with the same tasks.
    """

    tasks: tuple[PracticeTask, ...]
    pass_mark: float = 0.75
    attempts: int = 2

    @cached_property
    def by_id(self) -> dict[str, PracticeTask]:
        """Task id -> task, in the order of a round."""
        return {f"practice-{number}": task for number, task in enumerate(self.tasks, 1)}


@dataclass(frozen=True)
class Study:
    """The public part of a study. ``articles``: item -> text; ``training``: None if judges begin without.

    ``marking``: None if judges mark no errors; ``criteria`` are empty if they do nothing else.
    """

    id: str
    title: str
    instructions: str
    criteria: tuple[Criterion, ...]
    judges_per_item: int
    articles: Mapping[str, str]
    tasks: tuple[Task, ...]
    enrolment: Enrolment = Enrolment()
    interface: Interface = field(default_factory=Interface)
    training: Training | None = None
    marking: Marking | None = None

    @cached_property
    def kinds(self) -> dict[str, AnswerKind]:
        """Criterion -> kind of its answers."""
        return {criterion.id: criterion.kind for criterion in self.criteria}

    @property
    def asked(self) -> tuple[str, ...]:
        """What a complete response answers: the criteria, and errors if they are marked."""
        return (*(criterion.id for criterion in self.criteria), *((ERRORS,) if self.marking else ()))

    @property
    def questions(self) -> dict[str, str]:
        """What is asked -> the question."""
        marking = {ERRORS: self.marking.question} if self.marking else {}
        return {criterion.id: criterion.question for criterion in self.criteria} | marking

    @cached_property
    def booklets(self) -> tuple[tuple[Task, ...], ...]:
        """The tasks of each booklet, in the order in which they are shown."""
        ordered = sorted(self.tasks, key=lambda task: (task.booklet, task.position))
        return tuple(tuple(tasks) for _, tasks in groupby(ordered, key=lambda task: task.booklet))

    @cached_property
    def most_texts(self) -> int:
        """The largest number of summaries of a task."""
        return max(len(task.texts) for task in self.tasks)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """All that a judge may choose by a key, each once."""
        parts = (part for asked in self.criteria for part in asked.kind.parts(self.most_texts))
        return tuple(dict.fromkeys(option for part in parts for option in part.options if option.keys))

    @cached_property
    def by_id(self) -> dict[str, Task]:
        """Task id -> task."""
        return {task.id: task for task in self.tasks}

    @cached_property
    def checks(self) -> frozenset[str]:
        """The tasks that show a text twice or beside its shuffled words. They are no votes: many may answer one."""
        letters = {task.id: {"".join(sorted(text)) for text in task.texts} for task in self.tasks}
        return frozenset(task.id for task in self.tasks if len(letters[task.id]) < len(task.texts))

    def open(self, booklet: int, judge: str, answered: Collection[tuple[str, str]]) -> tuple[str, ...]:
        """The tasks of a booklet that remain for a judge, given (judge, task) of all answers.

        Who takes over a booklet answers all its checks, whoever answered them before.
        """
        done = {task for who, task in answered if who == judge or task not in self.checks}
        return tuple(task.id for task in self.booklets[booklet] if task.id not in done)

    def shown(self, task: str) -> tuple[str, Task]:
        """The article and the task of an id, which may be one of the training."""
        if self.training and task in self.training.by_id:
            practice = self.training.by_id[task]
            return practice.article, Task(task, task, -1, -1, practice.left, practice.right, practice.more)
        return self.articles[self.by_id[task].item], self.by_id[task]


@dataclass(frozen=True)
class TaskKey:
    """The systems of a task.

    ``pair``: the two systems compared, or more, in the order of the study; ``left``, ``right`` and ``more``: those of
    the summaries as they are shown. A check with identical texts, or with a text and its shuffled words, shows one
    system twice.
    ``repeats``: the earlier task of the booklet that a swapped check repeats, else None.
    ``expected``: none for identical texts; left if the readable text is shown before the shuffled one, else right;
    None for other tasks.
    """

    pair: tuple[str, ...]
    left: str
    right: str
    kind: TaskKind = "pair"
    repeats: str | None = None
    expected: str | None = None
    more: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The system of each summary, as they are shown."""
        return (self.left, self.right, *self.more)


@dataclass(frozen=True)
class EqualTexts:
    """Two systems wrote the same text for an item. No judge sees it; it counts as no difference."""

    item: str
    pair: Pair


@dataclass(frozen=True)
class StudyKey:
    """The secret part of a study. ``items``: item -> id in the outputs, including items of checks and of ``ties``."""

    study: str
    seed: int
    systems: tuple[str, ...]
    baseline: str | None
    items: Mapping[str, str]
    tasks: Mapping[str, TaskKey]
    ties: tuple[EqualTexts, ...] = ()
