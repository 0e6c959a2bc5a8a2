"""Zhang et al. (2023): head-to-head judgments of a freelance writer's summary against a model's, several a pair.

One layout, the authors' JSON: a list of judgments with ``article_id``, ``writer_id``, ``evaluator_id``,
``article_text``, ``writer_summary``, ``MODEL_summary``, ``overall_writer_better`` and ``informative_writer_better``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rlsum.judgments.collection import Judgments, mean
from rlsum.judgments.records import Judgment
from rlsum.judgments.tables import read_text
from rlsum.records import RecordError

CRITERIA = {"overall": "overall_writer_better", "informative": "informative_writer_better"}
WON = {"true": 1.0, "false": 0.0, "equally good": 0.5}  # what the writer's summary gets; the model's gets the rest
WRITER, SUMMARY = "writer", "_summary"


def zhang2023(path: Path) -> Judgments:
    """Each score is the share of judges who preferred the text to its rival, a tie counting half.

    An input is an article with one writer's summary; its two systems are the writer and the model, so that a metric
    agrees where it orders the two as the judges do (level ``input``). No references.
    """
    pairs: dict[tuple[str, str], list[tuple[str, dict[str, Any]]]] = {}
    for number, row in enumerate(_rows(path), 1):
        where = f"{path}, judgment {number}"
        try:
            pairs.setdefault((row["article_id"], row["writer_id"]), []).append((where, row))
        except (KeyError, TypeError) as error:
            raise RecordError(f"{where}: no {error}") from error
    rows = tuple(row for (article, writer), votes in pairs.items() for row in _pair(f"{article}/{writer}", votes))
    notes = ["an input is an article with one writer's summary; scores are shares of votes, ties half"]
    return Judgments("zhang2023", rows, {}, notes, dict.fromkeys(CRITERIA, (0.0, 1.0)))


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(read_text(path))
    except ValueError as error:
        raise RecordError(f"{path}: not JSON ({error})") from error
    if not isinstance(found, list):
        raise RecordError(f"{path}: a {type(found).__name__}; a list of judgments is expected")
    return found


def _pair(name: str, votes: list[tuple[str, dict[str, Any]]]) -> tuple[Judgment, Judgment]:
    where, first = votes[0]
    try:
        model = next(key for key in first if key.endswith(SUMMARY) and key != WRITER + SUMMARY)
        won = {
            criterion: tuple(WON[str(row[field]).lower()] for _, row in votes) for criterion, field in CRITERIA.items()
        }
        judges = tuple(str(row["evaluator_id"]) for _, row in votes)
        texts = {(row[WRITER + SUMMARY], row[model], row["article_text"]) for _, row in votes}
    except (KeyError, StopIteration) as error:
        raise RecordError(f"{where}: {type(error).__name__} {error} in a judgment of {name}") from error
    if len(texts) > 1:
        raise RecordError(f"{where}: the judgments of {name} are of different texts")
    ((writer_text, model_text, article),) = texts
    lost = {criterion: tuple(1 - value for value in values) for criterion, values in won.items()}
    sides = ((WRITER, writer_text, won), (model.removesuffix(SUMMARY), model_text, lost))
    writer, rival = (
        Judgment(
            id=name,
            system=system,
            candidate=text,
            references=(),
            source=article,
            scores={criterion: mean(values) for criterion, values in raw.items()},
            raw_scores=raw,
            judges=judges,
        )
        for system, text, raw in sides
    )
    return writer, rival
