"""Files that judges return -> responses, or what is wrong with a row.

``.sqlite``: the app's database. ``.jsonl``: collected or exported judgments. ``.json``: the file of an offline page.
``.csv``: results of Mechanical Turk if columns begin with ``Answer.``, else a spreadsheet that a judge filled in.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

from human_eval.answers import written
from human_eval.collection.database import read_database
from human_eval.collection.responses import Response, answers_in, read_rows, response_of
from human_eval.formatting import delimiter_of
from human_eval.study import Study, StudyError
from rlsum.files import bytes_of
from rlsum.readers import FIELD_LIMIT

TRUE = "true"
ZONES = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}  # of Mechanical Turk's times
MTURK_TIME = "%a %b %d %H:%M:%S %Y"


class ReturnedRow(NamedTuple):
    """A row at ``where`` (file:line): a response, not yet checked against the study, or the reason why it is none.

    ``raw``: the content of the row, for the file of rejects. ``file``: its file. ``signed_in``: the judge had a link,
    so name and time are the app's; other files say what their senders wrote.
    """

    where: str
    response: Response | str
    raw: Mapping[str, Any]
    file: str = ""
    signed_in: bool = False


def read_returned(path: str | Path, study: Study) -> Iterator[ReturnedRow]:
    """The rows of a file. Raises StudyError for an unreadable file or an unknown suffix."""
    path = Path(path)
    reader = READERS.get((Path(path.stem) if path.suffix == ".gz" else path).suffix.lower())
    if reader is None or (path.suffix == ".gz" and reader is not _jsonl):
        raise StudyError(f"{path}: unknown format; expected {', '.join(READERS)}, or .jsonl.gz")
    try:
        for row in reader(path, study):
            yield row._replace(file=str(path))
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); give files that judges returned") from error


def _jsonl(path: Path, study: Study) -> Iterator[ReturnedRow]:
    for where, row, problem in read_rows(path):
        yield ReturnedRow(where, problem or response_of(row), row)


def _database(path: Path, study: Study) -> Iterator[ReturnedRow]:
    damaged: list[str] = []
    for response in read_database(path, study, damaged):
        where = f"{path}: judge {response.judge}, task {response.task}"
        yield ReturnedRow(where, response, asdict(response), signed_in=True)
    for where in damaged:
        yield ReturnedRow(f"{path}: {where}", "damaged", {"row": where})


def _offline(path: Path, study: Study) -> Iterator[ReturnedRow]:
    try:
        content = json.loads(bytes_of(path).decode("utf-8-sig"))
    except (ValueError, RecursionError):
        yield ReturnedRow(f"{path}:1", "not JSON", {})
        return
    if not isinstance(content, dict) or not isinstance(content.get("judgments"), list) or "booklet" not in content:
        yield ReturnedRow(f"{path}:1", "not the file of an offline page", {})
        return
    for number, row in enumerate(content["judgments"], 1):
        where = f"{path}: judgment {number}"
        if not isinstance(row, dict):
            yield ReturnedRow(where, "not a JSON object", {})
            continue
        whole = {**row, "study": content.get("study"), "judge": content.get("judge"), "origin": "offline"}
        task = study.by_id.get(str(row.get("task")))
        strange = task is not None and task.booklet != content["booklet"]
        yield ReturnedRow(where, "of another booklet than its file" if strange else response_of(whole), whole)


def _csv(path: Path, study: Study) -> Iterator[ReturnedRow]:
    try:
        text = bytes_of(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        yield ReturnedRow(f"{path}:1", "not UTF-8: save it as 'CSV UTF-8'", {})
        return
    csv.field_size_limit(max(FIELD_LIMIT, csv.field_size_limit()))  # process-wide; only ever raised
    delimiter = delimiter_of(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = [name.strip() for name in next(rows, [])]
    except csv.Error:
        header = []
    turk = any(name.startswith("Answer.") for name in header)
    column = "Input.task" if turk else "task"
    if column not in header or len(set(header)) < len(header):
        yield ReturnedRow(f"{path}:1", f"not a CSV with one column {column}", {})
        return
    nameless: Counter[str] = Counter()
    while True:
        where = f"{path}:{rows.line_num + 1}"
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield ReturnedRow(where, f"broken CSV: {error}", {})
            continue
        row = dict(zip(header, cells, strict=False))
        if len(cells) == len(header) and any(cell.strip() for cell in cells):
            yield ReturnedRow(where, _mturk_row(row, study, nameless) if turk else _sheet_row(row, study), row)
        elif any(cell.strip() for cell in cells):
            yield ReturnedRow(where, "wrong number of CSV fields", row)


def _sheet_row(row: Mapping[str, str], study: Study) -> Response | str:
    given: dict[str, str] = {}
    for criterion in study.criteria:
        for field, part in criterion.kind.fields(criterion.id, study.most_texts).items():
            cell = row.get(field, "").strip()
            given[field] = written(part.options).get(cell.lower(), cell)
    if not any(given.values()):
        return "not filled in"
    name, task, judge = row.get("study", "").strip() or study.id, row["task"].strip(), row.get("judge", "").strip()
    return Response(name, task, judge, answers_in(given, study, task), row.get("comment", ""), origin="csv")


def _mturk_row(row: Mapping[str, str], study: Study, nameless: Counter[str]) -> Response | str:
    """One assignment. Without WorkerId, the rows of a task count as different judges."""
    task = row["Input.task"].strip()
    if row.get("AssignmentStatus", "").strip().lower() == "rejected":
        return "assignment was rejected"
    judge = row.get("WorkerId", "").strip()
    if not judge:
        nameless[task] += 1
        judge = f"anonymous-{task}-{nameless[task]}"
    try:
        given = _mturk_answers(row)
        seconds = _seconds(row.get("WorkTimeInSeconds", "").strip())
        submitted = _mturk_time(row.get("SubmitTime", "").strip())
    except ValueError as error:
        return f"{error}"
    name = row.get("Input.study", "").strip() or study.id
    return Response(
        name, task, judge, answers_in(given, study, task), given.get("comment", ""), seconds, submitted, "mturk"
    )


def _mturk_answers(row: Mapping[str, str]) -> dict[str, str]:
    """Input -> answer, from columns ``Answer.x``, from true/false in ``Answer.x.left``, or from one JSON object."""
    given: dict[str, str] = {}
    for column, cell in row.items():
        if not column.startswith("Answer."):
            continue
        name, _, value = column.removeprefix("Answer.").partition(".")
        if name == "taskAnswers" and cell.strip():
            for key, answer in _task_answers(cell).items():
                _take(given, key, answer)
        elif value and cell.strip().lower() == TRUE:
            _take(given, name, value)
        elif not value and cell.strip():
            _take(given, name, cell.strip())
    return given


def _task_answers(cell: str) -> dict[str, str]:
    try:
        content = json.loads(cell)
        fields = content[0] if isinstance(content, list) else content
        flat: dict[str, str] = {}
        for name, answer in fields.items():
            for value, chosen in answer.items() if isinstance(answer, dict) else [(str(answer), True)]:
                if chosen is True:
                    _take(flat, name, value)
        return flat
    except (ValueError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(f"Answer.taskAnswers cannot be read: {error}") from error


def _take(given: dict[str, str], name: str, answer: str) -> None:
    if given.setdefault(name, answer) != answer:
        raise ValueError(f"two answers at once: {name} is {given[name]} and {answer}")


def _seconds(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError as error:
        raise ValueError(f"WorkTimeInSeconds is not a number: {text[:40]}") from error


def _mturk_time(text: str) -> str | None:
    """``Thu Dec 05 14:23:11 PST 2019`` as an ISO time; None for an empty text."""
    if not text:
        return None
    words = text.split()
    if len(words) != 6:
        return text  # already ISO, or invalid, which `fault` reports
    zone = words.pop(4)
    if zone not in ZONES:
        raise ValueError(f"SubmitTime has an unknown time zone: {zone}")
    try:
        moment = datetime.strptime(" ".join(words), MTURK_TIME)
    except ValueError as error:
        raise ValueError(f"SubmitTime cannot be read: {text[:40]}") from error
    return moment.replace(tzinfo=timezone(timedelta(hours=ZONES[zone]))).isoformat()


READERS: dict[str, Callable[[Path, Study], Iterator[ReturnedRow]]] = {
    ".sqlite": _database,
    ".jsonl": _jsonl,
    ".json": _offline,
    ".csv": _csv,
}
