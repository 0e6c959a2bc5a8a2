"""Files that judges return -> responses, or what is wrong with a row. ``RETURNED`` names their formats.

A table has results of Mechanical Turk if columns begin with ``Answer.``, else it is a sheet that a judge filled in.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from human_eval.answers import written
from human_eval.collection.database import read_database
from human_eval.collection.responses import NAMELESS, Response, answers_in, response_of
from human_eval.study import Study, StudyError
from rlsum.files import bytes_of
from rlsum.readers import COMPRESSED, DAMAGED, READERS, CorpusError, encoding_problem, jsonl, uncompressed

TRUE = "true"
ZONES = {"PST": "-0800", "PDT": "-0700", "UTC": "+0000", "GMT": "+0000"}  # of Mechanical Turk's times
MTURK_TIME = "%a %b %d %H:%M:%S %z %Y"


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
    inner = uncompressed(path)
    returned = RETURNED.get(inner.suffix.lower())
    if returned is None or (inner != path and not returned.compressed):
        raise StudyError(f"{path}: unknown format; expected {formats()}")
    try:
        path.open("rb").close()  # a missing workbook is not a broken one
        for row in returned.read(path, study):
            yield row._replace(file=str(path))
    except DAMAGED as error:
        reason = getattr(error, "strerror", None) or error
        raise StudyError(f"{path}: cannot be read ({reason}); give files that judges returned") from error


def _jsonl(path: Path, study: Study) -> Iterator[ReturnedRow]:
    for line in jsonl(path):
        yield ReturnedRow(line.where, line.problem or response_of(_readable(line.fields)), line.fields)


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
        yield ReturnedRow(
            where, "of another booklet than its file" if strange else response_of(_readable(whole)), whole
        )


def _table(path: Path, study: Study) -> Iterator[ReturnedRow]:
    nameless: Counter[str] = Counter()
    row, first = None, ""
    try:
        for row in READERS[uncompressed(path).suffix.lower()].read(path):
            cells = {name: "" if cell is None else str(cell) for name, cell in row.fields.items()}
            turk = any(name.startswith("Answer.") for name in cells)
            column = "Input.task" if turk else "task"
            if problem := row.problem or encoding_problem("".join([*cells, *cells.values()])):
                yield ReturnedRow(row.where, problem, cells)
            elif column not in cells:
                yield ReturnedRow(f"{path}:1", f"not a table with one column {column}", {})
                return
            elif any(cell.strip() for cell in cells.values()):
                response = _mturk_row(cells, study, nameless) if turk else _sheet_row(cells, study, first)
                first = first or getattr(response, "judge", "")
                yield ReturnedRow(row.where, response, cells)
    except (CorpusError, csv.Error) as error:
        yield ReturnedRow(f"{path}:1", f"not a table: {str(error).removeprefix(f'{path}:1: ')}", {})
        return
    if row is None:
        yield ReturnedRow(f"{path}:1", "not a table with a header and rows", {})


def _sheet_row(row: Mapping[str, str], study: Study, first: str) -> Response | str:
    """One line; without a name it is that of the ``first`` judge of the sheet, who filled in only one cell."""
    answers: dict[str, str] = {}
    for criterion in study.criteria:
        for field, part in criterion.kind.fields(criterion.id, study.most_texts).items():
            cell = row.get(field, "").strip()
            answers[field] = written(part.options).get(cell.lower(), cell)
    if not any(answers.values()):
        return "not filled in"
    task = row["task"].strip()
    return Response(
        study=row.get("study", "").strip() or study.id,
        task=task,
        judge=row.get("judge", "").strip() or first,
        answers=answers_in(answers, study, task),
        comment=row.get("comment", ""),
        origin="csv",
    )


def _mturk_row(row: Mapping[str, str], study: Study, nameless: Counter[str]) -> Response | str:
    """One assignment. Without WorkerId, the rows of a task count as different judges."""
    row = {column: cell.strip() for column, cell in row.items()}
    task, judge = row["Input.task"], row.get("WorkerId", "")
    if row.get("AssignmentStatus", "").lower() == "rejected":
        return "assignment was rejected"
    if not judge:
        nameless[task] += 1
        judge = f"{NAMELESS}{task}-{nameless[task]}"
    try:
        inputs = _mturk_answers(row)
    except ValueError as error:
        return f"{error}"
    return Response(
        study=row.get("Input.study") or study.id,
        task=task,
        judge=judge,
        answers=answers_in(inputs, study, task),
        comment=inputs.get("comment", ""),
        seconds=_seconds(row.get("WorkTimeInSeconds", "")),
        submitted=_mturk_time(row.get("SubmitTime", "")),
        origin="mturk",
    )


def _mturk_answers(row: Mapping[str, str]) -> dict[str, str]:
    """Input -> answer, from columns ``Answer.x``, from true/false in ``Answer.x.left``, or from one JSON object."""
    inputs: dict[str, str] = {}
    for column, cell in row.items():
        if column.startswith("Answer.") and cell:
            for name, answer in _chosen(column.removeprefix("Answer."), cell):
                if inputs.setdefault(name, answer) != answer:
                    raise ValueError(f"two answers at once: {name} is {inputs[name]} and {answer}")
    return inputs


def _chosen(column: str, cell: str) -> list[tuple[str, str]]:
    """The inputs in a cell, each with its answer."""
    name, _, value = column.partition(".")
    if name != "taskAnswers":
        return [(name, value or cell)] if not value or cell.lower() == TRUE else []
    try:
        content = json.loads(cell)
        fields = content[0] if isinstance(content, list) else content
        return [
            (name, value)
            for name, answer in fields.items()
            for value, chosen in (answer if isinstance(answer, dict) else {str(answer): True}).items()
            if chosen is True
        ]
    except (ValueError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(f"Answer.taskAnswers cannot be read: {error}") from error


def _readable(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with times of the right types. `collect` leaves out what is no time, and the answer still counts."""
    times = {"seconds": _seconds(row.get("seconds")), "submitted": row.get("submitted") and str(row["submitted"])}
    return {**row, **times}


def _seconds(cell: Any) -> float | None:
    try:
        return None if cell in (None, "") else float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan  # no time, which `collect` counts


def _mturk_time(text: str) -> str | None:
    """``Thu Dec 05 14:23:11 PST 2019`` as an ISO time; None for an empty text."""
    words = text.split()
    if len(words) != 6 or words[4] not in ZONES:
        return text or None  # already ISO, or none, which `collect` counts
    words[4] = ZONES[words[4]]
    try:
        return datetime.strptime(" ".join(words), MTURK_TIME).isoformat()
    except ValueError:
        return text


class Returned(NamedTuple):
    """How files of a suffix are read, whose they are, and whether they may be compressed."""

    read: Callable[[Path, Study], Iterator[ReturnedRow]]
    whose: str
    compressed: bool = False


RETURNED = {
    ".sqlite": Returned(_database, "the app"),
    ".json": Returned(_offline, "offline pages"),
    ".jsonl": Returned(_jsonl, "judgments", compressed=True),
    **{
        suffix: Returned(_table, "sheets, Mechanical Turk", compressed=not known.binary)
        for suffix, known in READERS.items()
        if known.holds == "table"
    },
}


def formats() -> str:
    """The suffixes of returned files, whose they are, and which may be compressed."""
    groups = groupby(RETURNED, key=lambda suffix: RETURNED[suffix].whose)
    known = ", ".join(f"{', '.join(suffixes)} ({whose})" for whose, suffixes in groups)
    text = (suffix for suffix, returned in RETURNED.items() if returned.compressed)
    return f"{known}; {', '.join(text)} also with {', '.join(COMPRESSED)}"
