"""Student essays and answers of the Automated Student Assessment Prize: ASAP-AES set 3 and all sets of ASAP-SAS.

ASAP-AES, two layouts: a table ``essay_id``, ``rater1``, ``rater2``, ``domain1_score``, ``essay``; and the contest's
``training_set_rel3.tsv`` (Windows-1252), of which set 3 is read. ASAP-SAS: tables with ``Id``,
``EssaySet``, ``EssayText`` and ``Score1``, ``Score2`` (training) or ``Score`` (public test).
Neither has official references: of essays they are chosen among the best, and a note names them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, keep, selected, words
from rlsum.judgments.public.tables import Row, find_file, first_row, read_tsv
from rlsum.judgments.records import Judgment

RATERS = ("rater 1", "rater 2")
STUDENTS = "students"  # the single system: the data do not say who wrote what
AES_SET, AES_BEST = 3, 3.0
NO_REFERENCES = "references: none (metrics that need references are undefined)"
SAS_BEST = {number: 3.0 if number in (1, 2, 5, 6) else 2.0 for number in range(1, 11)}
SAS_FILES = {"train": "*train*.tsv*", "test": "*public_leaderboard*.tsv*"}
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
PARAGRAPH = re.compile(r"\s*\^p\s*")


def asap_aes(path: Path, *, references: int = 1, reference_ids: str = "", sentences: str = "") -> Judgments:
    """Essays of set 3: the score overall is the resolved one, 0 to 3; raw scores are those of the two raters.

    ``references``: this many of the longest essays (in characters) with the best score from every rater become
    references and are removed from the rows; ``reference_ids`` names them instead (``'7599 6050'``). ``sentences``
    (``5-15``, as Clark et al. 2019) keeps essays of that many sentences, which end at white space after ``.``, ``!`` or
    ``?``.
    """
    left_out = Counter[str]()
    essays = _aes_rows(path, left_out)
    chosen, note = _references(essays, references, reference_ids)
    texts = tuple(row.candidate for row in chosen)
    ids = {row.id for row in chosen}
    essays = keep(essays, left_out, lambda row: "chosen as a reference" if row.id in ids else "")
    rows = tuple(replace(row, references=texts) for row in _of_length(essays, sentences, left_out))
    return Judgments("asap-aes", rows, left_out, [note], {"overall": (0.0, AES_BEST)})


def asap_sas(path: Path, *, part: Literal["train", "test"] = "train", sets: str = "", sentences: str = "") -> Judgments:
    """Answers of the ten sets: ``points`` is the score, ``overall`` its share of the highest score of the set.

    ``sets`` (``3``, ``'1 2 5'``, ``1-5``; default all) selects sets and, in a folder, ``part`` selects the file. A set
    is a group. ``sentences`` is that of asap-aes.
    """
    left_out = Counter[str]()
    file = find_file(path, SAS_FILES[part]) if path.is_dir() else path
    if file is None:
        raise RecordError(f"{path}: no file like {SAS_FILES[part]}; give the path of the file")
    answers = _sas_rows(file)
    chosen = selected("sets", sets, (row.group for row in answers))
    answers = keep(answers, left_out, lambda row: "" if row.group in chosen else f"of other sets than {sets}")
    rows = tuple(_of_length(answers, sentences, left_out))
    notes = ["overall is points over the highest score of the set: 3 in sets 1, 2, 5 and 6, otherwise 2", NO_REFERENCES]
    return Judgments("asap-sas", rows, left_out, notes, {"overall": (0.0, 1.0)})


def _aes_rows(path: Path, left_out: Counter[str]) -> list[Judgment]:
    contest = "essay_set" in first_row(path).split("\t")
    first, second = ("rater1_domain1", "rater2_domain1") if contest else ("rater1", "rater2")
    columns = ("essay_id", first, second, "domain1_score", "essay", *(["essay_set"] if contest else []))

    def reason(row: Row) -> str:
        return f"of other sets than {AES_SET}" if contest and row.number("essay_set") != AES_SET else ""

    rows = []
    for row in keep(read_tsv(path, columns, otherwise="cp1252"), left_out, reason):
        scores: dict[str, float | None] = {"overall": row.number("domain1_score")}
        raw = {"overall": (row.number_or_none(first), row.number_or_none(second))}
        text = _text(row["essay"])
        rows.append(Judgment(row["essay_id"], STUDENTS, text, (), "", str(AES_SET), scores, raw, RATERS))
    return rows


def _sas_rows(path: Path) -> list[Judgment]:
    header, columns = first_row(path).split("\t"), ("Id", "EssaySet", "EssayText")
    if "Score1" in header:
        rows = read_tsv(path, (*columns, "Score1", "Score2"))
        return [_answer(row, row.number("Score1"), row.number_or_none("Score2")) for row in rows]
    return [_answer(row, row.number("Score")) for row in read_tsv(path, (*columns, "Score"))]


def _answer(row: Row, points: float, *second: float | None) -> Judgment:
    """The judgment of an answer with ``points`` and, in the training part, the points of a ``second`` rater."""
    number = int(row.number("EssaySet"))
    if number not in SAS_BEST:
        raise RecordError(f"{row.where}: EssaySet {number} is not one of 1 to 10")
    best, raw = SAS_BEST[number], {}
    if second:
        shares = tuple(None if value is None else value / best for value in (points, *second))
        raw = {"overall": shares, "points": (points, *second)}
    scores = {"overall": points / best, "points": points}
    text = _text(row["EssayText"])
    return Judgment(row["Id"], STUDENTS, text, (), "", str(number), scores, raw, RATERS if raw else ())


def _text(text: str) -> str:
    """The answer without the quotation marks of CSV, with paragraph marks as spaces."""
    inner = text[1:-1]
    if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in inner.replace('""', ""):
        text = inner.replace('""', '"')
    return PARAGRAPH.sub(" ", text).strip()


def _references(rows: Sequence[Judgment], count: int, reference_ids: str) -> tuple[list[Judgment], str]:
    """The essays that serve as references, and a note that names them."""
    if reference_ids:
        ids = words(reference_ids)
        by_id = {row.id: row for row in rows}
        if unknown := [name for name in ids if name not in by_id]:
            raise RecordError(f"reference_ids={reference_ids!r}: no essay has the id {unknown[0]!r}")
        return [by_id[name] for name in ids], f"references: the essays {', '.join(ids)}, as requested"
    if count < 0:
        raise RecordError(f"references={count}: must be a number of essays, or 0 for none")
    if count == 0:
        return [], NO_REFERENCES
    best = [row for row in rows if all(score == AES_BEST for score in row.raw_scores["overall"])]
    chosen = sorted(best, key=lambda row: (-len(row.candidate), row.id))[:count]
    if not chosen:
        raise RecordError(f"references={count}: no essay has the best score; name some with reference_ids")
    names = ", ".join(row.id for row in chosen)
    return chosen, f"references: the longest of {len(best):,} essays with the best score: {names}"


def _of_length(rows: list[Judgment], sentences: str, left_out: Counter[str]) -> list[Judgment]:
    """The texts of so many ``sentences``; all of them if it is empty."""
    if not sentences:
        return rows
    bounds = re.fullmatch(r"(\d+)\s*-\s*(\d+)", sentences.strip())
    if not bounds or int(bounds[1]) > int(bounds[2]):
        raise RecordError(f"sentences={sentences!r}: write lowest-highest, as in sentences=5-15")
    low, high = int(bounds[1]), int(bounds[2])
    why = f"not of {low} to {high} sentences (by punctuation)"
    return keep(rows, left_out, lambda row: "" if low <= by_punctuation(row.candidate) <= high else why)


def by_punctuation(text: str) -> int:
    """The number of sentences of a text; a sentence ends at white space after ``.``, ``!`` or ``?``."""
    return len([sentence for sentence in SENTENCE_END.split(text) if sentence])
