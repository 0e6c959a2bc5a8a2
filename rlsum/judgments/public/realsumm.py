"""REALSumm (Bhandari et al. 2020): 100 CNN/DailyMail articles by 25 systems, judged by litePyramid recall.

Two layouts: JSONL with one article per line (``doc_id``, ``src``, ``reference_raw``, ``systems``); and a folder with
the authors' score dictionaries ``abs.pkl`` and ``ext.pkl`` (no sources), read by an unpickler that builds only plain
data.
"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, keep
from rlsum.judgments.public.tables import finite, parsing, read_objects
from rlsum.judgments.records import Judgment

RECALL = "litepyramid_recall"
PICKLES = ("abs.pkl", "ext.pkl")
TAGS = re.compile(r"\s*</?t>\s*")


def realsumm(path: Path, *, duplicate_systems: bool = False) -> Judgments:
    """The score overall is litePyramid recall, 0 to 1.

    Texts are the raw ones, with one sentence per line where ``<t>`` marks sentences. ``duplicate_systems`` keeps
    systems all of whose texts equal those of another (BART is among the abstractive and the extractive systems).
    """
    rows = list(_pickles(path) if path.is_dir() else _articles(path))
    copies = {} if duplicate_systems else _copies(rows)
    reasons = {
        system: f"of {system}, the same texts as {original} (duplicate_systems=true keeps them)"
        for system, original in copies.items()
    }
    left_out = Counter[str]()
    kept = tuple(keep(rows, left_out, lambda row: reasons.get(row.system, "")))
    notes = [f"overall is {RECALL.replace('_', ' ')}; the authors' own metric scores are not read"]
    if not any(row.source for row in kept):
        notes.append("this layout has no sources")
    return Judgments("realsumm", kept, left_out, notes, {"overall": (0.0, 1.0)})


def _articles(path: Path) -> Iterator[Judgment]:
    for where, row in read_objects(path):
        with parsing(where, "an article of REALSumm"):
            for system, entry in row["systems"].items():
                # `summary`, if not null, is `summary_raw` in other tokens; the raw text treats all systems alike.
                score = finite(entry[RECALL], f"{where}: {system} {RECALL}")
                yield _judgment(row["doc_id"], system, entry["summary_raw"], row["reference_raw"], row["src"], score)


def _pickles(folder: Path) -> Iterator[Judgment]:
    files = [folder / name for name in PICKLES if (folder / name).is_file()]
    if not files:
        raise RecordError(f"{folder}: neither {' nor '.join(PICKLES)}; give the folder with the score dictionaries")
    for path in files:
        with parsing(str(path), "a score dictionary of REALSumm"):
            for row in _unpickled(path).values():
                for name, entry in row["system_summaries"].items():
                    system = f"{path.stem}/{name.removesuffix('.txt')}"
                    score = finite(entry["scores"][RECALL], f"{path}: article {row['doc_id']}, {system}")
                    yield _judgment(row["doc_id"], system, entry["system_summary"], row["ref_summ"], "", score)


def _judgment(doc: object, system: str, summary: str, reference: str, source: str, score: float) -> Judgment:
    return Judgment(str(doc), system, _sentences(summary), (_sentences(reference),), source, scores={"overall": score})


def _sentences(text: str) -> str:
    """One sentence per line if tags mark sentences, otherwise the text as it is."""
    return "\n".join(sentence for sentence in TAGS.split(text) if sentence)


def _copies(rows: list[Judgment]) -> dict[str, str]:
    """System -> an earlier system with the same text for every input."""
    texts: dict[str, dict[str, str]] = {}
    for row in rows:
        texts.setdefault(row.system, {})[row.id] = row.candidate
    first: dict[frozenset[tuple[str, str]], str] = {}
    copies = {}
    for system, by_id in texts.items():
        original = first.setdefault(frozenset(by_id.items()), system)
        if original != system:
            copies[system] = original
    return copies


class _PlainData(pickle.Unpickler):
    """Builds numbers, texts, lists and dictionaries; refuses to import anything else a pickle names."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("numpy", "dtype"):
            return np.dtype
        if name == "scalar" and module in ("numpy.core.multiarray", "numpy._core.multiarray"):
            return np.float64(0).__reduce__()[0]  # its module depends on the version of numpy
        raise pickle.UnpicklingError(f"it names {module}.{name}")


def _unpickled(path: Path) -> dict[Any, Any]:
    try:
        with path.open("rb") as file:
            content = _PlainData(file).load()
    except Exception as error:  # a damaged pickle raises nearly any
        raise RecordError(f"{path}: not a pickle of plain data ({error}); download it again") from error
    if not isinstance(content, dict):
        raise RecordError(f"{path}: a {type(content).__name__}, not a dictionary of articles")
    return content
