"""Returned rows -> responses that count, and every other row with the reason for its rejection."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from human_eval.collection.responses import Response, fault, with_time
from human_eval.collection.returns import ReturnedRow
from human_eval.formatting import counted
from human_eval.study import Study, StudyError
from rlsum.files import write_atomically

FILES = ("offline", "csv")  # origins in which judges write their own names
TWO_NAMES, NOT_HANDED_OUT = "a booklet under two names", "a booklet that nobody was given"
NOT_IN_APP = "said to be from the app, whose database has no such answer"
NAMED = 3  # names of a booklet in a reason, at most
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159"  # letters that show nothing
SELECTORS = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")  # of variants of a character
CYRILLIC = "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455"
GREEK = "\u03b1\u03bf\u03c1\u03bd\u03b9\u03ba"
LOOKALIKES = str.maketrans(CYRILLIC + GREEK, "abekmhopctyxijs" + "aopvik")


@dataclass(frozen=True)
class RejectedRow:
    """A row that does not count. ``reason``: a few words, then possibly a colon and details."""

    where: str
    reason: str
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class Collected:
    """``responses`` in the order of the study, one for a judge and task; ``rejects`` in the order of reading.

    ``untimed``: responses whose time is impossible and is left out.
    """

    responses: tuple[Response, ...]
    rejects: tuple[RejectedRow, ...]
    untimed: int = 0


class _Row(NamedTuple):
    number: int
    where: str
    response: Response
    raw: Mapping[str, Any]
    file: str
    signed_in: bool


def collect(
    study: Study,
    returned: Iterable[ReturnedRow],
    handed_out: Collection[int] | None = None,
    whose: Mapping[int, str] | None = None,
    in_app: Collection[tuple[str, str]] | None = None,
) -> Collected:
    """Divide returned rows into responses and rejects. Raises StudyError for names that look alike, or a
    name in ``whose`` under which the booklet did not come back.

    What a judge answered in the app counts before what a file says under the judge's name. Otherwise, if a judge
    answered a task twice, the later response counts: the later ``submitted``, or the one read later where a time is
    missing. If a judge saw the same two summaries in two booklets, the earlier response counts, since the judges of an
    item must differ. A spreadsheet is one booklet: several booklets of one judge in it do not count. A booklet is for
    one judge: if it came back in files under several names, none of them counts, in whatever order they are read, but
    the one that ``whose`` has for it (booklet, 0.. -> name). Nor do files of booklets that are not among ``handed_out``
    (0..); if that is not known (None), of those that another judge has in the app. A row that says that it comes from
    the app, and is not among the judges and tasks ``in_app``, does not count, unless these are unknown (None): it was
    forged, or its judge has withdrawn.
    """
    rejects: dict[int, RejectedRow] = {}
    rows: list[_Row] = []
    untimed = 0
    for number, (where, response, raw, file, signed_in) in enumerate(returned):
        if not isinstance(response, str) and (timed := with_time(response)) != response:
            response, untimed = timed, untimed + 1
        problem = response if isinstance(response, str) else fault(response, study)
        if not isinstance(response, str) and not problem and response.origin == "app" and not signed_in:
            known = in_app is None or (response.judge.strip(), response.task) in in_app
            problem = "" if known else NOT_IN_APP
        if isinstance(response, str) or problem:
            rejects[number] = RejectedRow(where, problem, raw)
        else:
            rows.append(_Row(number, where, replace(response, judge=response.judge.strip()), raw, file, signed_in))
    _check_names(rows)
    rows = _one_judge_a_booklet(_one_booklet_a_sheet(rows, study, rejects), study, handed_out, whose or {}, rejects)
    kept = _once_a_pair(_once_a_task(rows, rejects), study, rejects)
    order = {task.id: (task.booklet, task.position) for task in study.tasks}
    responses = sorted((row.response for row in kept), key=lambda response: (order[response.task], response.judge))
    return Collected(tuple(responses), tuple(rejects[number] for number in sorted(rejects)), untimed)


def write_rejects(path: Path, rejects: Sequence[RejectedRow]) -> None:
    """Write one JSON object a rejected row: its location, the reason and the content."""
    write_atomically(path, "".join(json.dumps(asdict(reject)) + "\n" for reject in rejects).encode())


def suspicions(path: Path) -> list[str]:
    """Why the analysis should name rejected rows of a file that `write_rejects` wrote; none if there is no file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    counts = Counter(row["reason"] for row in rows)
    return [
        f"not counted: {reason} ({counted(n, 'judgment')})"
        for reason, n in counts.items()
        if reason.startswith((TWO_NAMES, NOT_HANDED_OUT, NOT_IN_APP))
    ]


def reasons(rejects: Sequence[RejectedRow]) -> list[tuple[str, int, str]]:
    """Kind of reason, count and location of the first row; the most frequent kind first."""
    kinds = [reject.reason.split(":")[0] for reject in rejects]
    return [(kind, count, rejects[kinds.index(kind)].where) for kind, count in Counter(kinds).most_common()]


def _check_names(rows: Sequence[_Row]) -> None:
    """Raise StudyError for two names that one person may have written."""
    seen: dict[str, _Row] = {}
    for row in rows:
        name = row.response.judge
        normal = SELECTORS.sub("", unicodedata.normalize("NFKC", name))
        shown = "".join(letter for letter in normal if letter.isspace() or _is_visible(letter))
        first = seen.setdefault(" ".join(shown.casefold().translate(LOOKALIKES).split()), row)
        if first.response.judge != name:
            raise StudyError(
                f"{row.where}: judge {name!a} is {first.response.judge!a} in {first.where}; write one name in both "
                "files if it is one judge, else two names that differ not only in case, spaces, invisible letters or "
                "letters that look alike"
            )


def _is_visible(letter: str) -> bool:
    return unicodedata.category(letter)[0] != "C" and letter not in FILLERS


def _one_judge_a_booklet(
    rows: Sequence[_Row],
    study: Study,
    handed_out: Collection[int] | None,
    whose: Mapping[int, str],
    rejects: dict[int, RejectedRow],
) -> list[_Row]:
    """Without files of a booklet that came back under several names, or that nobody was given."""
    in_files, in_app = defaultdict[int, set[str]](set), defaultdict[int, set[str]](set)
    booklets = [study.by_id[row.response.task].booklet for row in rows]
    for row, booklet in zip(rows, booklets, strict=True):
        if row.response.origin in FILES:
            in_files[booklet].add(row.response.judge)
        elif row.response.origin == "app":
            in_app[booklet].add(row.response.judge)
    for booklet, name in whose.items():
        if name not in in_files[booklet]:
            names = ", ".join(sorted(in_files[booklet])) or "no name"
            raise StudyError(
                f"--whose {booklet + 1}={name}: that booklet came back under {names}; give a name of these"
            )
    names_of = {booklet: _listed(names) for booklet, names in in_files.items()}
    kept = []
    for row, booklet in zip(rows, booklets, strict=True):
        judge, reason, returned = row.response.judge, "", f"booklet {booklet + 1}"
        if row.response.origin in FILES:
            lent = in_app[booklet] if handed_out is None else set()
            if whose.get(booklet, judge) != judge:
                reason = f"{TWO_NAMES}: {judge!r} returned {returned}, which is that of {whose[booklet]!r} (--whose)"
            elif booklet not in whose and len(in_files[booklet]) > 1:
                ask = f"say whose it is with `collect --whose {booklet + 1}=NAME`"
                reason = f"{TWO_NAMES}: {returned} came back under {names_of[booklet]}; {ask}"
            elif lent and judge not in lent:
                reason = f"{TWO_NAMES}: {judge!r} returned {returned}, which {min(lent)!r} has in the app"
            elif handed_out is not None and booklet not in handed_out:
                reason = f"{NOT_HANDED_OUT}: {judge!r} returned {returned}, which was not exported from this folder"
        if reason:
            rejects[row.number] = RejectedRow(row.where, reason, row.raw)
        else:
            kept.append(row)
    return kept


def _listed(names: Collection[str]) -> str:
    """The first names; every row that does not count tells them, so there must not be thousands."""
    first = [repr(name) for name in sorted(names)[:NAMED]]
    return " and ".join([*first, f"{len(names) - NAMED} others"] if len(names) > NAMED else first)


def _one_booklet_a_sheet(rows: Sequence[_Row], study: Study, rejects: dict[int, RejectedRow]) -> list[_Row]:
    booklets: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        if row.response.origin == "csv":
            booklets.setdefault((row.file, row.response.judge), set()).add(study.by_id[row.response.task].booklet)
    kept = []
    for row in rows:
        if len(booklets.get((row.file, row.response.judge), ())) > 1 and row.response.origin == "csv":
            rejects[row.number] = RejectedRow(row.where, "several booklets of one judge in a spreadsheet", row.raw)
        else:
            kept.append(row)
    return kept


def _once_a_task(rows: Sequence[_Row], rejects: dict[int, RejectedRow]) -> list[_Row]:
    kept: dict[tuple[str, str], _Row] = {}
    for row in rows:
        key = (row.response.judge, row.response.task)
        earlier = kept.setdefault(key, row)
        if earlier is row:
            continue
        if row.signed_in != earlier.signed_in:
            old, new = (earlier, row) if row.signed_in else (row, earlier)
        else:
            old, new = (row, earlier) if _before(row, earlier) else (earlier, row)
        kept[key] = new
        timed = row.response.submitted is not None and earlier.response.submitted is not None
        later = "answered again later" if timed else "answered again in a file that was read later"
        reason = "answered in the app" if new.signed_in > old.signed_in else later
        reason = "the same answers again" if old.response.answers == new.response.answers else reason
        rejects[old.number] = RejectedRow(old.where, f"{reason}: {new.where} counts", old.raw)
    return sorted(kept.values(), key=lambda row: row.number)


def _once_a_pair(rows: Sequence[_Row], study: Study, rejects: dict[int, RejectedRow]) -> list[_Row]:
    groups: dict[tuple[str, str, frozenset[str]], list[_Row]] = {}
    for row in rows:
        task = study.by_id[row.response.task]
        groups.setdefault((row.response.judge, task.item, frozenset(task.texts)), []).append(row)
    kept = []
    for group in groups.values():
        first = group[0]
        for row in group[1:]:
            if row.signed_in > first.signed_in or (row.signed_in == first.signed_in and _before(row, first)):
                first = row
        booklet = study.by_id[first.response.task].booklet
        for row in group:
            task = study.by_id[row.response.task]
            if len(set(task.texts)) == 1 or task.booklet == booklet:  # a check; so is a repeat within a booklet
                kept.append(row)
            else:
                reason = f"same judge, same summaries in another booklet: {first.where} counts"
                rejects[row.number] = RejectedRow(row.where, reason, row.raw)
    return kept


def _before(row: _Row, other: _Row) -> bool:
    """Whether ``row`` was submitted before ``other``, or was read before it if a time is missing."""
    if row.response.submitted is None or other.response.submitted is None:
        return row.number < other.number
    time, other_time = (datetime.fromisoformat(moment) for moment in (row.response.submitted, other.response.submitted))
    return (time, row.number) < (other_time, other.number)
