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
from rlsum.judgments.aggregation import aggregated, doubts
from rlsum.judgments.collection import Judgments
from rlsum.judgments.columns import read_rows
from rlsum.judgments.layout import JudgmentColumns
from rlsum.judgments.orientation import doubted, negated
from rlsum.judgments.public import HUB, OF_STUDY, READERS
from rlsum.judgments.records import KNOWN, parse
from rlsum.readers import DAMAGED, Read, is_saved, is_table, opened, records
from rlsum.records import RecordTexts

# What a file begins with that needs no name, and a file of a folder that needs none.
KEYS = {
    "summeval": ("decoded", "expert_annotations"),
    "frank": ("hash", "model_name"),
    "rose": ("annotations", "system_outputs"),
    "tldr": ("summaries", "choice", "policy"),
    "zhang2023": ("writer_id", "writer_summary"),
    "realsumm": ("systems", "litepyramid_recall"),
    "squality": ("story", "reviews"),
}
FOLDERS = {"frank": "human_annotations.json", "realsumm": "abs.pkl"}
BEGINNING = 2**20  # bytes
WRITTEN = re.compile(r"([a-z][a-z0-9-]*)(\(.*?\))?:(.+)", re.DOTALL)


def load(
    data: str | Path,
    *,
    columns: Sequence[str] = (),
    layout: JudgmentColumns | None = None,
    lower_is_better: Sequence[str] = (),
    **options: Any,
) -> Judgments:
    """The judgments that ``data`` names (see above). ``options`` are added to those in ``data``.

    ``columns`` are fields that rows may have besides those of a judgment. ``layout`` names the columns of a file or a
    dataset that is in the layout of others. Several rows of one text by different judges become one judgment.
    ``lower_is_better``: scores to negate and to call ``negated_NAME``. Raises RecordError for an unknown name, option
    or column, and for invalid data, with file and line.
    """
    name, written, path = _parse(str(data))
    layout = JudgmentColumns() if layout is None else layout
    if not name and not layout and (name := _recognised(Path(path))):
        public = load(f"{name}:{path}", lower_is_better=lower_is_better, **options)
        return replace(public, notes=[f"recognised as {name}", *public.notes])
    if name and name != HUB and layout:
        raise RecordError(f"{data}: the reader {name} knows its columns; omit them, or {name}:")
    if not name and options:
        raise RecordError(f"{data}: a file of records takes no options; got {next(iter(options))!r}")
    if not name:
        judgments = _of_rows(str(data), list(records(Path(path))), is_table(Path(path)), columns, layout)
    else:
        judgments = _public(name, written, path, options, columns, layout)
    judgments = negated(judgments, lower_is_better)
    return judgments if name and name != HUB else doubted(judgments)


def _public(
    name: str, written: str, path: str, options: dict[str, Any], columns: Sequence[str], layout: JudgmentColumns
) -> Judgments:
    """Public data by the reader ``name``, with the options ``written`` and further ``options``."""
    if name != HUB and not Path(path).expanduser().exists():
        raise RecordError(f"{name}: no file or folder {path}")
    module, _, function = READERS[name].partition(":")
    reader = getattr(importlib.import_module(module), function)
    try:
        loader = partial(reader, path, columns, layout) if name == HUB else partial(reader, Path(path).expanduser())
        arguments = bind(name, loader, {**as_spec(f"{name}{written}").options, **options})
    except RewardError as error:
        raise RecordError(str(error)) from error
    try:
        judgments: Judgments = loader(**arguments)
    except RecordError as error:
        raise error if path in str(error) else RecordError(f"{path}: {error}") from error
    return judgments


def hub(
    path: str,
    further: Sequence[str] = (),
    layout: JudgmentColumns = JudgmentColumns(),  # noqa: B008 (frozen)
    *,
    split: str | None = None,
) -> Judgments:
    """The rows of ``[//]owner/name[/config][@revision]`` or of a folder, read as those of a table.

    ``further`` columns are for rewards that read them. ``split`` is needed if there are several.
    """
    from rlsum.data import sources  # imports datasets, which is slow

    name = path.removeprefix("//")
    rows = [_hub_row(row, f"{name}, row {n}") for n, row in enumerate(sources.load_split(sources.HUB + name, split), 1)]
    return _of_rows(f"hf://{name}", rows, True, further, layout)


def _of_rows(
    name: str, reads: Sequence[Read], table: bool, further: Sequence[str], layout: JudgmentColumns
) -> Judgments:
    """Records, or rows of a table: in columns that are named, or with scores in columns of their own."""
    fields = {field for read in reads for field in read.fields}
    named = "candidate" in fields and bool(fields & {"scores", "raw_scores"})
    flat = bool(fields) and not named and not fields <= {*KNOWN, *further}
    if layout or table or flat:
        rows, notes = read_rows(reads, name, layout, further)
    else:
        texts = RecordTexts(name)
        rows, notes = [(read.where, parse(read, further, texts)) for read in reads], []
        texts.understood.say()
    judgments, aggregation = aggregated(rows)
    return Judgments(name, tuple(judgments), notes=[*notes, *aggregation, *doubts(judgments)])


def _hub_row(fields: dict[str, Any], where: str) -> Read:
    """A dataset has every column and key in each row, None for those that the row lacks."""
    if isinstance(raw := fields.get("raw_scores"), dict):
        fields = {**fields, "raw_scores": {name: values for name, values in raw.items() if values is not None}}
    return Read(where, "", fields)


def _recognised(path: Path) -> str:
    """The reader of a public file or folder, "" for any other."""
    if path.is_dir():
        return next((name for name, file in FOLDERS.items() if (path / file).is_file()), "")
    try:
        with opened(path) as file:
            beginning = file.read(BEGINNING)
    except (*DAMAGED, RecordError):
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
    if (path / OF_STUDY).is_file():
        return "", "", str(path / OF_STUDY)
    if path.is_dir() and not _recognised(path) and not is_saved(path):
        raise RecordError(f"{text}: a folder; write NAME:{text}, NAME one of {', '.join(READERS)}")
    if match and not path.exists():
        raise RecordError(f"{text}: no reader {match[1]!r}{nearest(match[1], READERS)}; use {', '.join(READERS)}")
    return "", "", str(path)
