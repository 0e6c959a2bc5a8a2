"""From the ratings of single judges to one judgment a text: a list within a row, or one row a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from unicodedata import normalize

from rlsum.errors import RecordError, option
from rlsum.judgments.collection import mean
from rlsum.judgments.records import Judgment

Rating = tuple[str | None, str, float | None]  # who (None: unnamed), of which score, and what; None: no rating
Located = tuple[str, Judgment]  # file and line, and what is there
SAME = ("candidate", "references", "source", "columns", "marks")  # of one text, whoever judges it


def ratings(score: str, value: Any, judge: Any, label: str) -> Iterator[Rating]:
    """Those in a number or in nested lists, with those who gave them; ``judge``: a name, lists of names, or None.

    Raises RecordError where the lists do not fit one another, or two lists are within one another without names.
    """
    deep = isinstance(value, list) and any(isinstance(member, list) for member in value)
    if deep and judge is None:
        raise RecordError(
            f"{label}: lists within lists; name who gave the scores with {option('judge', typed='--judge-column')}"
        )
    if isinstance(judge, list) and (not deep or any(isinstance(name, list) for name in judge)):
        members = value if isinstance(value, list) else [value]
        if len(judge) != len(members):
            raise RecordError(
                f"{label}: {len(members)} scores of {len(judge)} judges; give one of each, null if missing"
            )
        if not deep and len(set(judge)) < len(judge):
            raise RecordError(f"{label}: two scores of one judge among {', '.join(judge)}; delete one")
        for name, member in zip(judge, members, strict=True):
            yield from ratings(score, member, name, label)
    elif isinstance(value, list):
        for member in value:
            yield from ratings(score, member, judge, label)
    else:
        yield judge, score, value


def split_by_judge(value: Any, judge: Any, together: bool, label: str) -> list[tuple[Any, Any]]:
    """Ratings and their judge: lists within a list, and the names of those who gave them, which stand beside it.

    ``together``: a list within is of a judge. Else the numbers of both tell whether it is, or has a rating of each.
    Raises RecordError where they do not.
    """
    deep = isinstance(value, list) and any(isinstance(member, list) for member in value)
    if not deep or not isinstance(judge, list) or any(isinstance(name, list) for name in judge):
        return [(value, judge)]
    each = all(isinstance(member, list) and len(member) == len(judge) for member in value)
    if not together and each and len(value) == len(judge) > 1:
        count = f"{len(judge)} lists of {len(judge)} scores"
        raise RecordError(f"{label}: {count}: a list may be of a judge or of a sentence; give each judge a row")
    if not together and len(value) != len(judge):
        return [(value, judge)]
    if len(value) != len(judge):
        raise RecordError(f"{label}: {len(value)} lists of scores of {len(judge)} judges; give one of each")
    return list(zip(value, judge, strict=True))


def judged(rated: Iterable[Rating]) -> dict[str, Any]:
    """The fields ``scores``, ``raw_scores`` and ``judges`` of one text.

    Several ratings of a judge, such as of sentences, are one: their mean. A score is the mean over judges.
    """
    rated = list(rated)
    judges = tuple(dict.fromkeys(who for who, _, _ in rated if who is not None))
    by_score: dict[str, dict[Any, list[float | None]]] = {}
    for number, (who, score, value) in enumerate(rated):
        by_judge = by_score.setdefault(score, {judge: [] for judge in judges})
        by_judge.setdefault(number if who is None else who, []).append(value)
    raw = {score: tuple(mean(values) for values in by_judge.values()) for score, by_judge in by_score.items()}
    scores = {score: mean(values) for score, values in raw.items()}
    return {
        "scores": scores,
        "raw_scores": {score: values for score, values in raw.items() if judges or len(values) > 1},
        "judges": judges,
    }


def aggregated(located: Iterable[Located]) -> tuple[list[Judgment], list[str]]:
    """One judgment a text, in the order of the first rows, and a note where texts have several rows, one a judge.

    Rows of one judge may have different scores, as where a row is of one criterion. Raises RecordError, with both
    places, for rows of one id and system that are no further judge of the same text: another text, a judge who gave
    that score before, several judges in one row, or copies of rows without names; and for an id of several sources.
    """
    texts: dict[tuple[str, str, str], list[Located]] = {}
    sources: dict[tuple[str, str], Located] = {}
    for where, judgment in located:
        texts.setdefault(judgment.key, []).append((where, judgment))
        first = sources.setdefault(judgment.key[:2], texts[judgment.key][-1]) if judgment.source.strip() else None
        if first and apart(first[1], judgment):
            fix = f"if it is one text, else give each an id of its own, or each corpus a group ({option('group')})"
            raise RecordError(f"{where}: id {judgment.id!r} has another source at {first[0]}; write it alike {fix}")
    repeated = [rows for rows in texts.values() if len(rows) > 1]
    if not repeated:
        return [rows[0][1] for rows in texts.values()], []
    for rows in repeated:
        _check(rows)
    first, second, *_ = repeated[0]
    if not first[1].judges and all(row == rows[0][1] for rows in repeated for _, row in rows):
        fix = "delete the copies, or name the judges of the rows in a column `judge`"
        raise RecordError(f"{_where(first, second)}, with the same scores; {fix}")
    joined = [[judgment for _, judgment in rows] for rows in texts.values()]
    judgments = [
        rows[0]
        if _by_several(rows[0])
        else replace(rows[0], **judged(rating for row in rows for rating in _of_row(row)))
        for rows in joined
    ]
    return judgments, [_note(sum(map(len, texts.values())), judgments)]


def apart(first: Judgment, second: Judgment) -> bool:
    """Whether two texts of one id are of different inputs: of other sources, or without sources of other references.

    Letters and digits count, in any case; one source may be a part of the other.
    """
    if not (first.source.strip() and second.source.strip()):
        texts, others = ({_letters(text) for text in row.references} for row in (first, second))
        return bool(texts and others) and texts.isdisjoint(others)
    if first.source == second.source:
        return False
    source, other = _letters(first.source), _letters(second.source)
    return source not in other and other not in source


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _check(rows: Sequence[Located]) -> None:
    """Raise RecordError for rows with one key that are not one text judged by different people."""
    first, earliest = rows[0], dict[tuple[str | None, str], Located]()
    for row in rows[1:]:
        where = _where(first, row)
        if differing := [name for name in SAME if getattr(row[1], name) != getattr(first[1], name)]:
            fix = "write it alike if it is one text, else give each text an id or a system of its own"
            raise RecordError(f"{where}, with another {differing[0]}; {fix}")
        if _by_several(first[1]) or _by_several(row[1]):
            raise RecordError(f"{where}, with several judges in a row; join these rows, or delete one")
        if bool(row[1].judges) != bool(first[1].judges):
            raise RecordError(f"{where}; only one of them names its judge: name all, or none")
    for row in rows if first[1].judges else ():
        for judge, score, value in _of_row(row[1]):
            if value is not None and (earlier := earliest.setdefault((judge, score), row)) is not row:
                raise RecordError(f"{_where(earlier, row)}, by the same judge {judge!r}; delete one")


def _where(earlier: Located, later: Located) -> str:
    judgment = earlier[1]
    group = f" in group {judgment.group!r}" if judgment.group else ""
    return f"{later[0]}: id {judgment.id!r} of system {judgment.system!r}{group} is also at {earlier[0]}"


def _by_several(row: Judgment) -> bool:
    """Whether a row has the scores of several judges, already as they become one."""
    return any(len(values) > 1 for values in (row.judges, *row.raw_scores.values()))


def _of_row(row: Judgment) -> Iterator[Rating]:
    """The ratings of a row of one judge."""
    for score in dict.fromkeys((*row.scores, *row.raw_scores)):
        yield next(iter(row.judges), None), score, next(iter(row.raw_scores.get(score, ())), row.scores.get(score))


def _note(rows: int, judgments: Sequence[Judgment]) -> str:
    counts = sorted(max(map(len, row.raw_scores.values()), default=1) for row in judgments)
    spread = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    people = {judge for row in judgments for judge in row.judges}
    judges = f"{len(people):,} judges" if people else "judges without names"
    return (
        f"one row a judge: {rows:,} rows by {judges}, {len(judgments):,} texts with {spread} each; the score of a text "
        "is the mean over its judges, and a text counts once, whatever their number"
    )


def doubts(judgments: Sequence[Judgment]) -> list[str]:
    """Notes, as far as it shows, on inputs of several ids, ids of several, names that are written in several ways."""
    ids: dict[Any, set[str]] = {}
    firsts: dict[tuple[str, str], Judgment] = {}
    for row in judgments:
        if text := row.source or row.references:
            ids.setdefault((row.group, text), set()).add(row.id)
    shared = [row.id for row in judgments if apart(firsts.setdefault(row.key[:2], row), row)]
    notes = []
    if shared:
        notes.append(
            f"{len({*shared}):,} ids, such as {shared[0]!r}, have texts that share no reference, and are one input: "
            f"if these are several, name the column of the input with {option('id', typed='--id-column')}"
        )
    if several := [sorted(names) for names in ids.values() if len(names) > 1]:
        notes.append(
            f"{len(several):,} sources (or references) have several ids, such as {several[0][0]!r} and "
            f"{several[0][1]!r}, and count as different inputs: intervals are too narrow where an id is that of a text "
            f"or a row; name the column of the input with {option('id', typed='--id-column')}"
        )
    written: dict[tuple[int, str], dict[str, None]] = {}
    for row in judgments:
        for kind, names in enumerate((row.judges, [row.system], row.scores)):
            for name in names:
                seen = (sign for sign in name if sign.isprintable() and not sign.isspace())  # no zero-width mark
                alike = normalize("NFKC", "".join(seen)).casefold()
                written.setdefault((kind, alike), {})[name] = None
    ways = [", ".join(map(repr, names)) for names in written.values() if len(names) > 1]
    return [*notes, *(f"{names} count as different; write them alike if they are one" for names in ways)]
