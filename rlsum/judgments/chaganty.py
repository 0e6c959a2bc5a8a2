"""Chaganty, Mussmann and Liang (2018): judged CNN/DailyMail summaries of four neural systems, the data of Clark et al.

Two layouts: a table with one judged text a row (``id``, ``system``, ``overall``, ``grammar``, ``redundancy``, ``hter``,
each judge's numbers as a JSON list in ``overall_raw`` and so on, ``reference``, ``text``); and the authors' bundles in
one folder, ``lqual.jsonl`` (judges' numbers under ``prompts``), ``data.tar.gz`` (the texts, in its own
``lqual.jsonl``) and, where it is there, ``articles.jsonl``.
"""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from rlsum.judgments.collection import Judgments, count_joint, counted, mean, number_repeats, split_joint
from rlsum.judgments.records import Judgment
from rlsum.judgments.tables import finite, read_json_lines, read_tsv
from rlsum.records import RecordError

PROMPTS = ("overall", "grammar", "redundancy")
SCALES = dict.fromkeys(PROMPTS, (-1.0, 1.0))
JOINT = ";"
REFERENCE = "reference"  # the system whose summaries are the references themselves


def chaganty2018(path: Path, *, reference_rows: bool = False, joint: Literal["keep", "split"] = "keep") -> Judgments:
    """Scores overall, grammar and redundancy (1 = nothing said twice), and HTER negated: all higher is better.

    ``reference_rows`` keeps the judged reference summaries, which are their own references. ``joint=split`` counts
    the judgment of a text that two systems share (``ml;ml+rl``) for each of them.
    """
    rows, left_out = [], Counter[str]()
    for row in _bundles(path) if path.is_dir() else _table(path):
        if row.system == REFERENCE and not reference_rows:
            left_out["reference summaries, their own references (reference_rows=true keeps them)"] += 1
        elif row.scores["overall"] is None:
            left_out["without a judgment"] += 1
        else:
            rows.append(row)
    kept, repeats = number_repeats(rows)
    shared = count_joint(kept, JOINT)
    notes = ["negated_hter is minus the share of the summary that an editor had to change: higher is better"]
    if repeats:
        notes.append(f"{repeats} text judged a second time: a system of its own, its name ends in (2)")
    if shared:
        notes.append(f"{shared} judgment of one text of two systems: joint={joint}")
    return Judgments(
        "chaganty2018", split_joint(kept, JOINT) if joint == "split" else kept, counted(left_out), notes, SCALES
    )


def _table(path: Path) -> Iterator[Judgment]:
    columns = ("id", "system", "hter", REFERENCE, "text", *PROMPTS, *(f"{name}_raw" for name in PROMPTS))
    for row in read_tsv(path, columns):
        hter = row.number_or_none("hter")
        yield Judgment(
            id=row["id"],
            system=row["system"],
            candidate=row["text"],
            references=(row[REFERENCE],),
            source="",
            scores={
                **{name: row.number_or_none(name) for name in PROMPTS},
                "negated_hter": None if hter is None else 0.0 - hter,
            },
            raw_scores={name: row.numbers(f"{name}_raw") for name in PROMPTS},
        )


def _bundles(folder: Path) -> Iterator[Judgment]:
    texts, articles = _texts(folder / "data.tar.gz"), _articles(folder / "articles.jsonl")
    for where, row in read_json_lines(folder / "lqual.jsonl"):
        try:
            key = str(row["id"]), str(row["system"])
            said = {name: row["prompts"][name]["human"] for name in (*PROMPTS, "hter")}
            text, reference = texts[key], texts[key[0], REFERENCE]
        except (KeyError, TypeError) as error:
            raise RecordError(f"{where}: nothing for {error}, in the line or among the texts of data.tar.gz") from error
        raw = {name: tuple(finite(value, f"{where}: {name}") for value in said[name]) for name in PROMPTS}
        hter = mean([finite(value, f"{where}: hter") for value in said["hter"]])
        yield Judgment(
            id=key[0],
            system=key[1],
            candidate=text,
            references=(reference,),
            source=articles.get(key[0], ""),
            scores={
                **{name: mean(values) for name, values in raw.items()},
                "negated_hter": None if hter is None else 0.0 - hter,
            },
            raw_scores=raw,
        )


def _texts(path: Path) -> dict[tuple[str, str], str]:
    """Texts by (id, system); one that several systems share stands under each of them and under their joint name."""
    texts: dict[tuple[str, str], str] = {}
    try:
        with tarfile.open(path) as bundle:
            name = next(name for name in bundle.getnames() if name.endswith("lqual.jsonl"))
            lines = bundle.extractfile(name).read().decode("utf-8").split("\n")  # type: ignore[union-attr]
        for line in filter(str.strip, lines):
            contents: dict[str, Any] = json.loads(line)["input"]["contents"]
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
    return {str(row["id"]): str(row["text"]) for _, row in read_json_lines(path) if {"id", "text"} <= row.keys()}
