"""The JSONL records that every command reads and writes: the output of a system for an article."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from rewards.references import Lists, NotText, one_text, reference_columns, references
from rewards.scoring import Inputs, ReadsColumns, columns_read
from rlsum.errors import RecordError
from rlsum.files import write_lines
from rlsum.parsing import parse
from rlsum.readers import Read, Understood, identity, is_text, records
from rlsum.readers.text import uncompressed

OUTPUT_FIELDS = ("id", "source", "references", "candidate", "system")
RECORD_FIELDS = (*OUTPUT_FIELDS, "reference", "scores", "undefined")  # any other field is a column for rewards


@dataclass(frozen=True)
class Output:
    """The output of a system for one article.

    ``scores``: metric name -> value (None: undefined), once scored. ``columns``: the other fields of the record, which
    rewards may read.
    """

    id: str
    source: str
    references: tuple[str, ...]
    candidate: str
    system: str
    scores: dict[str, float | None] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)


class ColumnCheck:
    """Checks row by row the fields that rewards read as columns.

    Every row must have the columns that a reward needs. An optional one must be in every row or in none. Raises
    RecordError for a reward that reads a field which is no column.
    """

    def __init__(self, rewards: Iterable[ReadsColumns]) -> None:
        self.rewards = list(rewards)
        self.needed, self.optional = columns_read(self.rewards)
        self.present: set[str] | None = None
        for reward in self.rewards:
            check_column_names(reward)

    def check(self, where: str, fields: Mapping[str, Any]) -> None:
        """Raise RecordError naming the row, the field and the fix."""
        for name in self.needed:
            if name not in fields:
                reader = next(reward.name for reward in self.rewards if name in reward.columns)
                raise RecordError(f"{where}: no field {name!r}, which {reader} needs; add it to every record")
        present = fields.keys() & set(self.optional)
        self.present = present if self.present is None else self.present
        for name in sorted(self.present ^ present):
            raise RecordError(f"{where}: some records have the field {name!r} and others do not; add it to all or none")


def reference_fields(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of a record that hold references: ``references``, or ``reference`` and those numbered like it."""
    named = reference_columns("references" if "references" in row else "reference", tuple(row))
    return tuple(name for name in named if name in row)


class RecordTexts:
    """Reads the texts of records, row by row, and then says in one line what it understood of them.

    ``lists``: what a list of texts in a field of references is, where its name does not say so. ``needed``: fields.
    """

    def __init__(
        self, path: str | Path, lists: Lists | None = None, needed: Sequence[str] = ("candidate", "references")
    ) -> None:
        self.lists, self.needed = lists, needed
        if "references" in needed and is_text(Path(path)):
            raise RecordError(
                f"{path}: texts alone, one a line; give their references: `rlsum score --candidates {path} "
                f"--references FILE` or `rlsum evaluate {path} --references FILE`"
            )
        self.understood = Understood(str(path), lists)
        self.fields: tuple[str, ...] | None = None  # of the row before
        self.replaced: tuple[str, ...] = ()

    def __call__(self, where: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row with ``candidate`` and ``source`` as texts, and ``references`` as a list of texts, no empty ones.

        Raises RecordError for fields that the row lacks, and for what is no text.
        """
        if (names := tuple(row)) != self.fields:
            check_fields(where, row, self.needed)
            self.fields, self.replaced = names, reference_fields(row)
        replaced = self.replaced
        fields = replaced if "references" in self.needed else ()
        try:
            texts: dict[str, Any] = {"references": references(row, fields[0], self.lists) if fields else []}
        except NotText as error:
            raise RecordError(f"{where}: {error}") from error
        for name in ("candidate", "source"):
            try:
                if name in row:
                    texts[name] = "" if name == "source" and row[name] is None else one_text(row[name])
                    self.understood.note("articles" if name == "source" else "candidates", row[name])
            except NotText as error:
                raise RecordError(f"{where}: {name} must be text, not {str(row[name])[:40]}") from error
        articles = ("source",) if row.get("source") else ()
        self.understood.add(texts["references"], ("candidate",), fields, articles)
        return {name: value for name, value in row.items() if name not in replaced} | texts


def check_fields(where: str, row: Mapping[str, Any], needed: Sequence[str] = ("candidate", "references")) -> None:
    """Raise RecordError naming the fields that a record needs and lacks; ``reference`` is as good as ``references``."""
    missing = [name for name in needed if name not in row and not (name == "references" and reference_fields(row))]
    if missing:
        fields = ", ".join(map(str, row))[:200]
        raise RecordError(
            f"{where}: missing {', '.join(missing)}; a record needs {' and '.join(needed)}, and may have id, source, "
            "references (or reference) and system: rename columns, or convert with "
            f"`rlsum data outputs FILE --candidate COLUMN --reference COLUMN --source COLUMN -o NEW`; it has {fields}"
        )


def check_column_names(reward: ReadsColumns) -> None:
    """Raise RecordError where a reward reads a column by the name of a field that every record has."""
    for name in (*reward.columns, *reward.optional_columns):
        if name in RECORD_FIELDS:
            raise RecordError(
                f"{reward.name} reads the column {name!r}, but {name!r} is a field of every record and no column; "
                "rename the parameter, and the field in the data"
            )


def inputs_of(records: Sequence[Any]) -> Inputs:
    """What rewards read of outputs (or judgments), with the columns that all of them have."""
    return Inputs(
        [record.candidate for record in records],
        [record.references for record in records],
        [record.source for record in records],
        common_columns([record.columns for record in records]),
    )


def common_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of some rows, one value per row, without those that a row lacks."""
    names = [name for name in rows[0] if all(name in row for row in rows)] if rows else []
    return {name: [row[name] for row in rows] for name in names}


def other_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a record holds besides its texts, names and scores."""
    return {name: value for name, value in row.items() if name not in RECORD_FIELDS}


def write_outputs(path: str | Path, outputs: Iterable[Output]) -> int:
    """Write outputs as JSONL, see ``write_lines``."""
    return write_lines(path, map(to_json, outputs))


def to_json(output: Output) -> str:
    """One line of JSON; ``scores`` is left out while empty."""
    row = asdict(output)
    columns = row.pop("columns")
    if not row["scores"]:
        del row["scores"]
    row |= columns
    return json.dumps(row, ensure_ascii=False, default=of_table)


def of_table(value: Any) -> Any:
    """For JSON, what a cell of Parquet may hold besides: a decimal as a number, a date as ISO 8601, else its text."""
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date | time) else str(value)


def defined(values: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers for JSON: NaN and infinities become None."""
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


def finite(value: Any) -> Any:
    """Nested dictionaries, lists and tuples for JSON: NaN becomes None."""
    if isinstance(value, dict):
        return {key: finite(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [finite(member) for member in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def system_of(path: Path) -> str:
    """The system of a file that names none: the file's name without its format, so ``a.ours.out`` is ``a.ours``."""
    return uncompressed(path).stem


def read_outputs(path: str | Path, *, references: bool = True, lists: Lists | None = None) -> list[Output]:
    """Read an outputs file: JSONL, CSV or TSV, gzip or not, or parquet.

    A row needs a candidate and, unless ``references`` is false, references or one reference. Without an id it has the
    number of its row, so that files of one order line up; without a system the name of the file; without a source none.
    ``lists``: what a list of texts in a column of references is, where its name does not say so.

    Raises RecordError for the first bad line: an evaluation that silently drops outputs compares different items.
    """
    name = system_of(Path(path))
    needed = ("candidate", "references") if references else ("candidate",)
    texts = RecordTexts(path, lists, needed)
    outputs = [_output(read, number, name, texts) for number, read in enumerate(records(Path(path)), 1)]
    if not outputs:
        raise RecordError(f"{path}: no records; expected rows with {', '.join(OUTPUT_FIELDS)}")
    texts.understood.say()
    return outputs


def _output(read: Read, number: int, name: str, texts: RecordTexts) -> Output:
    if read.problem:
        raise RecordError(f"{read.where}: {read.problem}; expected one JSON object a line, or a table with a header")
    row = {"id": number, "source": "", "system": name, **texts(read.where, read.fields)}
    values = {field: row[field] for field in OUTPUT_FIELDS} | {"scores": row.get("scores") or {}}
    if (named := identity(row["id"])) is not None:
        values["id"] = named
    return replace(parse(Output, values, read.where, RecordError), columns=other_fields(row))
