"""Judgments in the layout of others: which columns of a row, or paths into it, hold the fields of a judgment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any

from rewards.options import nearest
from rewards.references import Lists, NotText, reference_columns, references
from rlsum.errors import RecordError
from rlsum.judgments.aggregation import Rating, judged_by
from rlsum.judgments.cells import (
    at,
    has_comma,
    is_number,
    lines,
    missing,
    name_of,
    names_of,
    nothing,
    numbers,
    opened,
    unnamed,
)
from rlsum.judgments.collection import mean
from rlsum.judgments.records import FIELDS, KNOWN, Judgment, parse
from rlsum.readers import Read, Understood
from rlsum.records import reference_fields

PERSON = "judge|rater|annotator|worker|evaluator|expert|assessor|reviewer|coder"
ONE_PERSON = re.compile(rf"({PERSON})[_ .-]?(id|name)?", re.IGNORECASE)  # a column that says who judged
A_CRITERION = re.compile(r"(quality[_ .-]?)?(criterion|dimension|aspect)(s|[_ .-]?name)?", re.IGNORECASE)
AN_ID = re.compile(
    r"(?i:(.*[_ .-])?(id|index|number|no|nr)|unnamed: \d+)|.*[a-zA-Z]Id|.*[a-z]ID"
)  # whose numbers are no scores
# A column of one of several people: rater1, annotator_2_coherence, coherence.judge-b.
OF_A_PERSON = re.compile(
    rf"(?P<before>.*?)[_ .-]*(?:{PERSON})(?:[_ .-]?\d+|[_ .-][a-z])(?:[_ .-]+(?P<after>.*))?", re.IGNORECASE
)


NUMBERED = re.compile(r"(.*?[^\W\d_])[ _.-]*\d+")  # flow_1: a column that may be of one of several judges


@dataclass(frozen=True)
class JudgmentColumns:
    """Where rows hold the fields of a judgment: a column, or a dotted path into nested objects and lists.

    ``*`` stands for any characters of a name. None is the field's own name, where a row has it.

    id         without one, texts of one source (or of the same references) are of one input
    system     without one, all texts are of one system, named like the file
    candidate  a list of sentences is joined, a sentence a line
    reference  None: ``references`` or ``reference``; "": none
    scores     name -> its column, or the columns of several judges; none: all columns of numbers
    judge      who gave the scores of a row, or the members of their list; None: a column like ``WorkerId``, if any
    lists      what a list of texts in a column of references is, where its name does not say so
    criterion  what is rated, where a row is of one criterion, which then names the score
    """

    id: str | None = None
    system: str | None = None
    candidate: str | None = None
    reference: str | None = None
    source: str | None = None
    group: str | None = None
    scores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judge: str | None = None
    lists: Lists | None = None
    criterion: str | None = None

    def __bool__(self) -> bool:
        """Whether any column is named."""
        return self != JudgmentColumns()


def score_columns(written: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name -> columns from ``NAME=COLUMN,...``, or from a column whose last part is the name. Raises RecordError."""
    found: dict[str, tuple[str, ...]] = {}
    for text in written:
        name, equals, column = text.partition("=")
        if not equals:
            name, column = text.rpartition(".")[2].strip("*_ -"), text
        if not name or not column or name in found:
            raise RecordError(f"--score {text!r}: write NAME=COLUMN, with another name for each score")
        found[name] = tuple(column.split(","))
    return found


def read_rows(
    reads: Sequence[Read], name: str, columns: JudgmentColumns, further: Sequence[str] = ()
) -> tuple[list[tuple[str, Judgment]], list[str]]:
    """(place, judgment) of each row of ``name``, and notes on what was read as what.

    ``further`` columns are for rewards. Raises RecordError for a named column that no row has, and for a row's faults.
    """
    for read in reads:
        if read.problem:
            raise RecordError(f"{read.where}: {read.problem}; correct or delete this row")
    names = list(dict.fromkeys(column for read in reads for column in read.fields))
    found, given = _chosen(reads, names, name, columns, further)
    inputs: dict[Any, str] = {}
    rows = []
    for read in reads:
        row = {known: opened(read.fields[known]) for known in given if read.fields.get(known) is not None}
        row |= _texts(read, found, inputs, name) | _ratings(read, found, row)
        extra = {column: read.fields[column] for column in further if column in read.fields}
        rows.append((read.where, parse(Read(read.where, "", {**row, **extra}), further)))
    alternatives = [] if not found.reference else reference_columns(found.reference, tuple(names))
    understood = Understood(name, found.lists)
    for _, judgment in rows:
        articles = [found.source] if found.source else []
        understood.add(len(judgment.references), [found.candidate or ""], alternatives, articles)
    understood.say()
    return rows, _notes(found, given, [name for name in names if name not in alternatives], further)


def _chosen(
    reads: Sequence[Read], names: Sequence[str], name: str, columns: JudgmentColumns, further: Sequence[str]
) -> tuple[JudgmentColumns, list[str]]:
    """All columns as they are read, and the fields of records that rows have under their own names."""
    for option, path in _named(columns):
        if all(nothing(at(read.fields, path)) for read in reads):
            raise RecordError(
                f"{name}: no row has {path!r}, the column of {option}{nearest(path, names)}; "
                f"the columns are {', '.join(names)}"
            )
    values = {each.name: getattr(columns, each.name) for each in fields(columns)}
    taken = {path for _, path in _named(columns)} | {path.partition(".")[0] for _, path in _named(columns)}
    for own in ("id", "system", "candidate", "source", "group"):
        values[own] = values[own] or (own if own in names else None)
    if values["reference"] is None:
        values["reference"] = next(iter(reference_fields(dict.fromkeys(names))), None)
    if values["candidate"] is None:
        raise RecordError(
            f"{name}: no column 'candidate' among {', '.join(names) or 'no columns'}; a table, not records: name its "
            f"columns, as in `rlsum data judgments {name} --candidate COLUMN --reference COLUMN --score COLUMN "
            f"-o judged.jsonl`; or write NAME:{name} if it is public data"
        )
    free = [column for column in names if column not in (*KNOWN, *further, *taken)]
    given = [own for own in ("scores", "raw_scores", "judges") if own in names and not values["scores"]]
    people = [column for column in free if ONE_PERSON.fullmatch(column)]
    scores = values["scores"] or _numeric(
        reads, [name for name in free if name not in people and not AN_ID.fullmatch(name)]
    )
    if not scores and not given and (scores := _numeric(reads, people)):
        people = []  # `expert`: the score that an expert gave
    values["scores"] = scores
    if values["criterion"] is None:
        values["criterion"] = next((name for name in free if A_CRITERION.fullmatch(name)), None)
    if values["judge"] is None and "judges" not in names:
        values["judge"] = people[0] if len(people) == 1 else None
    return JudgmentColumns(**values), given


def _named(columns: JudgmentColumns) -> Iterator[tuple[str, str]]:
    """(option, path) of every column that is named."""
    for each in fields(columns):
        value = getattr(columns, each.name)
        if each.name == "scores":
            yield from (("--score", path) for paths in value.values() for path in paths)
        elif value and each.name != "lists":
            yield f"--{each.name}" + ("-column" if each.name in ("id", "system", "judge", "criterion") else ""), value


def _numeric(reads: Sequence[Read], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Score -> its column of numbers, or the columns of several people. Raises RecordError for a nearly numeric one."""
    scores: dict[str, tuple[str, ...]] = {}
    people: dict[str, list[str]] = {}
    for name in names:
        given = [(read.where, value) for read in reads if not missing(value := read.fields.get(name))]
        wrong = [(where, value) for where, value in given if not is_number(value)]
        if wrong and (2 * len(wrong) < len(given) or all(has_comma(value) for _, value in wrong)):
            raise RecordError(
                f"{wrong[0][0]}: {name}={str(wrong[0][1])[:40]!r} is not a number (decimals have a point), as most in "
                "this column are; correct it, leave it empty, or name the columns of scores with --score"
            )
        if not wrong and given:
            match = OF_A_PERSON.fullmatch(name)
            scores[name] = (name,)
            people.setdefault(match["before"] or match["after"] or "overall" if match else "", []).append(name)
    people.pop("", None)
    for score, columns in people.items():
        if len(columns) > 1:
            scores = {name: paths for name, paths in scores.items() if name not in columns}
            scores[f"{score} of judges" if score in scores else score] = tuple(columns)
    return scores


def _texts(read: Read, columns: JudgmentColumns, inputs: dict[Any, str], name: str) -> dict[str, Any]:
    """The texts and names of a row. ``inputs`` numbers the inputs of rows without an id."""
    row: dict[str, Any] = {"candidate": lines(at(read.fields, columns.candidate or "")), "references": []}
    if columns.reference:
        named = reference_columns(columns.reference, tuple(read.fields))
        cells = {path: at(read.fields, path) for path in named}
        try:
            row["references"] = references(cells, columns.reference, columns.lists)
        except NotText as error:
            raise RecordError(f"{read.where}: {error}") from error
    if columns.source and (source := lines(at(read.fields, columns.source))) is not None:
        row["source"] = source
    if columns.group and (group := at(read.fields, columns.group)) is not None:
        row["group"] = name_of(group)
    row["system"] = (
        name_of(at(read.fields, columns.system)) if columns.system else name.rpartition("/")[2].split(".")[0]
    )
    if columns.id:
        row["id"] = name_of(at(read.fields, columns.id))
        return row
    text = row.get("source") or tuple(row["references"])
    if not text:
        raise RecordError(f"{read.where}: no id, source or reference says which input this is; name one: --id-column")
    row["id"] = inputs.setdefault((row.get("group"), text), str(len(inputs) + 1))
    return row


def _ratings(read: Read, columns: JudgmentColumns, row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields ``scores``, ``raw_scores`` and ``judges`` of a row."""
    judge = names_of(at(read.fields, columns.judge)) if columns.judge else None
    if columns.judge and unnamed(judge):
        raise RecordError(f"{read.where}: {columns.judge!r} is empty; name the judge of every score")
    criterion = name_of(at(read.fields, columns.criterion)) if columns.criterion else ""
    if columns.criterion and not (isinstance(criterion, str) and criterion.strip()):
        raise RecordError(f"{read.where}: {columns.criterion!r} is empty; name the criterion of every row")
    ratings: dict[str, list[Rating]] = {}
    for name, paths in columns.scores.items():
        name = criterion if len(columns.scores) == 1 and criterion else f"{criterion} {name}".strip()
        value = at(read.fields, paths[0]) if len(paths) == 1 else [at(read.fields, path) for path in paths]
        label = f"{read.where}: {','.join(paths)}"
        ratings[name] = list(judged_by(numbers(value, label), judge, label))
    judges = list(dict.fromkeys(name for pairs in ratings.values() for name, _ in pairs if name is not None))
    judges = judges or ([judge] if isinstance(judge, str) else [])
    raw: dict[str, list[float | None]] = dict(row.get("raw_scores") or {})
    scores = dict(row.get("scores") or {})
    for name, pairs in ratings.items():
        values = _by_judge(pairs, judges) if judges else [value for _, value in pairs]
        scores[name] = mean(values)
        if judges or len(values) > 1:
            raw[name] = values
    found: dict[str, Any] = {"scores": scores}
    return found | ({"raw_scores": raw} if raw else {}) | ({"judges": judges} if judges else {})


def _by_judge(pairs: Iterable[Rating], judges: Sequence[str]) -> list[float | None]:
    """The rating of each judge: the mean of those of one text, such as of its sentences."""
    given: dict[str, list[float | None]] = {judge: [] for judge in judges}
    for judge, value in pairs:
        given[judge or ""].append(value)
    return [mean(values) for values in given.values()]


def _numbered(scores: Iterable[str]) -> list[str]:
    """A note on scores whose names differ in a number alone, which may be of one judge each."""
    stems: dict[str, list[str]] = {}
    for name in scores:
        if match := NUMBERED.fullmatch(name):
            stems.setdefault(match[1], []).append(name)
    return [
        f"{', '.join(names)} are scores of their own; if each is of one judge: --score {stem}={','.join(names)}"
        for stem, names in stems.items()
        if len(names) > 1
    ]


def _notes(columns: JudgmentColumns, given: Sequence[str], names: Sequence[str], further: Sequence[str]) -> list[str]:
    """What was read as what, and what was not read."""
    read = [each.name for each in fields(columns) if each.name not in ("scores", "judge", "lists", "criterion")]
    places = {own: getattr(columns, own) for own in read}
    told = [own if path == own else f"{own} {path}" for own, path in places.items() if path]
    scores = [name if paths == (name,) else f"{name} {' '.join(paths)}" for name, paths in columns.scores.items()]
    told += [f"scores {', '.join([*given, *scores])}"] if given or scores else ["no scores (name them with --score)"]
    told += [f"{own} {path}" for own in ("criterion", "judge") if (path := getattr(columns, own))]
    notes = [f"columns read: {'; '.join(told)}"]
    if columns.id is None:
        notes.append("no id: texts with the same source or references are of one input")
    if columns.system is None:
        notes.append("no system: all texts are of one")
    notes += _numbered(columns.scores)
    used = {path for _, written in _named(columns) for path in (written, written.partition(".")[0])}
    unread = [
        name
        for name in names
        if name not in (*used, *given, *further, *FIELDS, "reference", "undefined")
        and not any(fnmatchcase(name, path) for path in used)
    ]
    return [*notes, f"columns not read: {', '.join(unread)}"] if unread else notes
