"""The training round: practice tasks with known answers, from a file, and which answers are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from human_eval.files import checked
from human_eval.study import Criterion, PracticeTask, StudyError, Training


def read_training(path: Path, criteria: Sequence[Criterion]) -> Training:
    """Read a YAML or JSON object {pass_mark, attempts, tasks}; the first two are optional. Raises StudyError.

    A task is {article, left, right, answers, explanation}; ``answers`` gives for one criterion or more the right answer
    or a list of those that are right; the explanation is optional.
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
    tasks = (_task(each, criteria, f"{where}: task {number}") for number, each in enumerate(row["tasks"], 1))
    return Training(tuple(tasks), float(mark), attempts)


def _task(row: Any, criteria: Sequence[Criterion], where: str) -> PracticeTask:
    checked(row, {"article": str, "left": str, "right": str, "answers": dict}, where)
    known = [field.name for field in fields(PracticeTask)]
    if unknown := [str(name) for name in row if name not in known]:
        raise StudyError(f"{where}: unknown field {unknown[0]!r}; a task has {', '.join(known)}")
    kinds = {criterion.id: criterion.kind for criterion in criteria}
    answers = {}
    for name, given in row["answers"].items():
        right = given if isinstance(given, list) else [given]
        if name not in kinds:
            raise StudyError(f"{where}: answers: unknown criterion {name!r}; the study has {', '.join(kinds)}")
        if kinds[name].texts[0] > 2:
            raise StudyError(f"{where}: practice tasks have two summaries, too few for the answers to {name}")
        faults = [kinds[name].fault(answer, 2) for answer in right] or [kinds[name].fault(None, 2)]
        if any(faults):
            raise StudyError(f"{where}: answers: {name}: {given!r}: {max(faults)}, or a list of them")
        answers[name] = tuple(right)
    if not answers:
        raise StudyError(f"{where}: answers: none is known; give the right answer to one criterion or more")
    explanation = row.get("explanation") or ""
    if not isinstance(explanation, str):
        raise StudyError(f"{where}: explanation must be text; quote it")
    return PracticeTask(row["article"], row["left"], row["right"], answers, explanation.strip())


def marks(task: PracticeTask, answers: Mapping[str, str]) -> dict[str, bool]:
    """Criterion -> whether the answer is right, for the criteria whose answer is known."""
    return {name: answers.get(name) in right for name, right in task.answers.items()}
