"""SQuALITY (Wang et al. 2022): answers to questions about stories, each read by three of four reviewers.

One layout, JSONL of ``{"id", "story", "question", "references", "system", "candidate", "reviews": [{"judge", "overall",
"correctness", "coverage", "marks": [{"text", "comments"}]}]}``, and ``stories.jsonl[.gz]`` beside it: ``{"story",
"text"}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, mean
from rlsum.judgments.public.tables import find_file, finite, parsing, read_objects
from rlsum.judgments.records import Judgment

SCORES = ("overall", "correctness", "coverage")


def squality(path: Path) -> Judgments:
    """Scores of 0 to 100 are means over the reviewers, and marks are the passages that each of them found at fault.

    An input is a question; its source is the story, which several questions share. ``path``: the folder, or the file of
    reviews in it. A passage that is nowhere in the answer is left out.
    """
    reviews = find_file(path, "*reviews.jsonl*") if path.is_dir() else path
    stories = find_file(reviews.parent, "stories.jsonl*") if reviews else None
    if not reviews or not stories:
        raise RecordError(f"{path}: no {'stories' if reviews else '*reviews'}.jsonl; give the folder with both files")
    texts = {}
    for where, row in read_objects(stories):
        with parsing(where, "a story with its text"):
            texts[row["story"]] = str(row["text"])
    rows, lost = [], 0
    for where, row in read_objects(reviews):
        with parsing(where, "an answer with reviews of a story of stories.jsonl"):
            judges = [str(review["judge"]) for review in row["reviews"]]
            raw = {
                name: tuple(finite(review[name], f"{where}: {name}") for review in row["reviews"]) for name in SCORES
            }
            marks = [_places(row["candidate"], [mark["text"] for mark in review["marks"]]) for review in row["reviews"]]
            lost += sum(len(review["marks"]) for review in row["reviews"]) - sum(map(len, marks))
            scores = {name: mean(values) for name, values in raw.items()}
            who = (row["id"], row["system"], row["candidate"], tuple(row["references"]), texts[row["story"]])
            rows.append(Judgment(*who, "", scores, raw, tuple(judges), tuple(marks)))
    notes = ["an input is a question, several of which are about one story; scores are means over reviewers"]
    left_out = {"marked passages that are not in the answer": lost} if lost else {}
    return Judgments("squality", tuple(rows), left_out, notes, dict.fromkeys(SCORES, (0.0, 100.0)))


def _places(text: str, passages: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Where passages are in a text, whatever the white space; one that is there twice, at its first place."""
    patterns = (r"\s+".join(map(re.escape, passage.split())) for passage in passages)
    return tuple(sorted(match.span() for pattern in patterns if pattern and (match := re.search(pattern, text))))
