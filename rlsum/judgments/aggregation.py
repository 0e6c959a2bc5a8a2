"""From the ratings of single judges to one judgment a text: a list within a row, or one row a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from rlsum.errors import RecordError
from rlsum.judgments.collection import mean
from rlsum.judgments.records import Judgment

Rating = tuple[str | None, float | None]  # who (None: unnamed), and what; None: no rating
Located = tuple[str, Judgment]  # file and line, and what is there
SAME = ("candidate", "references", "source", "columns")  # of one text, whoever judges it


def judged_by(value: Any, judge: Any, label: str) -> Iterator[Rating]:
    """The ratings in a number or in nested lists, with those who gave them; ``judge``: a name, lists of names, or None.

    Raises RecordError where the lists do not fit one another, or two lists are within one another without names.
    """
    if not isinstance(value, list):
        if isinstance(judge, list):
            if len(judge) != 1:
                raise RecordError(f"{label}: one score, but {len(judge)} judges; give a score for each")
            judge = judge[0]
        yield judge, value
        return
    deep = any(isinstance(member, list) for member in value)
    if judge is None and deep:
        raise RecordError(f"{label}: lists within lists; name who gave the scores with --judge-column")
    if not isinstance(judge, list) or (deep and not any(isinstance(name, list) for name in judge)):
        for member in value:
            yield from judged_by(member, judge, label)
        return
    if len(judge) != len(value):
        raise RecordError(f"{label}: {len(value)} scores of {len(judge)} judges; give one of each, null if missing")
    if len(set(map(str, judge))) < len(judge) and not deep:
        raise RecordError(f"{label}: two scores of one judge among {', '.join(map(str, judge))}; delete one")
    for name, member in zip(judge, value, strict=True):
        yield from judged_by(member, name, label)


def aggregated(located: Iterable[Located]) -> tuple[list[Judgment], list[str]]:
    """One judgment a text, in the order of the first rows, and a note where texts have several rows, one a judge.

    A score is the mean over a text's judges. Rows of one judge may have different scores, as where a row is of one
    criterion. Raises RecordError, with both places, for rows of one id and system that are no further judge of the same
    text: another text, a judge who gave that score before, several judges in one row, or copies of rows without names.
    """
    texts: dict[tuple[str, str, str], list[Located]] = {}
    for where, judgment in located:
        texts.setdefault(judgment.key, []).append((where, judgment))
    repeated = [rows for rows in texts.values() if len(rows) > 1]
    if not repeated:
        return [rows[0][1] for rows in texts.values()], []
    for rows in repeated:
        _check(rows)
    named = bool(repeated[0][0][1].judges)
    if not named and all(row == rows[0][1] for rows in repeated for _, row in rows):
        raise RecordError(
            f"{_where(repeated[0][:2])}, with the same scores; delete the copies, or name the judges of the rows in a "
            "column `judge`"
        )
    judgments = [_merged([row for _, row in rows]) for rows in texts.values()]
    return judgments, [_note(sum(map(len, texts.values())), judgments)]


def _check(rows: Sequence[Located]) -> None:
    """Raise RecordError for rows with one key that are not one text judged by different people."""
    first = rows[0]
    seen = {(judge, name): first for judge in first[1].judges for name in first[1].scores}
    for row in rows[1:]:
        both = (first, row)
        if others := [name for name in SAME if getattr(row[1], name) != getattr(first[1], name)]:
            raise RecordError(f"{_where(both)}, with another {others[0]}; give each judged text a unique id or system")
        if any(len(values) > 1 for _, judgment in both for values in (judgment.judges, *judgment.raw_scores.values())):
            raise RecordError(f"{_where(both)}, with several judges in a row; join these rows, or delete one")
        if bool(row[1].judges) != bool(first[1].judges):
            raise RecordError(f"{_where(both)}; only one of them names its judge: name all, or none")
        for judge, name in product(row[1].judges, row[1].scores):
            if (judge, name) in seen:
                raise RecordError(f"{_where((seen[judge, name], row))}, by the same judge {judge!r}; delete one")
            seen[judge, name] = row


def _where(both: Sequence[Located]) -> str:
    (earlier, judgment), (later, _) = both
    group = f" in group {judgment.group!r}" if judgment.group else ""
    return f"{later}: id {judgment.id!r} of system {judgment.system!r}{group} is also at {earlier}"


def _merged(rows: Sequence[Judgment]) -> Judgment:
    """One text with the scores of all its judges."""
    judges = tuple(dict.fromkeys(judge for row in rows for judge in row.judges))
    raw: dict[str, list[float | None]] = {}
    for row in rows:
        for name in dict.fromkeys((*row.scores, *row.raw_scores)):
            value = next(iter(row.raw_scores.get(name, ())), row.scores.get(name))  # of its only judge
            if judges:
                raw.setdefault(name, [None] * len(judges))[judges.index(row.judges[0])] = value
            else:
                raw.setdefault(name, []).append(value)
    scores = {name: mean(values) for name, values in raw.items()}
    return replace(rows[0], scores=scores, raw_scores={name: tuple(raw[name]) for name in raw}, judges=judges)


def split_inputs(judgments: Iterable[Judgment]) -> list[str]:
    """A note where texts of one source, or of the same references, have several ids, as if of several inputs."""
    ids: dict[tuple[str, str | tuple[str, ...]], set[str]] = {}
    for row in judgments:
        if text := row.source or row.references:
            ids.setdefault((row.group, text), set()).add(row.id)
    several = [names for names in ids.values() if len(names) > 1]
    if not several:
        return []
    first, second, *_ = sorted(several[0])
    return [
        f"{len(several):,} sources (or references) are there under several ids, such as {first!r} and {second!r}, and "
        "count as different inputs: intervals are too narrow where an id is that of a text or a row; name the column "
        "of the input with --id-column"
    ]


def _note(rows: int, judgments: Sequence[Judgment]) -> str:
    counts = sorted(max(map(len, row.raw_scores.values()), default=len(row.judges)) for row in judgments)
    spread = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    people = {judge for row in judgments for judge in row.judges}
    judges = f"{len(people):,} judges" if people else "judges without names"
    return (
        f"one row a judge: {rows:,} rows by {judges}, {len(judgments):,} texts with {spread} each; the score of a text "
        "is the mean over its judges, and a text counts once, however many they are"
    )
