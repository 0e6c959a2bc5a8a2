"""`load` reads judgments: ``judged.jsonl`` or a table, ``hf://owner/name`` (the hub), ``NAME:PATH`` (public data).

Public JSON is recognised without its name.

Options follow the name, as for rewards: ``'asap-aes(references=1, sentences=5-15):training_set_rel3.tsv'``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rewards.errors import RewardError
from rewards.options import bind, nearest
from rewards.specs import as_spec
from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import FIELDS, Judgment, parse, read_jsonl, read_table
from rlsum.readers import DAMAGED, Read, is_saved, is_table, opened

HUB = "hf"
READERS = {
    "chaganty2018": "rlsum.judgments.chaganty:chaganty2018",
    "realsumm": "rlsum.judgments.realsumm:realsumm",
    "asap-aes": "rlsum.judgments.asap:asap_aes",
    "asap-sas": "rlsum.judgments.asap:asap_sas",
    "huse": "rlsum.judgments.huse:huse",
    "sts": "rlsum.judgments.sts:sts",
    "wmt-da": "rlsum.judgments.wmt:wmt_da",
    "zhang2023": "rlsum.judgments.pairwise:zhang2023",
    "tldr": "rlsum.judgments.pairwise:tldr",
    "summeval": "rlsum.judgments.summaries:summeval",
    "frank": "rlsum.judgments.summaries:frank",
    "rose": "rlsum.judgments.summaries:rose",
    HUB: "rlsum.judgments.registry:hub",
}
# What a file begins with that needs no name, and a file of a folder that needs none.
KEYS = {
    "summeval": ("decoded", "expert_annotations"),
    "frank": ("hash", "model_name"),
    "rose": ("annotations", "system_outputs"),
    "tldr": ("summaries", "choice", "policy"),
    "zhang2023": ("writer_id", "writer_summary"),
    "realsumm": ("systems", "litepyramid_recall"),
}
FOLDERS = {"frank": "human_annotations.json", "realsumm": "abs.pkl"}
BEGINNING = 2**20  # bytes
WRITTEN = re.compile(r"([a-z][a-z0-9-]*)(\(.*?\))?:(.+)", re.DOTALL)


def load(data: str | Path, *, columns: Sequence[str] = (), **options: Any) -> Judgments:
    """The judgments that ``data`` names (see above). ``options`` are added to those in ``data``.

    ``columns`` are fields that a file of records or a dataset of the hub may have besides those of a judgment.
    Raises RecordError for an unknown name or option, and for invalid data, with file and line.
    """
    name, written, path = _parse(str(data))
    if not name and (name := _recognised(Path(path))):
        found = load(f"{name}:{path}", **options)
        return replace(found, notes=[f"recognised as {name}", *found.notes])
    if not name:
        if options:
            raise RecordError(f"{data}: a file of records takes no options; got {next(iter(options))!r}")
        if not is_table(Path(path)):
            return Judgments(str(data), tuple(read_jsonl(path, columns)))
        rows, other = read_table(Path(path), columns)
        return Judgments(str(data), tuple(rows), notes=_not_read(other))
    if name != HUB and not Path(path).expanduser().exists():
        raise RecordError(f"{name}: no file or folder {path}")
    module, _, function = READERS[name].partition(":")
    reader = getattr(importlib.import_module(module), function)
    try:
        bound = partial(reader, path, columns) if name == HUB else partial(reader, Path(path).expanduser())
        arguments = bind(name, bound, {**as_spec(f"{name}{written}").options, **options})
    except RewardError as error:
        raise RecordError(str(error)) from error
    try:
        judgments: Judgments = bound(**arguments)
    except RecordError as error:
        raise error if path in str(error) else RecordError(f"{path}: {error}") from error
    return judgments


def hub(path: str, further: Sequence[str] = (), *, split: str | None = None) -> Judgments:
    """The rows of ``[//]owner/name[/config][@revision]`` or of a folder, with the columns of the JSONL records.

    ``further`` columns are for rewards that read them. Other columns are not read, and a note names them. ``split`` is
    needed if there are several.
    """
    from rlsum.data import sources  # imports datasets, which is slow

    name = path.removeprefix("//")
    dataset = sources.load_split(sources.HUB + name, split)
    columns = [column for column in dataset.column_names if column in (*FIELDS, *further)]
    other = [column for column in dataset.column_names if column not in columns]
    rows = tuple(
        _hub_row(fields, further, f"{name}, row {number}")
        for number, fields in enumerate(dataset.select_columns(columns), 1)
    )
    return Judgments(f"hf://{name}", rows, {}, _not_read(other))


def _not_read(columns: Sequence[str]) -> list[str]:
    return [f"columns not read: {', '.join(columns)}"] if columns else []


def _hub_row(fields: dict[str, object], further: Sequence[str], where: str) -> Judgment:
    """A dataset has every column and key in each row, None for those that the row lacks."""
    given = {name: value for name, value in fields.items() if value is not None or name in further}
    if isinstance(raw := given.get("raw_scores"), dict):
        given["raw_scores"] = {name: values for name, values in raw.items() if values is not None}
    return parse(Read(where, "", given), further)


def _recognised(path: Path) -> str:
    """The reader of a public file or folder, "" for any other."""
    if path.is_dir():
        return next((name for name, file in FOLDERS.items() if (path / file).is_file()), "")
    try:
        with opened(path) as file:
            beginning = file.read(BEGINNING)
    except DAMAGED:
        return ""  # the reader of records says what is wrong
    for name, keys in KEYS.items():
        if all(re.search(rb'(?<!\\)"%s"\s*:' % key.encode(), beginning) for key in keys):
            return name
    return ""


def _parse(text: str) -> tuple[str, str, str]:
    """Reader ("" for a file of records), its options as written, and the path."""
    if text in READERS:
        raise RecordError(f"{text}: the path is missing; write {text}:PATH")
    match = WRITTEN.fullmatch(text)
    if match and match[1] in READERS:
        return match[1], match[2] or "", match[3]
    path = Path(text).expanduser()
    if path.is_dir() and not _recognised(path) and not is_saved(path):
        raise RecordError(f"{text}: a folder; write NAME:{text}, NAME one of {', '.join(READERS)}")
    if match and not path.exists():
        raise RecordError(f"{text}: no reader {match[1]!r}{nearest(match[1], READERS)}; use {', '.join(READERS)}")
    return "", "", str(path)
