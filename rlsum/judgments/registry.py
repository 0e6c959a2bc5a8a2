"""One way to load judgments, in Python and on a command line.

``judged.jsonl`` is a file of our own records, ``hf://owner/name`` a dataset of the hub, and ``NAME:PATH`` public data
read by the reader of that name. Options stand behind the name as they do behind a reward's:
``'asap-aes(references=1, sentences=5-15):training_set_rel3.tsv'``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rewards.errors import RewardError
from rewards.options import bind, nearest
from rewards.specs import as_spec
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import read_jsonl
from rlsum.records import RecordError

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
    HUB: "rlsum.judgments.hub:hub",
}
WRITTEN = re.compile(r"([a-z][a-z0-9-]*)(\(.*?\))?:(.+)", re.DOTALL)


def load(data: str | Path, **options: Any) -> Judgments:
    """The judgments that ``data`` names (see above), options written there and here taken together.

    Raises RecordError for an unknown name or option, and for data that cannot be used, with file and line.
    """
    name, written, path = _parse(str(data))
    if not name:
        if options:
            raise RecordError(f"{data}: our own records take no options; {next(iter(options))!r} was given")
        return Judgments(str(data), tuple(read_jsonl(path)))
    if name != HUB and not Path(path).expanduser().exists():
        raise RecordError(f"{name}: no file or folder {path}")
    try:
        bound = partial(_reader(name), path if name == HUB else Path(path).expanduser())
        arguments = bind(name, bound, {**as_spec(f"{name}{written}").options, **options})
    except RewardError as error:
        raise RecordError(str(error)) from error
    found: Judgments = bound(**arguments)
    return found


def _parse(text: str) -> tuple[str, str, str]:
    """Reader ("" for our own records), its options as written, and the path."""
    if text in READERS:
        raise RecordError(f"{text}: a path is missing; write {text}:PATH")
    found = WRITTEN.fullmatch(text)
    if found and found[1] in READERS:
        return found[1], found[2] or "", found[3]
    path = Path(text).expanduser()
    if path.is_dir():
        raise RecordError(f"{text}: a folder; write NAME:{text}, NAME one of {', '.join(READERS)}")
    if found and not path.exists():
        raise RecordError(f"{text}: no reader {found[1]!r}{nearest(found[1], READERS)}; there are {', '.join(READERS)}")
    return "", "", str(path)


def _reader(name: str) -> Callable[..., Judgments]:
    module, _, function = READERS[name].partition(":")
    found: Callable[..., Judgments] = getattr(importlib.import_module(module), function)
    return found
