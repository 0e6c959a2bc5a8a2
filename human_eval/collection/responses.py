"""``Response``, one judge's answers to one task, and the JSONL that `collect` writes and `analyse` reads.

A line is ``{"study", "task", "judge", "answers": {criterion: answer}, "comment", "seconds", "submitted", "origin"}``,
with answers such as left (`human_eval.answers`); ``seconds`` and ``submitted`` may be null. Each pair of judge and task
occurs once in a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from human_eval import marks
from human_eval.formatting import is_unicode
from human_eval.parsing import parse
from human_eval.study import ERRORS, Study, StudyError
from rlsum.files import write_atomically
from rlsum.readers import jsonl

Origin = Literal["app", "mturk", "offline", "csv"]
NAMELESS = "anonymous-"  # begins the names of judges whom a file does not name: one person may have several
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # no study is older
LONGEST_NAME = 200  # characters
UNNAMED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")  # would spoil pages and tables
LONGEST = 30 * 24 * 3600.0  # seconds of a task
FAST_CLOCKS = timedelta(days=1)  # of judges, and time zones that are missing in their files


@dataclass(frozen=True)
class Response:
    """A judge's answers to a task. ``answers``: criterion -> answer (`human_eval.answers`).

    ``seconds``: time taken, None if unknown. ``submitted``: ISO 8601 time with its zone, or None.
    """

    study: str
    task: str
    judge: str
    answers: Mapping[str, str]
    comment: str = ""
    seconds: float | None = None
    submitted: str | None = None
    origin: Origin = "app"

    def to_json(self) -> str:
        """The line of JSON for this response."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)


def write_responses(path: Path, responses: Iterable[Response]) -> None:
    """Write responses as JSONL, all or none."""
    write_atomically(path, "".join(response.to_json() + "\n" for response in responses).encode())


def read_responses(path: str | Path, study: Study) -> list[Response]:
    """Read the responses to ``study`` from a collected file. Raises StudyError naming the first invalid line."""
    lines: dict[tuple[str, str], str] = {}
    responses = []
    for line in jsonl(Path(path)):
        where, response = line.where, line.problem or response_of(line.fields)
        problem = response if isinstance(response, str) else fault(response, study)
        if isinstance(response, str) or problem:
            raise StudyError(f"{where}: {problem}; make the file with `rlsum human-eval collect`")
        earlier = lines.setdefault((response.judge, response.task), where)
        if earlier != where:
            raise StudyError(f"{where}: same judge and task as {earlier}; `rlsum human-eval collect` keeps one of them")
        responses.append(response)
    if not responses:
        raise StudyError(f"{path}: no judgments; collect some with `rlsum human-eval collect`")
    return responses


def response_of(row: Mapping[str, Any]) -> Response | str:
    """The response in a JSON object, yet to be checked by `fault`, or what is wrong with the object."""
    values = {field.name: row[field.name] for field in fields(Response) if row.get(field.name) is not None}
    try:
        return parse(Response, values, "not a judgment")
    except StudyError as error:
        return str(error)


def with_time(response: Response) -> Response:
    """The response without an impossible time: a judgment does not depend on it."""
    seconds, submitted = response.seconds, response.submitted
    return replace(
        response,
        seconds=None if seconds is not None and not 0 <= seconds <= LONGEST else seconds,
        submitted=None if submitted is not None and _time_fault(submitted) else submitted,
    )


def fault(response: Response, study: Study) -> str:
    """Why a response cannot count in ``study``; "" if it can."""
    if response.study != study.id:
        return f"of another study: {response.study[:40]!r}, not {study.id}"
    if response.task not in study.by_id:
        return f"unknown task: {response.task[:40]!r}"
    if not response.judge.strip():
        return "no judge"
    if len(response.judge) > LONGEST_NAME or UNNAMED.search(response.judge.strip()):
        return f"no name: judge has more than {LONGEST_NAME} characters, control characters or changes of direction"
    if not is_unicode(response.judge + response.comment):
        return "judge or comment is not valid Unicode"
    if study.training and response.origin != "app":
        return "not from the app: without the training round, which the app alone can hold"
    if response.seconds is not None and not 0 <= response.seconds <= LONGEST:
        return f"seconds must be a number from 0 to {LONGEST:.0f}: {response.seconds}"
    if response.submitted is not None and (wrong := _time_fault(response.submitted)):
        return f"submitted {wrong}: {response.submitted[:40]!r}"
    answers, criteria = response.answers, study.asked
    unknown = [name for name in answers if name not in criteria]
    if unknown:
        return f"unknown criterion: {str(unknown[0])[:40]!r}, the study has {', '.join(criteria)}"
    missing = [name for name in criteria if name not in answers]
    if missing:
        return f"not fully answered: {', '.join(missing)}"
    task = study.by_id[response.task]
    if study.marking and (wrong := marks.fault(answers[ERRORS], task.texts, study.marking.categories)):
        return f"unknown marks: {wrong}"
    for criterion in study.criteria:
        if expected := criterion.kind.fault(answers[criterion.id], len(task.texts)):
            return f"unknown answer: {str(answers[criterion.id])[:40]!r} for {criterion.id}, {expected}"
    return ""


def answers_in(cells: Mapping[str, str], study: Study, task: str) -> dict[str, str]:
    """Criterion -> answer, from the ``cells`` of a form or a table, by field; without answers that lack a part."""
    texts = len(study.by_id[task].texts) if task in study.by_id else 2
    answers = {criterion.id: criterion.kind.answer(cells, criterion.id, texts) for criterion in study.criteria}
    return {name: answer for name, answer in answers.items() if answer}


def _time_fault(text: str) -> str:
    with suppress(ValueError):
        time = datetime.fromisoformat(text)
        if time.tzinfo is not None:
            past = EARLIEST <= time <= datetime.now(UTC) + FAST_CLOCKS
            return "" if past else "is before 2000 or in the future"
    return "must be an ISO time with its zone"
