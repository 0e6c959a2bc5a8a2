"""Chaganty, Mussmann and Liang (2018): judged CNN/DailyMail summaries of four systems, used by Clark et al. (2019).

Two layouts: a table with one judged text per row (``id``, ``system``, ``overall``, ``grammar``, ``redundancy``,
``hter``, the judges' scores as JSON lists in ``overall_raw`` and so on, ``reference``, ``text``); and a folder with the
authors' bundles: ``lqual.jsonl`` (the judges' scores under ``prompts``), ``data.tar.gz`` (the texts, in a
``lqual.jsonl`` inside) and, optionally, ``articles.jsonl``.
"""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rlsum.errors import RecordError
from rlsum.judgments.collection import Joint, Judgments, joint_systems, keep, mean
from rlsum.judgments.public.tables import finite, parsing, read_objects, read_tsv
from rlsum.judgments.records import Judgment
from rlsum.readers import json_value

PROMPTS = ("overall", "grammar", "redundancy")
SCALES = dict.fromkeys(PROMPTS, (-1.0, 1.0))
JOINT = ";"
REFERENCE = "reference"  # the system name of the reference summaries


def chaganty2018(path: Path, *, reference_rows: bool = False, joint: Joint = "keep") -> Judgments:
    """Scores overall, grammar, redundancy (1 = no repetition) and negated HTER: for all, higher is better.

    ``reference_rows`` keeps the judged reference summaries, which are their own references. ``joint=split`` counts
    the judgment of a text shared by two systems (``ml;ml+rl``) once for each.
    """

    def reason(row: Judgment) -> str:
        if row.system == REFERENCE and not reference_rows:
            return "reference summaries, which are their own references (reference_rows=true keeps them)"
        return "without a judgment" if row.scores["overall"] is None else ""

    left_out = Counter[str]()
    judged, repeats = _number_repeats(keep(_bundles(path) if path.is_dir() else _table(path), left_out, reason))
    rows, notes = joint_systems(judged, JOINT, joint)
    if repeats:
        notes.insert(0, f"{repeats} text judged twice: the second judgment is a system whose name ends in (2)")
    notes.insert(0, "negated_hter is minus the share of the summary that an editor had to change: higher is better")
    return Judgments("chaganty2018", rows, left_out, notes, SCALES)


def _table(path: Path) -> Iterator[Judgment]:
    columns = ("id", "system", "hter", REFERENCE, "text", *PROMPTS, *(f"{name}_raw" for name in PROMPTS))
    for row in read_tsv(path, columns):
        scores = {name: row.number_or_none(name) for name in PROMPTS}
        scores["negated_hter"] = _negated(row.number_or_none("hter"))
        raw = {name: row.numbers(f"{name}_raw") for name in PROMPTS}
        yield Judgment(row["id"], row["system"], row["text"], (row[REFERENCE],), scores=scores, raw_scores=raw)


def _bundles(folder: Path) -> Iterator[Judgment]:
    texts, articles = _texts(folder / "data.tar.gz"), _articles(folder / "articles.jsonl")
    for where, row in read_objects(folder / "lqual.jsonl"):
        with parsing(where, "a judgment with id, system and prompts, and with a text and a reference in data.tar.gz"):
            key = str(row["id"]), str(row["system"])
            human = {name: row["prompts"][name]["human"] for name in (*PROMPTS, "hter")}
            text, reference = texts[key], texts[key[0], REFERENCE]
            raw = {name: tuple(finite(value, f"{where}: {name}") for value in human[name]) for name in PROMPTS}
            hter = mean([finite(value, f"{where}: hter") for value in human["hter"]])
        scores = {**{name: mean(values) for name, values in raw.items()}, "negated_hter": _negated(hter)}
        yield Judgment(*key, text, (reference,), articles.get(key[0], ""), scores=scores, raw_scores=raw)


def _negated(hter: float | None) -> float | None:
    return None if hter is None else 0.0 - hter


def _number_repeats(rows: Sequence[Judgment]) -> tuple[list[Judgment], int]:
    """Rows whose key has occurred before get the system ``name (2)``; also returns how many there are."""
    counts: Counter[tuple[str, str, str]] = Counter()
    numbered = []
    for row in rows:
        counts[row.key] += 1
        number = counts[row.key]
        numbered.append(replace(row, system=f"{row.system} ({number})") if number > 1 else row)
    return numbered, len(rows) - len(counts)


def _texts(path: Path) -> dict[tuple[str, str], str]:
    """Texts by (id, system). A text of several systems is listed under each of them and under their joint name."""
    texts: dict[tuple[str, str], str] = {}
    try:
        with tarfile.open(path) as bundle:
            name = next(name for name in bundle.getnames() if name.endswith("lqual.jsonl"))
            lines = bundle.extractfile(name).read().decode("utf-8").split("\n")  # type: ignore[union-attr]
        for line in filter(str.strip, lines):
            contents: dict[str, Any] = json_value(line)["input"]["contents"]
            for system in (contents["system"], *contents["system"].split(JOINT)):
                texts[str(contents["id"]), system] = contents["text"]
    except (OSError, EOFError, tarfile.TarError, StopIteration, ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"{path}: no texts ({type(error).__name__}: {error}); it must hold a lqual.jsonl with input.contents"
        ) from error
    return texts


def _articles(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    return {str(row["id"]): str(row["text"]) for _, row in read_objects(path) if {"id", "text"} <= row.keys()}
