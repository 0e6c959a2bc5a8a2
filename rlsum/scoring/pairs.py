"""Pairs to score, read as a stream: JSONL records, or text files of candidates and references, one text a line.

A row is a mapping with ``candidate`` (text), ``references`` (a list of texts, or one text under ``reference``) and an
optional ``source``; its other fields are kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rewards.references import Lists
from rewards.rows import fault_of_rows
from rewards.scoring import Inputs, ReadsColumns
from rlsum.errors import RecordError, UserError
from rlsum.files import write_atomically
from rlsum.readers import json_file, records
from rlsum.records import RECORD_FIELDS, ColumnCheck, RecordTexts, common_columns, other_fields
from rlsum.scoring.text_column import BY_NAME, TextColumn, TextColumns

Row = dict[str, Any]


@dataclass(frozen=True)
class Identity:
    """The data: a hash ``content``, ``rows``, and metrics already ``scored`` -> their signature, None if unknown."""

    content: str
    rows: int
    scored: dict[str, str | None] = field(default_factory=dict)

    @property
    def signed(self) -> dict[str, str]:
        """The metrics whose signature is known."""
        return {metric: signature for metric, signature in self.scored.items() if signature is not None}


@dataclass(frozen=True)
class Records:
    """A JSONL file, one object a line, or a table (CSV, TSV, parquet); text also gzipped."""

    path: Path
    reference_lists: Lists | None = None  # what a list of texts is, where the field's name does not say so

    def check(self, rewards: Iterable[ReadsColumns] = ()) -> Identity:
        """Read all once. Raises RecordError for a row that ``rewards`` cannot score, UserError for bad signatures."""
        content, columns, texts = hashlib.sha256(), ColumnCheck(rewards), RecordTexts(self.path, self.reference_lists)
        scored: set[str] = set()
        for where, row in self._rows(texts):
            try:
                content.update(json.dumps(row, default=str, allow_nan=False).encode())
            except ValueError as error:
                what = f"a number in {_no_json(row)!r} is NaN or infinite"
                raise RecordError(f"{where}: {what}, which is not JSON; write null") from error
            columns.check(where, row)
            scored.update(row.get("scores", ()))
        rows = texts.understood.rows
        if not rows:
            raise RecordError(f"{self.path}: no records; expected rows with candidate and references")
        texts.understood.say()
        signatures = read_signatures(self.path) if scored else {}
        return Identity(content.hexdigest()[:16], rows, {metric: signatures.get(metric) for metric in sorted(scored)})

    def __iter__(self) -> Iterator[Row]:
        return (row for _, row in self._rows(RecordTexts(self.path, self.reference_lists)))

    def _rows(self, texts: RecordTexts) -> Iterator[tuple[str, Row]]:
        """Each row with its place."""
        for read in records(self.path):
            if read.problem:
                raise RecordError(f"{read.where}: {read.problem}; expected an object a line, or a table with a header")
            row = _kept(read.fields, texts(read.where, read.fields))
            for name in ("scores", "undefined"):
                if not isinstance(row.get(name, {}), dict):
                    raise RecordError(f"{read.where}: {name} must be an object with metrics as keys")
            yield read.where, row


@dataclass(frozen=True)
class TextFiles:
    """A file of candidates and one or more of references, of any format, row by row; rows are output records."""

    candidates: Path
    references: tuple[Path, ...]
    columns: TextColumns = BY_NAME

    def _files(self) -> list[TextColumn]:
        column, lists = self.columns.reference_column, self.columns.reference_lists
        candidates = TextColumn(self.candidates, "candidates", self.columns.candidate_column)
        within = candidates.within
        return [candidates, *(TextColumn(path, "references", column, lists, within(path)) for path in self.references)]

    def check(self, rewards: Iterable[ReadsColumns] = ()) -> Identity:
        """Read all once. Raises RecordError where the files differ in length or in the ids of a row."""
        ColumnCheck(rewards).check(str(self.candidates), {})
        content = hashlib.sha256()
        files = self._files()
        counts = [0] * len(files)
        for row in zip_longest(*files):
            counts = [count + (located is not None) for count, located in zip(counts, row, strict=True)]
            content.update(repr([None if located is None else located.texts for located in row]).encode())
            named = [located for located in row if located is not None and located.id is not None]
            if other := next((located for located in named if located.id != named[0].id), None):
                ids = f"id {other.id!r}, but {named[0].id!r} at {named[0].where}"
                raise RecordError(f"{other.where}: {ids}; row i of both must belong to the same text")
        for path, count in zip(self.references, counts[1:], strict=True):
            if count != counts[0]:
                problem = f"{self.candidates} has {counts[0]:,} lines but {path} has {count:,}"
                raise RecordError(f"{problem}; line i of both must belong to the same text")
        if not counts[0]:
            raise RecordError(f"{self.candidates}: empty; expected one candidate a line")
        return Identity(content.hexdigest()[:16], counts[0])

    def __iter__(self) -> Iterator[Row]:
        for number, (candidate, *references) in enumerate(zip(*self._files(), strict=True), 1):
            texts = [text for located in references for text in located.texts if text.strip()]
            row = {"source": "", "references": texts, "candidate": candidate.texts[0]}
            yield {"id": candidate.id or str(number), **row, "system": self.candidates.name}


@dataclass(frozen=True)
class Listed:
    """Pairs in memory, one for each candidate; ``references`` of each are a text or several.

    ``columns``: further columns, for rewards that read them.
    """

    candidates: Sequence[str]
    references: Sequence[Sequence[str] | str]
    sources: Sequence[str]
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        candidates: Iterable[str],
        references: Iterable[Sequence[str] | str] = (),
        sources: Iterable[str] = (),
        columns: Mapping[str, Iterable[Any]] | None = None,
    ) -> Listed:
        """From lists, or columns of a table. Raises RecordError where they differ in length."""
        columns = {} if columns is None else columns
        if not isinstance(columns, Mapping):
            raise RecordError(f"columns: a {type(columns).__name__}; give a mapping from names to their values")
        if taken := next((name for name in columns if name in RECORD_FIELDS), None):
            raise RecordError(f"columns: {taken!r} is a field of every record; rename the column")
        inputs: dict[str, Iterable[Any]] = {"candidates": candidates, "references": references, "sources": sources}
        inputs |= columns
        if fault := fault_of_rows(inputs):
            raise RecordError(fault)
        for name, texts in inputs.items():
            if isinstance(texts, str):
                raise RecordError(f"{name}={texts[:40]!r}: one text; give a list, one member for each candidate")
        lists: dict[str, list[Any]] = {name: list(texts) for name, texts in inputs.items()}
        count = len(lists["candidates"])
        lists["sources"] = lists["sources"] or [""] * count
        for name, texts in lists.items():
            if len(texts) != count:
                raise RecordError(f"{name}: {len(texts):,} for {count:,} candidates; give one for each candidate")
        return cls(**{name: lists.pop(name) for name in ("candidates", "references", "sources")}, columns=lists)

    def check(self, rewards: Iterable[ReadsColumns] = ()) -> Identity:
        """Raise RecordError for what is no text, or where there is none."""
        ColumnCheck(rewards).check("candidates", self.columns)
        rows = list(self)
        if not rows:
            raise RecordError("candidates: an empty list; give one text or more")
        content = hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass"))
        return Identity(content.hexdigest()[:16], len(rows))

    def __iter__(self) -> Iterator[Row]:
        rows = zip(self.candidates, self.references, self.sources, strict=True)
        read = RecordTexts("candidates")
        for number, (candidate, texts, source) in enumerate(rows, 1):
            listed = isinstance(texts, Iterable) and not isinstance(texts, str | Mapping)
            references = list(texts) if listed else texts
            row = {"id": str(number), "source": source, "references": references, "candidate": candidate}
            row |= {name: values[number - 1] for name, values in self.columns.items()}
            yield read(f"candidates, number {number}", row)


Pairs = Records | TextFiles | Listed


def inputs_of(rows: Sequence[Row]) -> Inputs:
    """The inputs of rewards from some checked rows."""
    candidates, references, sources = ([*column] for column in zip(*map(texts_of, rows), strict=True))
    return Inputs(candidates, references, sources, common_columns([other_fields(row) for row in rows]))


def texts_of(row: Mapping[str, Any]) -> tuple[str, Sequence[str], str]:
    """Candidate, references and source ("" without one) of a checked row."""
    references = row["references"] if "references" in row else [row["reference"]]
    return row["candidate"], references, row.get("source", "")


def _no_json(row: Row) -> str:
    """The first field that holds a number which JSON has not."""
    for name, value in row.items():
        try:
            json.dumps(value, default=str, allow_nan=False)
        except ValueError:
            return name
    raise ValueError("all is JSON")


def _kept(fields: Mapping[str, Any], row: Row) -> Row:
    """The checked row; where it has one text under ``reference``, in that form: rows are written again."""
    text = fields.get("reference")
    if "references" in fields or not isinstance(text, str) or row["references"] not in ([], [text]):
        return row
    return {name: row.get(name, value) for name, value in fields.items()}


# ---- FILE.signatures.json: metric -> signature, which says what its scores in FILE depend on -----------------------


def signatures_path(path: Path) -> Path:
    """The file of the signatures of a scored file."""
    return path.with_name(path.name + ".signatures.json")


def read_signatures(path: Path) -> dict[str, str]:
    """The signatures recorded for a scored file, {} without a record. Raises UserError for any other content."""
    recorded = signatures_path(path)
    if not recorded.exists():
        return {}
    fix = "repair it, or remove it to treat the signatures as unknown"
    signatures = json_file(recorded, fix, UserError)
    if not isinstance(signatures, dict) or not all(isinstance(value, str) for value in signatures.values()):
        raise UserError(f"{recorded}: not an object of metrics and signatures; {fix}")
    return signatures


def write_signatures(path: Path, signatures: Mapping[str, str]) -> None:
    """Record the signatures of a scored file atomically."""
    content = json.dumps(signatures, indent=2, ensure_ascii=False) + "\n"
    write_atomically(signatures_path(path), content.encode())


def changed_metrics(old: Mapping[str, str | None], new: Mapping[str, str]) -> list[str]:
    """The metrics of both whose signatures differ, or whose old one is not recorded (None)."""
    return [metric for metric in new if metric in old and old[metric] != new[metric]]
