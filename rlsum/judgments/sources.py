"""A path of judged texts -> judgments, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rlsum.judgments.records import Judgment, read_jsonl
from rlsum.judgments.wmt import read_wmt
from rlsum.records import RecordError

READERS: dict[str, Callable[[Path], list[Judgment]]] = {".jsonl": read_jsonl, ".json": read_jsonl, ".tsv": read_wmt}


def read_judgments(paths: Sequence[Path]) -> list[Judgment]:
    """The judgments of all files in order: JSONL, or WMT's direct assessment as .tsv (both also .gz).

    Raises RecordError for a file that is not there, is of another format or holds nothing, and for a bad line.
    """
    judgments = []
    for path in paths:
        suffix = (Path(path.stem) if path.suffix == ".gz" else path).suffix
        if suffix not in READERS:
            raise RecordError(f"{path}: unknown format; expected {', '.join(READERS)}, each also with .gz")
        found = READERS[suffix](path)
        if not found:
            raise RecordError(f"{path}: holds no judgment")
        judgments += found
    return judgments
