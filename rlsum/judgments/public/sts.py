"""Semantic textual similarity, SemEval 2012 to 2016: pairs of sentences, judged 0 to 5.

A table ``year``, ``subtask``, ``line``, ``score``, ``sentence1``, ``sentence2``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rlsum.judgments.collection import Judgments, keep, words
from rlsum.judgments.public.tables import finite, read_tsv
from rlsum.judgments.records import Judgment

Pair = tuple[str, str, str, str, str, str]  # year, subtask, line, score, first and second sentence
PAIR = "pair"  # the single system


def sts(path: Path, *, years: str = "", subtasks: str = "") -> Judgments:
    """The score overall is the mean rating, 0 to 5. The first sentence is the candidate, the second its reference.

    ``years`` (``'2015 2016'``) and ``subtasks`` (``'MSRpar images'``) select; default all. A group is a subtask of a
    year, ``2012/MSRpar``; statistics may be averaged over subtasks or years, or pooled.
    """
    wanted_years, wanted_subtasks = words(years), words(subtasks)

    def reason(pair: Pair) -> str:
        year, subtask, _, score, _, _ = pair
        if (wanted_years and year not in wanted_years) or (wanted_subtasks and subtask not in wanted_subtasks):
            return "of other years or subtasks"
        return "" if score else "without a rating"

    left_out = Counter[str]()
    rows = []
    for year, subtask, line, score, first, second in keep(_table(path), left_out, reason):
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
