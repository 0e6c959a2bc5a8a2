"""Judgments in the layout of others: rows and their columns, or paths into them, to judgments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from rewards.options import nearest
from rewards.references import NotText, references
from rlsum.errors import RecordError, option
from rlsum.judgments import cells
from rlsum.judgments.aggregation import Rating, judged, ratings, split_by_judge
from rlsum.judgments.layout import JudgmentColumns
from rlsum.judgments.records import FIELDS, KNOWN, Judgment, parse
from rlsum.readers import Read, Understood
from rlsum.records import reference_fields

PERSON = "judge|rater|annotator|worker|turker|evaluator|expert|assessor|reviewer|coder|grader|labell?er|participant"
ONE_PERSON = re.compile(rf"({PERSON})[_ .-]?(id|name)?", re.IGNORECASE)  # a column that says who judged
A_CRITERION = re.compile(r"(quality[_ .-]?)?(criterion|dimension|aspect)(s|[_ .-]?name)?", re.IGNORECASE)
# A column whose numbers are no scores.
AN_ID = re.compile(r"(?i:(.*[_ .-])?(id|index|number|no|nr)|unnamed: \d+)|.*[a-zA-Z]Id|.*[a-z]ID")
# A column of one of several people: rater1, annotator_2_coherence, coherence.judge-b.
OF_A_PERSON = re.compile(
    rf"(?P<before>.*?)[_ .-]*(?:{PERSON}|human)(?:[_ .-]?\d+|[_ .-][a-z])(?:[_ .-]+(?P<after>.*))?", re.IGNORECASE
)
# coherence_mean: a column that sums others up
A_SUMMARY = re.compile(
    r".*[_ .-](mean|avg|average|median|std|sd|stdev|std[_ .-]?dev|var|variance|min|max|sum|total|count|majority)",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"(.*?[^\W\d_])[ _.-]*\d+")  # flow_1: a column that may be of one of several judges


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
    layout, recorded = _chosen(reads, names, name, columns, further)
    alternatives = layout.alternatives(names)
    _check_lists(reads, layout)
    understood = Understood(name, layout.lists)
    inputs: dict[str, str] = {}
    rows = []
    for read in reads:
        row = {field: cells.opened(read.fields[field]) for field in recorded if read.fields.get(field) is not None}
        row |= _texts(read, layout, inputs, name) | _ratings(read, layout, recorded)
        _check_judged(read.where, row, layout)
        row |= {column: read.fields[column] for column in further if column in read.fields}
        rows.append((read.where, parse(Read(read.where, "", row), further)))
        understood.note("candidates", cells.opened(cells.at(read.fields, layout.candidate or "")))
        articles = (layout.source,) if layout.source else ()
        understood.add(rows[-1][1].references, (layout.candidate or "",), alternatives, articles)
    understood.say()
    return rows, _notes(layout, recorded, [name for name in names if name not in alternatives], further)


def _chosen(
    reads: Sequence[Read], names: Sequence[str], name: str, columns: JudgmentColumns, further: Sequence[str]
) -> tuple[JudgmentColumns, list[str]]:
    """All columns as they are read, and the fields of records that rows have under their own names."""
    columns = replace(columns, scores=_with_signs(columns.scores, names))
    for argument, path in columns.named():
        if all(cells.nothing(cells.at(read.fields, path)) for read in reads):
            raise RecordError(
                f"{name}: no row has {path!r}, the column of {argument}{nearest(path, names)}; "
                f"the columns are {', '.join(names)}"
            )
    for paths in columns.scores.values():
        _check_judges_of(paths, names)
    roles = [role for role in ("id", "system", "candidate", "source", "group") if role in names]
    usual: dict[str, Any] = {role: role for role in roles if getattr(columns, role) is None}
    columns = replace(columns, **usual)
    if columns.candidate is None:
        raise RecordError(
            f"{name}: no column 'candidate' among {', '.join(names) or 'no columns'}; a table, not records: name its "
            f"columns, as in `rlsum data judgments {name} --id-column COLUMN --system-column COLUMN "
            f"--candidate COLUMN --reference COLUMN --score COLUMN -o judged.jsonl`; or write NAME:{name} if it is "
            "public data"
        )
    if "*" in columns.candidate and columns.candidate not in names:
        raise RecordError(f"{option('candidate', columns.candidate)}: * may be several texts; give a row to each text")
    if columns.reference == columns.candidate:
        what = f"{option('reference', columns.reference)}: the column of the candidates, too"
        raise RecordError(f"{what}; name that of the references, or '' for none")
    if columns.reference is None:
        columns = replace(columns, reference=next(iter(reference_fields(dict.fromkeys(names))), None))
    taken = {name for _, path in columns.named() for name in (path, path.partition(".")[0])}
    free = [column for column in names if column not in (*KNOWN, *further, *taken)]
    recorded = [name for name in ("scores", "raw_scores", "judges") if name in names and not columns.scores]
    people = [column for column in free if ONE_PERSON.fullmatch(column)]
    if not columns.scores and "scores" not in recorded and "raw_scores" not in recorded:
        scores = _numeric(reads, [name for name in free if name not in people and not AN_ID.fullmatch(name)])
        if not scores and (scores := _numeric(reads, people)):
            people = []  # `expert`: the score that an expert gave
        columns = replace(columns, scores=scores)
    criterion = columns.criterion or next((name for name in free if A_CRITERION.fullmatch(name)), None)
    judge = people[0] if len(people) == 1 and "judges" not in names else None
    return replace(columns, criterion=criterion, judge=columns.judge or judge), recorded


def _with_signs(scores: Mapping[str, tuple[str, ...]], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The scores, where a column has a comma or an equals sign in its name, which seemed to part several."""
    spelled = {re.sub(r"\s*([=,])\s*", r"\1", name.strip()): name for name in names}
    found: dict[str, tuple[str, ...]] = {}
    for score, paths in scores.items():
        text = ",".join(paths)
        if whole := spelled.get(f"{score}={text}"):
            found[whole] = (whole,)
        else:
            found[score] = (spelled[text],) if text in spelled and not {*paths} <= {*names} else paths
    return found


def _check_judges_of(paths: Sequence[str], names: Sequence[str]) -> None:
    """Raise RecordError where columns of judges, named with *, have a mean or the like among them."""
    for path in paths:
        matching = _matching(path, names)
        others = [name for name in matching if A_SUMMARY.fullmatch(name)]
        if numbered := [name for name in matching if name[-1:].isdigit()]:
            others = others or [name for name in matching if name not in numbered]
        if others and len(matching) > 1:
            kept = ",".join(name for name in matching if name not in others)
            raise RecordError(f"{path!r} has {', '.join(others)}, too, no judge's; name the columns: {kept or 'A,B'}")


def _matching(path: str, names: Sequence[str]) -> list[str]:
    """The columns that a path with * stands for."""
    return [name for name in names if fnmatchcase(name, path)] if "*" in path and path not in names else []


def _check_lists(reads: Sequence[Read], columns: JudgmentColumns) -> None:
    """Raise RecordError where every row has a list of texts and a list of as many scores, as of several systems."""
    for paths in columns.scores.values() if columns.judge is None else ():
        names = (columns.candidate or "", *paths)
        rows = [[cells.opened(cells.at(read.fields, name)) for name in names] for read in reads]
        lists = all(isinstance(cell, list) and len(cell) == len(row[0]) > 1 for row in rows for cell in row)
        if lists and not any(isinstance(member, list) for row in rows for cell in row for member in cell):
            raise RecordError(
                f"{reads[0].where}: {names[1]}: as many scores as {names[0]!r} has texts in every row; give the text "
                "of each system a row of its own, or join the sentences of one"
            )


def _check_judged(where: str, row: Mapping[str, Any], columns: JudgmentColumns) -> None:
    """Raise RecordError for a row of numbers without any text or system, as of totals below a table."""
    named = [role for role in ("system", "source", "reference") if getattr(columns, role)]
    if named and not any(row.get(role) for role in ("candidate", "references", *named)):
        raise RecordError(
            f"{where}: no candidate, {', '.join(named)} in a row with id {row['id']!r}; delete it if it has the totals "
            "of a table, else name the system"
        )


def _numeric(reads: Sequence[Read], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Score -> its column of numbers, or the columns of several people. Raises RecordError for a nearly numeric one."""
    scores: dict[str, tuple[str, ...]] = {}
    people: dict[str, list[str]] = {}
    for name in names:
        filled = [(read.where, value) for read in reads if not cells.missing(value := read.fields.get(name))]
        wrong = [(where, value) for where, value in filled if not cells.is_number(value)]
        if wrong and (2 * len(wrong) < len(filled) or all(cells.miswritten(value) for _, value in wrong)):
            where, value = wrong[0]
            raise RecordError(
                f"{where}: {name}={cells.no_number(value)}, as most in this column are; correct it, leave it empty, or "
                f"name the columns of scores with {option('scores', typed='--score')}"
            )
        if filled and not wrong:
            scores[name] = (name,)
            if match := OF_A_PERSON.fullmatch(name):
                people.setdefault(match["before"] or match["after"] or "overall", []).append(name)
    for score, columns in people.items():
        if len(columns) > 1:
            scores = {name: paths for name, paths in scores.items() if name not in columns}
            scores[f"{score} of judges" if score in scores else score] = tuple(columns)
    return scores


def _texts(read: Read, columns: JudgmentColumns, inputs: dict[str, str], name: str) -> dict[str, Any]:
    """The texts and names of a row. ``inputs`` numbers the inputs of rows without an id."""
    row: dict[str, Any] = {"references": []}
    for role in ("candidate", "source", "id", "system", "group"):
        if path := getattr(columns, role):
            cell = cells.at(read.fields, path)
            cell = None if cells.nothing(cell) else cell if role in ("candidate", "source") else cells.name_of(cell)
            if cell is not None or role not in ("source", "group"):
                row[role] = cell
    if columns.reference:
        texts = {path: cells.at(read.fields, path) for path in columns.alternatives(read.fields)}
        try:
            row["references"] = references(texts, columns.reference, columns.lists)
        except NotText as error:
            raise RecordError(f"{read.where}: {error}") from error
    if columns.system is None:
        row["system"] = name.rpartition("/")[2].split(".")[0]
    if columns.id is None:
        text = row.get("source") or row["references"]
        if not text:
            fix = f"name one: {option('id', typed='--id-column')}"
            raise RecordError(f"{read.where}: no id, source or reference says which input it is; {fix}")
        row["id"] = inputs.setdefault(repr((row.get("group"), text)), str(len(inputs) + 1))
    return row


def _ratings(read: Read, columns: JudgmentColumns, recorded: Sequence[str]) -> dict[str, Any]:
    """The fields ``scores``, ``raw_scores`` and ``judges`` of a row, as far as they are not ``recorded``."""
    judge = cells.mapped(cells.at(read.fields, columns.judge), cells.name_of) if columns.judge else None
    criterion = cells.name_of(cells.at(read.fields, columns.criterion)) if columns.criterion else ""
    for what, names in ((columns.judge, list(cells.leaves(judge))), (columns.criterion, [criterion])):
        if what and (not names or any(cells.missing(name) or not isinstance(name, str) for name in names)):
            raise RecordError(f"{read.where}: {what!r} is empty; name the judge, or the criterion, of every score")
    if not columns.scores:
        return {"judges": [judge]} if isinstance(judge, str) else {}
    rated: list[Rating] = []
    for name, paths in columns.scores.items():
        name = criterion if len(columns.scores) == 1 and criterion else f"{criterion} {name}".strip()
        values = [cells.at(read.fields, path) for path in paths]
        label = f"{read.where}: {','.join(paths)}"
        values = cells.mapped(values[0] if len(paths) == 1 else values, lambda cell: cells.number(cell, label))  # noqa: B023
        together = bool(columns.judge) and cells.in_one_list(read.fields, paths[0], str(columns.judge))
        split = split_by_judge(values, judge, together, label) if len(paths) == 1 else [(values, judge)]
        for own, who in split:
            rated += ratings(name, own, who, label)
    return {name: value for name, value in judged(rated).items() if value or name not in recorded}


def _notes(columns: JudgmentColumns, fields: Sequence[str], names: Sequence[str], further: Sequence[str]) -> list[str]:
    """What was read as what, and what was not read."""
    places = {role: getattr(columns, role) for role in ("id", "system", "candidate", "reference", "source", "group")}
    lines = [role if path == role else f"{role} {path}" for role, path in places.items() if path]
    scores = []
    for name, paths in columns.scores.items():
        each = [column for path in paths for column in _matching(path, names) or [path]]
        scores.append(name if each == [name] else f"{name} ({', '.join(each)})")
    lines += (
        [f"scores {', '.join([*fields, *scores])}"]
        if fields or scores
        else [f"no scores (name them with {option('scores', typed='--score')})"]
    )
    lines += [f"{role} {path}" for role in ("criterion", "judge") if (path := getattr(columns, role))]
    notes = [f"columns read: {'; '.join(lines)}"]
    notes += [] if columns.id else ["no id: texts with the same source or references are of one input"]
    notes += [] if columns.system else ["no system: all texts are of one"]
    stems: dict[str, list[str]] = {}
    for match in filter(None, map(NUMBERED.fullmatch, columns.scores)):
        stems.setdefault(match[1], []).append(match[0])
    for stem, numbered in stems.items():
        if len(numbered) > 1:
            several = f"{', '.join(numbered)} are scores of their own"
            notes.append(f"{several}; if each is of one judge: --score {stem}={','.join(numbered)}")
    used = {name for _, path in columns.named() for name in (path, path.partition(".")[0])}
    used |= {*fields, *further, *FIELDS, "reference", "undefined"}
    unread = [name for name in names if not any(name == path or fnmatchcase(name, path) for path in used)]
    return [*notes, f"columns not read: {', '.join(unread)}"] if unread else notes
