"""The training round: practice tasks with known answers, from a file, and which answers are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from human_eval.answers import AnswerKind
from human_eval.files import checked
from human_eval.marks import LETTERS, Mark, agree, fault, written
from human_eval.study import ERRORS, Criterion, Marking, PracticeTask, StudyError, Training


def read_training(path: Path, criteria: Sequence[Criterion], marking: Marking | None = None) -> Training:
    """Read a YAML or JSON object {pass_mark, attempts, tasks}; the first two are optional. Raises StudyError.

    A task is {article, left, right, more, answers, explanation}; ``answers`` gives for one criterion or more the right
    answer or a list of those that are right, and for ``errors`` a list of {summary, words, kind}; ``more``, a list of
    further summaries, and the explanation are optional.
    """
    import yaml

    where = f"--training {path}"
    try:
        row = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(f"{where}: cannot be read ({error.strerror}); give a YAML or JSON file") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise StudyError(f"{where}: neither YAML nor JSON ({' '.join(str(error).split())[:200]})") from error
    checked(row, {"tasks": list}, where)
    unknown = [str(name) for name in row if name not in ("pass_mark", "attempts", "tasks")]
    if unknown:
        raise StudyError(f"{where}: unknown field {unknown[0]!r}; a training has pass_mark, attempts and tasks")
    mark, attempts = row.get("pass_mark", Training.pass_mark), row.get("attempts", Training.attempts)
    if not isinstance(mark, int | float) or isinstance(mark, bool) or not 0 < mark <= 1:
        raise StudyError(f"{where}: pass_mark {mark!r}: expected the share of right answers, above 0 and at most 1")
    if not isinstance(attempts, int) or isinstance(attempts, bool) or attempts < 1:
        raise StudyError(f"{where}: attempts {attempts!r}: expected a whole number, 1 or more")
    if not row["tasks"]:
        raise StudyError(f"{where}: no tasks; give one or more with known answers")
    tasks = (_task(each, criteria, marking, f"{where}: task {number}") for number, each in enumerate(row["tasks"], 1))
    return Training(tuple(tasks), float(mark), attempts)


def _task(row: Any, criteria: Sequence[Criterion], marking: Marking | None, where: str) -> PracticeTask:
    checked(row, {"article": str, "left": str, "right": str, "answers": dict}, where)
    checked({"more": [], **row}, {"more": list}, where)
    known = [field.name for field in fields(PracticeTask)]
    if unknown := [str(name) for name in row if name not in known]:
        raise StudyError(f"{where}: unknown field {unknown[0]!r}; a task has {', '.join(known)}")
    kinds = {criterion.id: criterion.kind for criterion in criteria}
    texts = (row["left"], row["right"], *map(str, row.get("more", ())))
    for name, kind in kinds.items():
        if not kind.texts[0] <= len(texts) <= kind.texts[1]:
            few, most = kind.texts
            raise StudyError(f"{where}: {len(texts)} summaries; {name} takes {few} to {most}, the others under `more`")
    given = row["answers"].items()
    answers = {name: _right(name, right, texts, kinds, marking, f"{where}: answers") for name, right in given}
    if not answers:
        raise StudyError(f"{where}: answers: none is known; give the right answer to one criterion or more")
    explanation = row.get("explanation") or ""
    if not isinstance(explanation, str):
        raise StudyError(f"{where}: explanation must be text; quote it")
    return PracticeTask(row["article"], row["left"], row["right"], answers, explanation.strip(), texts[2:])


def _right(
    name: str,
    given: Any,
    texts: Sequence[str],
    kinds: Mapping[str, AnswerKind],
    marking: Marking | None,
    where: str,
) -> tuple[str, ...]:
    """The right answers to a criterion, of which the file gives one or a list."""
    if marking and name == ERRORS:
        return (_errors(given, texts, marking, where),)
    if name not in kinds:
        asked = ", ".join([*kinds, *([ERRORS] if marking else [])])
        raise StudyError(f"{where}: unknown criterion {name!r}; the study has {asked}")
    right = given if isinstance(given, list) else [given]
    faults = [kinds[name].fault(answer, len(texts)) for answer in right] or [kinds[name].fault(None, len(texts))]
    if any(faults):
        raise StudyError(f"{where}: {name}: {given!r}: {max(faults)}, or a list of them")
    return tuple(right)


def _errors(given: Any, texts: Sequence[str], marking: Marking, where: str) -> str:
    """The answer that marks the errors of a file: an empty list, or {summary: B, words, kind} for each."""
    found = []
    for row in checked({"errors": given}, {"errors": list}, where)["errors"]:
        checked(row, {"summary": str, "kind": str}, f"{where}: errors")
        place, words = LETTERS[: len(texts)].find(row["summary"]), row.get("words", "")
        if place < 0 or len(row["summary"]) != 1:
            raise StudyError(f"{where}: errors: summary {row['summary']!r}: expected one of {LETTERS[: len(texts)]}")
        if words and texts[place].count(words) != 1:
            count = texts[place].count(words)
            raise StudyError(f"{where}: errors: {words!r} is {count} times in summary {row['summary']}; expected once")
        start = texts[place].find(words) if words else 0
        found.append(Mark(place, start, start + len(words), row["kind"]))
    answer = written(found)
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
