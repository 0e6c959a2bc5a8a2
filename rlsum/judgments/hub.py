"""Judgments from a dataset of the hub or one saved on disk, read by `datasets` (imported when needed: it is heavy)."""

from __future__ import annotations

from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import FIELDS, Judgment, parse
from rlsum.readers import Read


def hub(path: str, *, split: str | None = None) -> Judgments:
    """The rows of ``[//]owner/name[/config][@revision]`` or of a folder, with the columns of the JSONL records.

    ``split`` may be left out where there is only one. Other columns are not read, and the notes name them.
    """
    from rlsum.data.sources import HUB, load_split

    name = path.removeprefix("//")
    found = load_split(HUB + name, split)
    columns = [column for column in found.column_names if column in FIELDS]
    other = [column for column in found.column_names if column not in FIELDS]
    rows = tuple(
        _row(fields, f"{name}, row {number}") for number, fields in enumerate(found.select_columns(columns), 1)
    )
    return Judgments(f"hf://{name}", rows, {}, [f"columns not read: {', '.join(other)}"] if other else [])


def _row(fields: dict[str, object], where: str) -> Judgment:
    """A dataset has every column and every key in each row, None where the row itself has none."""
    given = {name: value for name, value in fields.items() if value is not None}
    if isinstance(raw := given.get("raw_scores"), dict):
        given["raw_scores"] = {name: values for name, values in raw.items() if values is not None}
    return parse(Read(where, "", given))
