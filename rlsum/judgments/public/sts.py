"""Semantic textual similarity, SemEval 2012 to 2016: pairs of sentences, judged 0 to 5.

Two layouts: a table ``year``, ``subtask``, ``line``, ``score``, ``sentence1``, ``sentence2``; and the tasks' files
``STS.input.SUBTASK.txt`` and ``STS.gs.SUBTASK.txt``, in folders whose names contain the year (``STS12-en-test``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, keep, selected
from rlsum.judgments.public.tables import finite, read_lines, read_tsv
from rlsum.judgments.records import Judgment

YEAR = re.compile(r"(?<!\d)(?:20)?(1[2-6])(?!\d)")
SURPRISE = "surprise."  # a prefix of two subtasks of 2012 in file names
Pair = tuple[str, str, str, str, str, str]  # year, subtask, line, score, first and second sentence
PAIR = "pair"  # the single system


def sts(path: Path, *, years: str = "", subtasks: str = "") -> Judgments:
    """The score overall is the mean rating, 0 to 5. The first sentence is the candidate, the second its reference.

    ``years`` (``'2015 2016'``) and ``subtasks`` (``'MSRpar images'``) select; default all. A group is a subtask of a
    year, ``2012/MSRpar``; statistics may be averaged over subtasks or years, or pooled.
    """
    pairs = list(_files(path) if path.is_dir() else _table(path))
    wanted_years = selected("years", years, (pair[0] for pair in pairs))
    wanted_subtasks = selected("subtasks", subtasks, (pair[1] for pair in pairs))

    def reason(pair: Pair) -> str:
        year, subtask, _, score, _, _ = pair
        if year not in wanted_years or subtask not in wanted_subtasks:
            return "of other years or subtasks"
        return "" if score else "without a rating"

    left_out = Counter[str]()
    rows = []
    for year, subtask, line, score, first, second in keep(pairs, left_out, reason):
        group = f"{year}/{subtask}"
        scores = {"overall": finite(score, f"{path}: {group}, line {line}")}
        rows.append(Judgment(f"{group}/{line}", PAIR, first, (second,), "", group, scores))
    notes = ["the first sentence is the candidate, the second the reference", "a group is a subtask of a year"]
    return Judgments("sts", tuple(rows), left_out, notes, {"overall": (0.0, 5.0)})


def _table(path: Path) -> Iterator[Pair]:
    columns = ("year", "subtask", "line", "score", "sentence1", "sentence2")
    for row in read_tsv(path, columns):
        year, subtask, line, score, first, second = (row[name] for name in columns)
        yield year, subtask, line, score.strip(), first, second


def _files(folder: Path) -> Iterator[Pair]:
    inputs: dict[tuple[str, str], Path] = {}
    for path in sorted(folder.rglob("STS.input.*.txt")):
        key = _year(path, folder), path.name.removeprefix("STS.input.").removesuffix(".txt").removeprefix(SURPRISE)
        if key in inputs:
            raise RecordError(f"{folder}: {inputs[key]} and {path} are both {'/'.join(key)}; give the folder of one")
        inputs[key] = path
    if not inputs:
        raise RecordError(f"{folder}: no file STS.input.SUBTASK.txt in it or in its subfolders")
    for (year, subtask), path in inputs.items():
        gold = path.with_name(path.name.replace("STS.input.", "STS.gs."))
        pairs, scores = read_lines(path), read_lines(gold)
        if len(pairs) != len(scores):
            raise RecordError(f"{path} has {len(pairs):,} lines, {gold.name} {len(scores):,}; they must be parallel")
        for number, (pair, score) in enumerate(zip(pairs, scores, strict=True), 1):
            sentences = pair.split("\t")
            if len(sentences) < 2:
                raise RecordError(f"{path}:{number}: one sentence; two, separated by a tab, are expected")
            yield year, subtask, str(number), score.strip(), sentences[0], sentences[1]


def _year(path: Path, folder: Path) -> str:
    for name in reversed((folder.resolve().name, *path.relative_to(folder).parts[:-1])):
        if year := YEAR.search(name):
            return f"20{year[1]}"
    raise RecordError(f"{path}: no year from 2012 to 2016 in the names of its folders")
