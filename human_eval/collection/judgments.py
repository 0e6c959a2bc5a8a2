"""``Judgment``, one judge's answers to one task, and the JSONL of judgments that collecting writes and analysing reads.

A line holds ``{"study", "task", "judge", "answers": {criterion: "left" | "right" | "none"}, "comment", "seconds",
"submitted", "origin"}``; ``seconds`` and ``submitted`` may be null. No two lines of a file share judge and task.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from human_eval.files import checked
from human_eval.study import ANSWERS, Answer, Study, StudyError
from rlsum.files import replacing
from rlsum.readers import jsonl

Origin = Literal["app", "mturk", "offline", "csv"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)


@dataclass(frozen=True)
class Judgment:
    """What ``judge`` answered to ``task``: which side is better, for each criterion.

    ``seconds``: how long it took, None where nobody knows. ``submitted``: ISO 8601 time with its zone, or None.
    """

    study: str
    task: str
    judge: str
    answers: Mapping[str, Answer]
    comment: str = ""
    seconds: float | None = None
    submitted: str | None = None
    origin: Origin = "app"

    def to_json(self) -> str:
        """One line of JSON, as it is read."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)


def write_judgments(path: str | Path, judgments: Iterable[Judgment]) -> int:
    """Write judgments as JSONL, whole or not at all; returns how many. The folder is made when missing."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:
        for judgment in judgments:
            file.write(judgment.to_json() + "\n")
            count += 1
    return count


def read_judgments(path: str | Path, study: Study) -> list[Judgment]:
    """Read a file of judgments of ``study``. Raises StudyError naming the first bad line: collecting has sorted out
    what cannot be used, so a line that is left is of something else.
    """
    seen: dict[tuple[str, str], str] = {}
    judgments = []
    for where, row, problem in read_rows(path):
        judgment = problem or judgment_of(row)
        told = judgment if isinstance(judgment, str) else fault(judgment, study)
        if told:
            raise StudyError(f"{where}: {told}; make the file with `rlsum human-eval collect`")
        assert not isinstance(judgment, str)
        earlier = seen.setdefault((judgment.judge, judgment.task), where)
        if earlier != where:
            raise StudyError(f"{where}: judge and task are those of {earlier}; `rlsum human-eval collect` keeps one")
        judgments.append(judgment)
    if not judgments:
        raise StudyError(f"{path}: no judgments; collect some with `rlsum human-eval collect`")
    return judgments


def read_rows(path: str | Path) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Of each line: file:line, the object, and "" or what is wrong. Raises StudyError where the file cannot be read."""
    try:
        for read in jsonl(Path(path)):
            yield read.where, read.fields, read.problem
    except (OSError, EOFError) as error:
        raise StudyError(f"{path}: cannot be read ({error}); give a JSONL file of judgments") from error


def judgment_of(row: Mapping[str, Any]) -> Judgment | str:
    """The judgment that a JSON object holds, or what is wrong with its form."""
    try:
        checked(row, {"study": str, "task": str, "judge": str, "answers": dict}, "no judgment")
    except StudyError as error:
        return str(error)
    seconds, submitted = row.get("seconds"), row.get("submitted")
    if seconds is not None and not _is_number(seconds):
        return f"seconds below 0 or no number: {json.dumps(seconds)[:40]}"
    if submitted is not None and not isinstance(submitted, str):
        return f"no ISO time with its zone: submitted is {json.dumps(submitted)[:40]}"
    comment, origin = row.get("comment") or "", row.get("origin", "app")
    if not isinstance(comment, str):
        return "comment must be text"
    return Judgment(row["study"], row["task"], row["judge"], row["answers"], comment, seconds, submitted, origin)


def fault(judgment: Judgment, study: Study) -> str:
    """Why a judgment cannot count in ``study``; "" where it can."""
    if judgment.study != study.id:
        return f"of another study: {judgment.study[:40]!r}, not {study.id}"
    if judgment.task not in study.by_id:
        return f"unknown task: {judgment.task[:40]!r}"
    if not judgment.judge.strip():
        return "no judge"
    if not _encodable(judgment.judge + judgment.comment):
        return "half a character in judge or comment"
    if judgment.origin not in ORIGINS:
        return f"unknown origin: {str(judgment.origin)[:40]!r}, expected {', '.join(ORIGINS)}"
    if judgment.seconds is not None and not (math.isfinite(judgment.seconds) and judgment.seconds >= 0):
        return f"seconds below 0 or no number: {judgment.seconds}"
    if judgment.submitted is not None and not _is_time(judgment.submitted):
        return f"no ISO time with its zone: submitted is {judgment.submitted[:40]!r}"
    return _answers_fault(judgment.answers, study)


def _answers_fault(answers: Mapping[str, Any], study: Study) -> str:
    wanted = [criterion.id for criterion in study.criteria]
    unknown = [name for name in answers if name not in wanted]
    if unknown:
        return f"unknown criterion: {str(unknown[0])[:40]!r}, the study asks for {', '.join(wanted)}"
    missing = [name for name in wanted if name not in answers]
    if missing:
        return f"not fully answered: {', '.join(missing)}"
    for name in wanted:
        if answers[name] not in ANSWERS:
            return f"unknown answer: {str(answers[name])[:40]!r} for {name}, expected {', '.join(ANSWERS)}"
    return ""


def _encodable(text: str) -> bool:
    """JSON can spell half a character, which no file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
