"""Zhang et al. (2023): head-to-head judgments of a freelance writer's summary against a model's, several per pair.

One layout, the authors' JSON: a list of judgments with ``article_id``, ``writer_id``, ``evaluator_id``,
``article_text``, ``writer_summary``, ``MODEL_summary``, ``overall_writer_better`` and ``informative_writer_better``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, mean
from rlsum.judgments.records import Judgment
from rlsum.judgments.tables import parsing, read_text
from rlsum.readers import NotJson, json_value

CRITERIA = {"overall": "overall_writer_better", "informative": "informative_writer_better"}
WON = {"true": 1.0, "false": 0.0, "equally good": 0.5}  # the writer's share of a vote; the model gets the rest
WRITER, SUMMARY = "writer", "_summary"

Votes = list[tuple[str, dict[str, Any]]]  # (file and number, the judgment as read)


def zhang2023(path: Path) -> Judgments:
    """Each score is the share of judges who preferred the text to the other one; a tie counts half.

    An input is an article with one writer's summary; its two systems are the writer and the model, so at level
    ``input`` a metric agrees if it orders the two as the judges do. No references.
    """
    pairs: dict[tuple[str, str], Votes] = {}
    for number, row in enumerate(_rows(path), 1):
        where = f"{path}, judgment {number}"
        with parsing(where, "a judgment with article_id and writer_id"):
            pairs.setdefault((row["article_id"], row["writer_id"]), []).append((where, row))
    rows = tuple(row for (article, writer), votes in pairs.items() for row in _pair(f"{article}/{writer}", votes))
    notes = ["an input is an article with one writer's summary; scores are shares of votes, a tie counts half"]
    return Judgments("zhang2023", rows, {}, notes, dict.fromkeys(CRITERIA, (0.0, 1.0)))


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        rows = json_value(read_text(path))
    except NotJson as error:
        raise RecordError(f"{path}: {error}; copy it again") from error
    if not isinstance(rows, list):
        raise RecordError(f"{path}: a {type(rows).__name__}; a list of judgments is expected")
    return rows


def _pair(name: str, votes: Votes) -> list[Judgment]:
    """The judgments of the writer's summary and of the model's."""
    where, first = votes[0]
    keys = [key for key in first if key.endswith(SUMMARY) and key != WRITER + SUMMARY]
    with parsing(where, f"a complete judgment of {name}"):
        if not keys:
            raise KeyError(f"MODEL{SUMMARY}")
        won = {score: tuple(WON[str(row[field]).lower()] for _, row in votes) for score, field in CRITERIA.items()}
        judges = tuple(str(row["evaluator_id"]) for _, row in votes)
        texts = {(row[WRITER + SUMMARY], row[keys[0]], row["article_text"]) for _, row in votes}
    if len(texts) > 1:
        raise RecordError(f"{where}: the judgments of {name} have different texts")
    ((writer_text, model_text, article),) = texts
    lost = {score: tuple(1 - value for value in values) for score, values in won.items()}
    sides = ((WRITER, writer_text, won), (keys[0].removesuffix(SUMMARY), model_text, lost))
    return [
        Judgment(name, system, text, (), article, "", {score: mean(raw[score]) for score in raw}, raw, judges)
        for system, text, raw in sides
    ]
