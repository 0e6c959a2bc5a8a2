"""REALSumm (Bhandari et al. 2020): 100 CNN/DailyMail articles by 25 systems, judged by litePyramid recall.

Two layouts: JSONL with an article a line (``doc_id``, ``src``, ``reference_raw``, ``systems``); and the authors' score
dictionaries, ``abs.pkl`` and ``ext.pkl`` in one folder (no sources), read by an unpickler that builds plain data only.
"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rlsum.judgments.collection import Judgments, counted
from rlsum.judgments.records import Judgment
from rlsum.judgments.tables import finite, read_json_lines
from rlsum.records import RecordError

RECALL = "litepyramid_recall"
PICKLES = ("abs.pkl", "ext.pkl")
TAGS = re.compile(r"\s*</?t>\s*")


def realsumm(path: Path, *, duplicate_systems: bool = False) -> Judgments:
    """The score overall is litePyramid recall, 0 to 1.

    Texts are the untouched ones, a sentence a line where ``<t>`` marks it. ``duplicate_systems`` keeps a system whose
    every text another one has too (BART stands among the abstractive and the extractive systems).
    """
    rows = list(_pickles(path) if path.is_dir() else _articles(path))
    copies = {} if duplicate_systems else _copies(rows)
    left_out = Counter(f"of {row.system}, the same texts as {copies[row.system]} (duplicate_systems=true keeps them)"
                       for row in rows if row.system in copies)  # fmt: skip
    kept = tuple(row for row in rows if row.system not in copies)
    notes = [f"overall is {RECALL.replace('_', ' ')}; the authors' own metric scores are not read"]
    if not any(row.source for row in kept):
        notes.append("this layout holds no sources")
    return Judgments("realsumm", kept, counted(left_out), notes, {"overall": (0.0, 1.0)})


def _articles(path: Path) -> Iterator[Judgment]:
    for where, row in read_json_lines(path):
        try:
            for system, entry in row["systems"].items():
                # `summary`, where it is not null, is `summary_raw` in other tokens; one text for all is fairer.
                score = finite(entry[RECALL], f"{where}: {system} {RECALL}")
                yield _judgment(row["doc_id"], system, entry["summary_raw"], row["reference_raw"], row["src"], score)
        except (KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"{where}: not an article of REALSumm ({type(error).__name__}: {error})") from error


def _pickles(folder: Path) -> Iterator[Judgment]:
    found = [folder / name for name in PICKLES if (folder / name).is_file()]
    if not found:
        raise RecordError(f"{folder}: neither {' nor '.join(PICKLES)}; give the folder with the score dictionaries")
    for path in found:
        try:
            for row in _unpickled(path).values():
                for name, entry in row["system_summaries"].items():
                    system = f"{path.stem}/{name.removesuffix('.txt')}"
                    score = finite(entry["scores"][RECALL], f"{path}: article {row['doc_id']}, {system}")
                    yield _judgment(row["doc_id"], system, entry["system_summary"], row["ref_summ"], "", score)
        except (KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"{path}: no score dictionary ({type(error).__name__}: {error})") from error


def _judgment(doc: object, system: str, summary: str, reference: str, source: str, score: float) -> Judgment:
    return Judgment(str(doc), system, _sentences(summary), (_sentences(reference),), source, scores={"overall": score})


def _sentences(text: str) -> str:
    """A sentence a line, where tags mark sentences; else the text as it is."""
    return "\n".join(part for part in TAGS.split(text) if part)


def _copies(rows: list[Judgment]) -> dict[str, str]:
    """System -> an earlier system whose text is the same on every input."""
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
    """Builds numbers, texts, lists and dictionaries; whatever else a pickle asks for is refused unseen."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("numpy", "dtype"):
            return np.dtype
        if name == "scalar" and module in ("numpy.core.multiarray", "numpy._core.multiarray"):
            return np.float64(0).__reduce__()[0]  # numpy's own, wherever this version keeps it
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _unpickled(path: Path) -> dict[Any, Any]:
    try:
        with path.open("rb") as file:
            found = _PlainData(file).load()
    except (OSError, EOFError, pickle.UnpicklingError, ValueError, IndexError) as error:
        raise RecordError(f"{path}: no pickle of plain data ({error}); copy it again from its authors") from error
    if not isinstance(found, dict):
        raise RecordError(f"{path}: a {type(found).__name__}, not a dictionary of articles")
    return found
