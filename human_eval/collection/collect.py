"""Returned rows -> judgments that can count, and every other row with the reason why it cannot."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from human_eval.collection.judgments import Judgment, fault
from human_eval.collection.returns import Returned
from human_eval.study import Study, Task


@dataclass(frozen=True)
class Reject:
    """A row that does not count. ``reason``: what is wrong, in few words; a colon and details may follow."""

    where: str
    reason: str
    raw: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The reason without its details."""
        return self.reason.split(":")[0]


@dataclass(frozen=True)
class Collected:
    """``judgments`` in the order of the study, one for a judge and task; ``rejects`` in the order of reading."""

    judgments: tuple[Judgment, ...]
    rejects: tuple[Reject, ...]


@dataclass(frozen=True)
class _Row:
    number: int
    where: str
    judgment: Judgment
    raw: Mapping[str, Any]


def collect(study: Study, returned: Iterable[Returned]) -> Collected:
    """Sort what came back: every row is a judgment or a reject.

    A judge who answered a task twice means the later answers: the later ``submitted``, or what was read later where a
    time is missing. A judge who was shown the same two summaries in two booklets counts once, with the earlier answers:
    an item's judges are different people.
    """
    rejects: dict[int, Reject] = {}
    rows: list[_Row] = []
    for number, row in enumerate(returned):
        told = row.judgment if isinstance(row.judgment, str) else fault(row.judgment, study)
        if isinstance(row.judgment, str) or told:
            rejects[number] = Reject(row.where, told, row.raw)
        else:
            rows.append(_Row(number, row.where, replace(row.judgment, judge=row.judgment.judge.strip()), row.raw))
    kept = _once_a_task(rows, rejects)
    kept = _once_a_pair(kept, study, rejects)
    place = {task.id: (task.booklet, task.position) for task in study.tasks}
    judgments = sorted((row.judgment for row in kept), key=lambda found: (place[found.task], found.judge))
    return Collected(tuple(judgments), tuple(rejects[number] for number in sorted(rejects)))


def write_rejects(path: str | Path, rejects: Sequence[Reject]) -> None:
    """Write one JSON object a reject: where it stands, why it does not count, what it says."""
    lines = (json.dumps(asdict(reject)) + "\n" for reject in rejects)
    Path(path).write_text("".join(lines), encoding="utf-8")


def reasons(rejects: Sequence[Reject]) -> list[tuple[str, int, str]]:
    """Of each kind of reason: the kind, how often, and where first; the most frequent first."""
    first: dict[str, str] = {}
    for reject in rejects:
        first.setdefault(reject.kind, reject.where)
    return [(kind, count, first[kind]) for kind, count in Counter(reject.kind for reject in rejects).most_common()]


def _once_a_task(rows: Sequence[_Row], rejects: dict[int, Reject]) -> list[_Row]:
    kept: dict[tuple[str, str], _Row] = {}
    for row in rows:
        key = (row.judgment.judge, row.judgment.task)
        earlier = kept.get(key)
        if earlier is None:
            kept[key] = row
            continue
        old, new = (row, earlier) if _before(row, earlier) else (earlier, row)
        kept[key] = new
        same = "the same answers again" if old.judgment.answers == new.judgment.answers else "answered again later"
        rejects[old.number] = Reject(old.where, f"{same}: {new.where} counts", old.raw)
    return sorted(kept.values(), key=lambda row: row.number)


def _once_a_pair(rows: Sequence[_Row], study: Study, rejects: dict[int, Reject]) -> list[_Row]:
    kept: dict[tuple[str, str, frozenset[str]], list[_Row]] = {}
    for row in rows:
        task = study.by_id[row.judgment.task]
        kept.setdefault((row.judgment.judge, task.item, frozenset((task.left, task.right))), []).append(row)
    result = []
    for same in kept.values():
        first = same[0]
        for row in same[1:]:
            if _before(row, first):
                first = row
        booklet = study.by_id[first.judgment.task].booklet
        for row in same:
            task = study.by_id[row.judgment.task]
            if _is_identical(task) or task.booklet == booklet:  # within a booklet a repeat is a check
                result.append(row)
            else:
                told = f"same judge, same summaries in another booklet: {first.where} counts"
                rejects[row.number] = Reject(row.where, told, row.raw)
    return result


def _is_identical(task: Task) -> bool:
    return task.left == task.right


def _before(row: _Row, other: _Row) -> bool:
    """Whether ``row`` was submitted before ``other``; where a time is missing, what was read earlier is earlier."""
    if row.judgment.submitted is None or other.judgment.submitted is None:
        return row.number < other.number
    times = (datetime.fromisoformat(found.judgment.submitted or "") for found in (row, other))
    first, second = times
    return (first, row.number) < (second, other.number)
