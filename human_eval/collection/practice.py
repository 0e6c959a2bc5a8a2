"""The training round of judges: answers to practice tasks, who passed, who failed. None of them is a judgment.

They are in a table and a file of their own. A line of the file is ``{"study", "judge", "attempt", "task", "answers",
"right", "known", "seconds", "submitted"}``: ``right`` of the ``known`` answers of the task.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from human_eval.collection.database import Database, check_study, connect_to_read, usable
from human_eval.parsing import parse
from human_eval.study import Study, StudyError, Training
from human_eval.training import marks
from rlsum.files import write_atomically
from rlsum.readers import jsonl

Outcome = Literal["training", "again", "passed", "failed"]  # of a judge; again: failed an attempt, may repeat it


@dataclass(frozen=True)
class PracticeAnswer:
    """A judge's answers to a practice task in an ``attempt`` (0..), ``right`` of ``known`` answers."""

    judge: str
    attempt: int
    task: str
    answers: Mapping[str, str]
    right: int
    known: int
    seconds: float
    submitted: str


@dataclass(frozen=True)
class TrainingStatus:
    """Where a judge is in the training: the open tasks of the ``attempt``, and ``right`` of ``known`` answers in it."""

    outcome: Outcome
    attempt: int
    open: tuple[str, ...]
    right: int
    known: int


@dataclass(frozen=True)
class TrainingCounts:
    """How many judges trained, passed and failed; the rest did not finish. ``untrained``: judges who did not pass."""

    trained: int
    passed: int
    failed: int
    untrained: tuple[str, ...] = ()


def status(training: Training, answers: Sequence[PracticeAnswer]) -> TrainingStatus:
    """The status of the judge who gave these ``answers``."""
    attempt = max((row.attempt for row in answers), default=0)
    rows = [row for row in answers if row.attempt == attempt]
    still_open = tuple(task for task in training.by_id if task not in {row.task for row in rows})
    right, known = sum(row.right for row in rows), sum(row.known for row in rows)
    outcome: Outcome = "training"
    if not still_open:
        passed = right >= training.pass_mark * known - 1e-9
        outcome = "passed" if passed else "again" if attempt + 1 < training.attempts else "failed"
    return TrainingStatus(outcome, attempt, still_open, right, known)


def counts(training: Training, answers: Iterable[PracticeAnswer], judges: Iterable[str]) -> TrainingCounts:
    """How many judges passed, and which of ``judges``, who judged, did not."""
    by_judge: dict[str, list[PracticeAnswer]] = {}
    for row in answers:
        by_judge.setdefault(row.judge, []).append(row)
    outcomes = {judge: status(training, rows).outcome for judge, rows in by_judge.items()}
    stages = list(outcomes.values())
    untrained = tuple(judge for judge in sorted(set(judges)) if outcomes.get(judge) != "passed")
    return TrainingCounts(len(stages), stages.count("passed"), stages.count("failed"), untrained)


class Practice:
    """The practice answers in the database of a study."""

    def __init__(self, database: Database, study: Study, now: Callable[[], float] = time.time) -> None:
        self._database, self._study, self._now = database, study, now

    def answers(self, judge: str = "") -> list[PracticeAnswer]:
        """The answers of a judge, or of all, in the order of answering."""
        with self._database.reading() as connection:
            return _rows(connection, self._study, judge)

    def status(self, judge: str) -> TrainingStatus:
        """Where the judge is; passed in a study without training."""
        if self._study.training is None:
            return TrainingStatus("passed", 0, (), 0, 0)
        return status(self._study.training, self.answers(judge))

    def record(self, judge: str, attempt: int, task: str, answers: Mapping[str, str], seconds: float) -> None:
        """Record the answers to a practice task; the first ones count. On disk when this returns.

        A judge who fails the last attempt is barred (`People`), in the same transaction.
        """
        written = json.dumps(dict(sorted(answers.items())), ensure_ascii=False)
        with self._database.writing() as connection:
            row = (judge, attempt, task, written, seconds, self._now())
            connection.execute("INSERT OR IGNORE INTO practice VALUES (?, ?, ?, ?, ?, ?)", row)
            assert self._study.training is not None
            if status(self._study.training, _rows(connection, self._study, judge)).outcome == "failed":
                connection.execute("INSERT OR IGNORE INTO barred VALUES (?, 'not qualified', ?)", (judge, self._now()))


def read_practice_database(path: Path, study: Study) -> list[PracticeAnswer]:
    """The practice answers in a database, which may be in use. Raises UserError."""
    with usable(path), closing(connect_to_read(path)) as connection:
        check_study(connection, study, path)
        return _rows(connection, study)


def practice_file(judgments: Path) -> Path:
    """The file of practice answers beside a file of judgments."""
    return judgments.with_suffix(".practice.jsonl")


def write_practice(path: Path, study: Study, answers: Iterable[PracticeAnswer]) -> None:
    """Write practice answers as JSONL, all or none; each once."""
    rows = {(row.judge, row.attempt, row.task): {"study": study.id, **asdict(row)} for row in answers}
    write_atomically(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values()).encode())


def read_practice(path: Path, study: Study) -> list[PracticeAnswer]:
    """Read what `write_practice` wrote. Raises StudyError naming the first invalid line."""
    fix = "make the file with `rlsum human-eval collect`"
    rows = []
    for line in jsonl(path):
        if line.problem:
            raise StudyError(f"{line.where}: {line.problem}; {fix}")
        known = {name: value for name, value in line.fields.items() if name != "study"}
        answer = parse(PracticeAnswer, known, line.where)
        if line.fields.get("study") != study.id or study.training is None or answer.task not in study.training.by_id:
            raise StudyError(f"{line.where}: of another study or training; {fix}")
        rows.append(answer)
    return rows


def _rows(connection: sqlite3.Connection, study: Study, judge: str = "") -> list[PracticeAnswer]:
    if study.training is None:
        return []
    query = "SELECT judge, attempt, task, answers, seconds, submitted FROM practice"
    query, values = (f"{query} WHERE judge = ?", (judge,)) if judge else (query, ())
    rows = []
    for name, attempt, task, written, seconds, submitted in connection.execute(f"{query} ORDER BY rowid", values):
        answers = json.loads(written)
        right = list(marks(study.training.by_id[task], answers).values())
        at = datetime.fromtimestamp(submitted, UTC).isoformat(timespec="seconds")
        rows.append(PracticeAnswer(name, attempt, task, answers, sum(right), len(right), round(seconds, 1), at))
    return rows
