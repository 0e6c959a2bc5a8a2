"""Two summaries of one text, head to head.

Zhang et al. (2023): a freelance writer's summary against a model's, several judgments per pair. One layout, the
authors' JSON: a list of judgments with ``article_id``, ``writer_id``, ``evaluator_id``, ``article_text``,
``writer_summary``, ``MODEL_summary``, ``overall_writer_better`` and ``informative_writer_better``.

Stiennon et al. (2020): comparisons of summaries of Reddit posts, JSONL.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Literal

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, mean
from rlsum.judgments.public.tables import parsing, read_objects
from rlsum.judgments.records import Judgment

CRITERIA = {"overall": "overall_writer_better", "informative": "informative_writer_better"}
WON = {"true": 1.0, "false": 0.0, "equally good": 0.5}  # the writer's share of a vote; the model gets the rest
WRITER, SUMMARY = "writer", "_summary"

Sides = tuple[tuple[str, str], ...]  # (policy, text) of both summaries
Votes = list[tuple[str, dict[str, Any]]]  # (file and number, the judgment as read)


def zhang2023(path: Path) -> Judgments:
    """Each score is the share of judges who preferred the text to the other one; a tie counts half.

    An input is an article with one writer's summary; its two systems are the writer and the model, so at level
    ``input`` a metric agrees if it orders the two as the judges do. No references.
    """
    pairs: dict[tuple[str, str], Votes] = {}
    for where, row in read_objects(path):
        with parsing(where, "a judgment with article_id and writer_id"):
            pairs.setdefault((row["article_id"], row["writer_id"]), []).append((where, row))
    rows = tuple(row for (article, writer), votes in pairs.items() for row in _pair(f"{article}/{writer}", votes))
    notes = ["an input is an article with one writer's summary; scores are shares of votes, a tie counts half"]
    return Judgments("zhang2023", rows, {}, notes, dict.fromkeys(CRITERIA, (0.0, 1.0)))


def tldr(path: Path, *, split: Literal["train", "valid1", "valid2"] | None = None) -> Judgments:
    """Stiennon et al. (2020): a batch of ``comparisons``, a choice between two summaries of a post a line.

    The score overall is the share of the workers who chose the text. An input is a post with two texts; its systems are
    their policies, the second of two equal ones with "#2". No references.
    """
    pairs: dict[tuple[str, Sides], list[tuple[str, float]]] = {}
    sources, left_out = {}, Counter[str]()
    for where, row in read_objects(path):
        with parsing(where, "a comparison with info, summaries and choice"):
            if split is not None and row["split"] != split:
                left_out["of another split"] += 1
                continue
            texts = [(str(summary["policy"]), str(summary["text"])) for summary in row["summaries"]]
            if len(texts) != 2 or row["choice"] not in (0, 1):
                raise RecordError(
                    f"{where}: choice={row['choice']!r} of {len(texts)} summaries; 0 or 1 of two expected"
                )
            chosen, sides = texts[row["choice"]], tuple(sorted(texts))
            post, info = str(row["info"]["id"]), row["info"]
            sources[post] = str(info["post"] if "post" in info else info["article"])
            pairs.setdefault((post, sides), []).append((str(row["worker"]), float(chosen == sides[0])))
    rows = [
        row
        for number, ((post, sides), votes) in enumerate(pairs.items(), 1)
        for row in _sides(f"{post}/{number}", sources[post], sides, votes)
    ]
    notes = ["an input is a post with two texts; overall is the share of workers who chose the text"]
    return Judgments("tldr", tuple(rows), left_out, notes, {"overall": (0.0, 1.0)})


def _sides(name: str, source: str, sides: Sides, votes: list[tuple[str, float]]) -> list[Judgment]:
    """The judgments of both texts, from (worker, 1.0 where the first was chosen)."""
    (first, text), (second, reply) = sides
    judges, won = (tuple(column) for column in zip(*votes, strict=True))
    both = ((first, text, won), (second + "#2" if first == second else second, reply, tuple(1 - vote for vote in won)))
    return [
        Judgment(name, system, written, (), source, "", {"overall": mean(votes)}, {"overall": votes}, judges)
        for system, written, votes in both
    ]


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
