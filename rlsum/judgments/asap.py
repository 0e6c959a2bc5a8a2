"""Student essays and answers of the Automated Student Assessment Prize: ASAP-AES set 3 and all sets of ASAP-SAS.

ASAP-AES, two layouts: a table ``essay_id``, ``rater1``, ``rater2``, ``domain1_score``, ``essay``; and the contest's
``training_set_rel3.tsv`` (Windows-1252), of which set 3 is read. ASAP-SAS, two layouts: tables with ``Id``,
``EssaySet``, ``EssayText`` and ``Score1``, ``Score2`` (training) or ``Score`` (public test); and the contest's
``train*.tsv`` and ``public_leaderboard*.tsv``, the latter with its scores in ``public_leaderboard_solution.csv``
beside it.

Neither has official references: references are chosen among the best essays, and the choice is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rlsum.judgments.collection import Judgments, counted
from rlsum.judgments.records import Judgment
from rlsum.judgments.tables import Row, find_file, first_row, read_csv, read_tsv
from rlsum.records import RecordError

Splitter = Literal["punctuation", "spacy"]
RATERS = ("rater 1", "rater 2")
STUDENTS = "students"  # the one system: nobody knows who wrote what
AES_SET, AES_BEST = 3, 3.0
SAS_BEST = {number: 3.0 if number in (1, 2, 5, 6) else 2.0 for number in range(1, 11)}
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
PARAGRAPH = re.compile(r"\s*\^p\s*")


@dataclass(frozen=True)
class Choice:
    """What is kept, and what it is compared with."""

    references: int
    reference_ids: str
    sentences: str
    splitter: Splitter


def asap_aes(
    path: Path,
    *,
    references: int = 1,
    reference_ids: str = "",
    sentences: str = "",
    splitter: Splitter = "punctuation",
) -> Judgments:
    """Essays of set 3: the score overall is the resolved one, 0 to 3; raw scores are the two raters'.

    ``references``: the so many longest essays (in characters) to which every rater gave the best score serve as
    references and are left out of the rows; ``reference_ids`` names them instead (``'7599 6050'``). ``sentences``
    (``5-15``, as Clark et al. 2019) keeps the essays of so many sentences, by ``splitter``: ``punctuation`` ends one
    at white space behind ``.``, ``!`` or ``?``; ``spacy`` is the rule of the rewards.
    """
    choice = Choice(references, reference_ids, sentences, splitter)
    rows, left_out = _aes_rows(path)
    best = {row.id for row in rows if all(score == AES_BEST for score in _given(row))}
    return _finish("asap-aes", rows, best, choice, left_out, [], {"overall": (0.0, AES_BEST)})


def asap_sas(
    path: Path,
    *,
    part: Literal["train", "test"] = "train",
    sets: str = "",
    references: int = 0,
    reference_ids: str = "",
    sentences: str = "",
    splitter: Splitter = "punctuation",
) -> Judgments:
    """Answers of the ten sets: ``overall`` is the share of the set's best score, ``points`` the score as given.

    ``sets`` (``3``, ``'1 2 5'``; all by default) and, in a folder, ``part`` say what is read. A set is a group. The
    other options are those of asap-aes; references are of the answer's own set.
    """
    choice = Choice(references, reference_ids, sentences, splitter)
    wanted = _sets(sets)
    left_out = Counter[str]()
    rows = []
    for row in _sas_rows(_sas_file(path, part) if path.is_dir() else path):
        if row.group in wanted:
            rows.append(row)
        else:
            left_out[f"of other sets than {sets}"] += 1
    best = {row.id for row in rows if all(score == 1 for score in _given(row))}
    notes = ["sets 1, 2, 5 and 6 go to 3 points, the others to 2: overall is points over the set's best"]
    return _finish("asap-sas", rows, best, choice, left_out, notes, {"overall": (0.0, 1.0)})


def _aes_rows(path: Path) -> tuple[list[Judgment], Counter[str]]:
    contest = "essay_set" in first_row(path).split("\t")
    one, two = ("rater1_domain1", "rater2_domain1") if contest else ("rater1", "rater2")
    rows, left_out = [], Counter[str]()
    columns = ("essay_id", one, two, "domain1_score", "essay", *(["essay_set"] if contest else []))
    for row in read_tsv(path, columns, otherwise="cp1252"):
        if contest and row.number("essay_set") != AES_SET:
            left_out[f"of other sets than {AES_SET}"] += 1
            continue
        scores: dict[str, float | None] = {"overall": row.number("domain1_score")}
        raw = {"overall": (row.number_or_none(one), row.number_or_none(two))}
        text = _text(row["essay"])
        rows.append(Judgment(row["essay_id"], STUDENTS, text, (), "", str(AES_SET), scores, raw, RATERS))
    return rows, left_out


def _sas_rows(path: Path) -> list[Judgment]:
    header = first_row(path).split("\t")
    if "Score1" in header:
        return [_answer(row, "Score1", row.number_or_none("Score2")) for row in read_tsv(path, _columns("Score1"))]
    if "Score" in header:
        return [_answer(row, "Score") for row in read_tsv(path, _columns("Score"))]
    solution = path.with_name("public_leaderboard_solution.csv")
    if not solution.is_file():
        raise RecordError(f"{path}: no scores in it, and no {solution.name} beside it")
    scores = {row["Id"]: row["Score1"] for row in read_csv(solution, ("Id", "Score1"))}
    rows = list(read_tsv(path, ("Id", "EssaySet", "EssayText")))
    missing = [row for row in rows if row["Id"] not in scores]
    if missing:
        raise RecordError(f"{missing[0].where}: {solution.name} has no score of Id {missing[0]['Id']}")
    return [_answer(Row(row.where, {**row.cells, "Score": scores[row["Id"]]}), "Score") for row in rows]


def _columns(score: str) -> tuple[str, ...]:
    return ("Id", "EssaySet", "EssayText", score, *(["Score2"] if score == "Score1" else []))


def _answer(row: Row, score: str, second: float | None = None) -> Judgment:
    number = int(row.number("EssaySet"))
    if number not in SAS_BEST:
        raise RecordError(f"{row.where}: EssaySet {number} is not one of 1 to 10")
    best, points = SAS_BEST[number], row.number(score)
    raw: dict[str, tuple[float | None, ...]] = {}
    if score == "Score1":
        raw = {"overall": (points / best, None if second is None else second / best), "points": (points, second)}
    scores: dict[str, float | None] = {"overall": points / best, "points": points}
    return Judgment(
        row["Id"], STUDENTS, _text(row["EssayText"]), (), "", str(number), scores, raw, RATERS if raw else ()
    )


def _sas_file(folder: Path, part: str) -> Path:
    patterns = {"train": ("*train*.tsv*",), "test": ("*public_leaderboard*.tsv*",)}[part]
    found = find_file(folder, patterns)
    if found is None:
        raise RecordError(f"{folder}: no file like {patterns[0]}; give the path of the file")
    return found


def _sets(text: str) -> set[str]:
    wanted = set(re.findall(r"\d+", text)) or {str(number) for number in SAS_BEST}
    unknown = wanted - {str(number) for number in SAS_BEST}
    if unknown or (text and not re.search(r"\d", text)):
        raise RecordError(f"sets={text!r}: the sets are 1 to 10; write sets=3 or sets='1 2 5'")
    return wanted


def _text(text: str) -> str:
    """The answer itself: without the quotation marks of CSV, paragraph marks as spaces."""
    inner = text[1:-1]
    if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in inner.replace('""', ""):
        text = inner.replace('""', '"')
    return PARAGRAPH.sub(" ", text).strip()


def _given(row: Judgment) -> Sequence[float | None]:
    return row.raw_scores.get("overall") or (row.scores["overall"],)


def _finish(
    name: str,
    rows: Sequence[Judgment],
    best: set[str],
    choice: Choice,
    left_out: Counter[str],
    notes: Sequence[str],
    scales: Mapping[str, tuple[float, float]],
) -> Judgments:
    chosen, told = _choose(rows, best, choice)
    taken = {row.id for group in chosen.values() for row in group}
    keep, kept_as = _length_filter(choice)
    kept = []
    for row in rows:
        if row.id in taken:
            left_out["chosen as a reference"] += 1
        elif not keep(row.candidate):
            left_out[f"not of {kept_as}"] += 1
        else:
            kept.append(replace(row, references=tuple(other.candidate for other in chosen.get(row.group, ()))))
    return Judgments(name, tuple(kept), counted(left_out), [*notes, told], scales)


def _choose(rows: Sequence[Judgment], best: set[str], choice: Choice) -> tuple[dict[str, list[Judgment]], str]:
    """The references of each set, and the choice in words."""
    groups: dict[str, list[Judgment]] = {}
    if choice.reference_ids:
        ids = choice.reference_ids.replace(",", " ").split()
        known = {row.id: row for row in rows}
        if unknown := [name for name in ids if name not in known]:
            raise RecordError(f"reference_ids={choice.reference_ids!r}: no essay has the id {unknown[0]!r}")
        for name in ids:
            groups.setdefault(known[name].group, []).append(known[name])
        return groups, f"references: the essays {', '.join(ids)}, as asked"
    if choice.references < 0:
        raise RecordError(f"references={choice.references}: a number of essays, 0 for none, is expected")
    if choice.references == 0:
        return {}, "references: none (metrics that need some are undefined)"
    for row in sorted((row for row in rows if row.id in best), key=lambda row: (-len(row.candidate), row.id)):
        group = groups.setdefault(row.group, [])
        if len(group) < choice.references:
            group.append(row)
    if not groups:
        raise RecordError(f"references={choice.references}: no essay has the best score; name some with reference_ids")
    named = "; ".join(", ".join(row.id for row in group) for group in groups.values())
    return groups, f"references: the longest of {len(best):,} best-scored, one choice of many: {named}"


def _length_filter(choice: Choice) -> tuple[Callable[[str], bool], str]:
    if not choice.sentences:
        return lambda text: True, ""
    bounds = re.fullmatch(r"(\d+)\s*-\s*(\d+)", choice.sentences.strip())
    if not bounds or int(bounds[1]) > int(bounds[2]):
        raise RecordError(f"sentences={choice.sentences!r}: write lowest-highest, as in sentences=5-15")
    low, high = int(bounds[1]), int(bounds[2])
    count = _by_spacy if choice.splitter == "spacy" else by_punctuation
    return lambda text: low <= count(text) <= high, f"{low} to {high} sentences (by {choice.splitter})"


def by_punctuation(text: str) -> int:
    """The sentences of a text that end at white space behind ``.``, ``!`` or ``?``."""
    return len([part for part in SENTENCE_END.split(text) if part])


def _by_spacy(text: str) -> int:
    from rewards.text.sentences import sentences

    return len(sentences(text))
