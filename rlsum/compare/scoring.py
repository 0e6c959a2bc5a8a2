"""Scores of the cells' summaries: each file scored once by each metric; a metric that cannot score keeps its reason."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rewards.base import Reward, RewardError, from_spec
from rewards.plain import Plain
from rewards.specs import as_spec
from rewards.text.debris import LEAST, column_of
from rewards.text.words import nfc
from rlsum.errors import RecordError
from rlsum.evaluation.rows import Floats
from rlsum.files import file_digest, write_atomically
from rlsum.objective import RewardSpec
from rlsum.readers import json_object
from rlsum.records import Output, defined, inputs_of, read_outputs
from rlsum.scoring.debris import clean_records
from rlsum.scoring.outputs import measure_properties, score_column

SIGNS = re.compile(r"[()\[\]=,'\"]+")  # between the names and values of a spec


@dataclass(frozen=True)
class Scores:
    """Scores of one file of summaries, (n,) each, NaN where undefined.

    references  (n,) a hash of the references of each summary: scores against others are not comparable
    articles    (n,) a hash of the article of each summary, "" where the file has none
    specs       metric -> its spec as text; a score is computed again when it changes
    signatures  metric -> what its scores depend on
    missing     metric -> why it could not score
    debris      what is in the summaries though it is no part of a text
    outputs     `file_digest` of the file
    stamps      metric -> its `stamp` when it scored, where that is not ""
    """

    ids: tuple[str, ...]
    references: tuple[str, ...]
    articles: tuple[str, ...]
    metrics: dict[str, Floats]
    properties: dict[str, Floats]
    specs: dict[str, str]
    signatures: dict[str, str]
    missing: dict[str, str] = field(default_factory=dict)
    debris: list[str] = field(default_factory=list)
    outputs: str = ""
    stamps: dict[str, str] = field(default_factory=dict)


NO_SCORES = Scores((), (), (), {}, {}, {}, {})

FIX = "remove it, and run the comparison again: it makes what is missing"


def read_scores(path: Path) -> Scores:
    """The scores that ``score_file`` wrote."""
    values = json_object(path, FIX)
    try:
        for key in ("metrics", "properties"):
            values[key] = {name: _floats(column) for name, column in values[key].items()}
        return Scores(**{**values, **{key: tuple(values[key]) for key in ("ids", "references", "articles")}})
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{path}: not a file of scores; {FIX}") from error


def stamp(spec: RewardSpec) -> str:
    """What changes with a metric, seen without loading it: sizes and times of the files that its spec names, and the
    signatures of plain functions. "" of a metric without either. Another stamp may be of the same metric: of a copy.
    """
    seen = []
    for text in dict.fromkeys([*filter(None, SIGNS.split(str(as_spec(spec)))), *_values_of(as_spec(spec).plain())]):
        files = [Path(text)]
        with suppress(OSError):  # a prompt, which no file can be named; a folder of somebody else
            files = sorted(Path(text).iterdir()) if Path(text).is_dir() else files
        if ":" in text and not SIGNS.search(text):
            with suppress(Exception):  # no function, or one that cannot be imported, which scoring says
                if module := find_spec(text.partition(":")[0]):
                    files.append(Path(str(module.origin)))
                seen += [reward.signature for reward in [from_spec(text)] if isinstance(reward, Plain)]
        for file in files:
            with suppress(OSError):
                seen += [f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}"] if file.is_file() else []
    return hashlib.sha256("\n".join(seen).encode()).hexdigest()[:12] if seen else ""


def _values_of(value: Any) -> Iterator[str]:
    """The texts in a spec, whole: the name of a file may have signs."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _values_of(member)


def changed(scores: Scores, specs: Mapping[str, RewardSpec]) -> list[str]:
    """The metrics that may be others than those that scored; not those whose files are gone, which stay as they are."""
    now = {name: stamp(specs[name]) for name in scores.metrics if name in specs}
    return [name for name, text in now.items() if text and text != scores.stamps.get(name)]


def unsettled(scores: Scores, specs: Mapping[str, RewardSpec], retry: bool = False) -> list[str]:
    """The metrics that have neither scores nor a reason, or those of another spec; with ``retry`` a reason is none."""
    settled = set(scores.metrics) | (set() if retry else set(scores.missing))
    return [name for name, spec in specs.items() if name not in settled or scores.specs[name] != str(as_spec(spec))]


def up_to_date(outputs: Path, path: Path, specs: Mapping[str, RewardSpec], retry: bool = False) -> bool:
    """Whether ``path`` has a score or a reason for every metric, as it is, of ``outputs`` as they are; with ``retry`` a
    reason does not count.
    """
    if not path.exists():
        return False
    scores = read_scores(path)
    return not unsettled(scores, specs, retry) and scores.outputs == file_digest(outputs) and not changed(scores, specs)


def score_file(outputs: Path, path: Path, specs: Mapping[str, RewardSpec]) -> dict[str, str]:
    """Score the summaries in ``outputs`` by the metrics that ``path`` lacks for these texts; returns metric -> why not.

    Raises RecordError as `read_unique` does.
    """
    content, records = file_digest(outputs), read_unique(outputs)
    inputs = inputs_of(records)
    cleaned = all(as_spec(spec).name == "cleaned" for spec in specs.values())
    measured = clean_records(records) if cleaned else records
    earlier = read_scores(path) if path.exists() else NO_SCORES
    if earlier.outputs != content:
        earlier = NO_SCORES  # the file is replaced and never removed, since others may be reading it
    metrics, signatures, missing = {}, {}, {}
    stamps = {name: stamp(spec) for name, spec in specs.items()}  # before they are loaded: a file may change meanwhile
    for name, spec in specs.items():
        known = name in earlier.metrics and earlier.specs[name] == str(as_spec(spec))
        try:
            if not known or changed(earlier, {name: spec}):
                metric = _metric(json.dumps(spec))
                known = known and metric.signature == earlier.signatures[name]
            metrics[name] = earlier.metrics[name] if known else score_column(metric, inputs)
            signatures[name] = earlier.signatures[name] if known else metric.signature
        except Exception as error:  # one metric's fault must not cost the others' scores; the report shows it
            missing[name] = reason(error)
    scores = {
        "ids": [record.id for record in records],
        "references": [_hash(record.references) for record in records],
        "articles": [_hash([record.source]) if record.source else "" for record in records],
        "metrics": {name: _values(column) for name, column in metrics.items()},
        "properties": {name: _values(column) for name, column in measure_properties(measured).items()},
        "specs": {name: str(as_spec(spec)) for name, spec in specs.items()},
        "signatures": signatures,
        "missing": missing,
        "debris": column_of(record.candidate for record in records).counts(LEAST),
        "outputs": content,
        "stamps": {name: stamps[name] for name in metrics if stamps[name]},
    }
    write_atomically(path, json.dumps(scores).encode())
    return missing


def reason(error: Exception) -> str:
    """An error in one line for a report."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if isinstance(error, RewardError) else f"{type(error).__name__}: {text}"


@cache
def _metric(spec: str) -> Reward:
    """Loaded once a process, so that vectors are read and references analysed once."""
    return from_spec(json.loads(spec))


def read_unique(path: Path) -> list[Output]:
    """The outputs of a file. Raises RecordError where it cannot be read or has an article twice."""
    outputs = read_outputs(path)
    for name, count in Counter(output.id for output in outputs).items():
        if count > 1:
            raise RecordError(f"{path}: {count} outputs with id {name!r}; keep one")
    return outputs


def _hash(texts: Sequence[str]) -> str:
    """Of the letters and digits alone: a model's outputs have the texts as it read them, lower-cased and split."""
    letters = ["".join(filter(_counts, nfc(text).lower())) for text in texts]
    return hashlib.sha256(json.dumps(letters).encode()).hexdigest()[:12]


def _counts(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def _values(column: Floats) -> list[float | None]:
    return list(defined({str(row): float(value) for row, value in enumerate(column)}).values())


def _floats(column: Any) -> Floats:
    return np.array([np.nan if value is None else value for value in column], dtype=np.float64)
