"""The training round: practice tasks with known answers, from a file, and which answers are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from human_eval.answers import LETTERS, AnswerKind
from human_eval.marks import Mark, agree, fault, written
from human_eval.parsing import parse, read_yaml
from human_eval.study import ERRORS, Criterion, Marking, PracticeTask, StudyError, Training


def read_training(path: Path, criteria: Sequence[Criterion], marking: Marking | None = None) -> Training:
    """Read a YAML or JSON object {pass_mark, attempts, tasks}; the first two are optional. Raises StudyError.

    A task is {article, left, right, more, answers, explanation}; ``answers`` gives for one criterion or more the right
    answer or a list of those that are right, and for ``errors`` a list of {summary, words, kind}; ``more``, a list of
    further summaries, and the explanation are optional.
    """
    where, row = f"--training {path}", read_yaml("--training", path)
    tasks = row.get("tasks") if isinstance(row, dict) else None
    if not isinstance(tasks, list) or not tasks:
        raise StudyError(f"{where}: no tasks; give one or more with known answers")
    training = parse(Training, {**row, "tasks": []}, where)
    if not 0 < training.pass_mark <= 1:
        raise StudyError(f"{where}: pass_mark {training.pass_mark}: expected the share of right answers, up to 1")
    if training.attempts < 1:
        raise StudyError(f"{where}: attempts {training.attempts}: expected a whole number, 1 or more")
    practice = (_task(task, criteria, marking, f"{where}: task {number}") for number, task in enumerate(tasks, 1))
    return replace(training, tasks=tuple(practice))


def _task(row: Any, criteria: Sequence[Criterion], marking: Marking | None, where: str) -> PracticeTask:
    known = row.get("answers") if isinstance(row, dict) else None
    task = parse(PracticeTask, {**row, "answers": {}} if isinstance(row, dict) else row, where)
    kinds = {criterion.id: criterion.kind for criterion in criteria}
    for name, kind in kinds.items():
        if not kind.texts[0] <= len(task.texts) <= kind.texts[1]:
            few, most = kind.texts
            count = f"{len(task.texts)} summaries"
            raise StudyError(f"{where}: {count}; {name} takes {few} to {most}, the others under `more`")
    if not isinstance(known, dict) or not known:
        raise StudyError(f"{where}: answers: none is known; give the right answer to one criterion or more")
    answers = {
        name: _right(name, right, task.texts, kinds, marking, f"{where}: answers") for name, right in known.items()
    }
    return replace(task, answers=answers, explanation=task.explanation.strip())


def _right(
    name: str, stated: Any, texts: Sequence[str], kinds: Mapping[str, AnswerKind], marking: Marking | None, where: str
) -> tuple[str, ...]:
    """The right answers to a criterion, of which the file gives one or a list."""
    if marking and name == ERRORS:
        return (_errors(stated, texts, marking, where),)
    if name not in kinds:
        asked = ", ".join([*kinds, *([ERRORS] if marking else [])])
        raise StudyError(f"{where}: unknown criterion {name!r}; the study has {asked}")
    right = stated if isinstance(stated, list) else [stated]
    faults = [kinds[name].fault(answer, len(texts)) for answer in right] or [kinds[name].fault(None, len(texts))]
    if any(faults):
        raise StudyError(f"{where}: {name}: {stated!r}: {max(faults)}, or a list of them")
    return tuple(right)


@dataclass(frozen=True)
class _KnownError:
    """An error in the file: the letter of the ``summary``, its ``words`` there, "" for the whole, and its ``kind``."""

    summary: str
    kind: str
    words: str = ""


def _errors(stated: Any, texts: Sequence[str], marking: Marking, where: str) -> str:
    """The answer that marks the errors of a file: an empty list, or {summary: B, words, kind} for each."""
    if not isinstance(stated, list):
        raise StudyError(f"{where}: errors must be a list")
    known = []
    for error in (parse(_KnownError, row, f"{where}: errors") for row in stated):
        place = LETTERS[: len(texts)].find(error.summary)
        if place < 0 or len(error.summary) != 1:
            raise StudyError(f"{where}: errors: summary {error.summary!r}: expected one of {LETTERS[: len(texts)]}")
        count = texts[place].count(error.words) if error.words else 1
        if count != 1:
            raise StudyError(
                f"{where}: errors: {error.words!r} is {count} times in summary {error.summary}; expected once"
            )
        start = texts[place].find(error.words)
        known.append(Mark(place, start, start + len(error.words), error.kind))
    answer = written(known)
    if wrong := fault(answer, texts, marking.categories):
        raise StudyError(f"{where}: errors: {wrong}")
    return answer


def marks(task: PracticeTask, answers: Mapping[str, str]) -> dict[str, bool]:
    """Criterion -> whether the answer is right, for the criteria whose answer is known.

    Marked errors are right if they `agree` with the known ones: judges may choose some words more or fewer.
    """
    return {
        name: any(agree(answers[name], known) for known in right) if name == ERRORS else answers.get(name) in right
        for name, right in task.answers.items()
    }
