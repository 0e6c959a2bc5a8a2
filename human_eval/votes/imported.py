"""Existing judgments, such as public data, as votes: each judge of two texts of an input preferred the higher score;
and back.

Where judges marked errors, the text with fewer of them is preferred in these.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from human_eval.marks import Category, Mark, length
from human_eval.study import ERRORS, Pair
from human_eval.votes.votes import MarkedText, Vote, Votes
from rlsum.errors import UserError
from rlsum.judgments.choices import choices
from rlsum.judgments.collection import Judgments, mean
from rlsum.judgments.records import Judgment

MARKED = Category("marked", "Marked as an error")


def votes_of(judgments: Judgments) -> Votes:
    """Votes on every pair of systems, by the judges who scored both texts of an input.

    Inputs with one source text are one item. Sides, times and checks are unknown, so no judge is excluded. Raises
    UserError where no judge is named, or none scored two texts of an input.
    """
    inputs: dict[tuple[str, str], list[Judgment]] = {}
    for row in judgments.rows:
        inputs.setdefault((row.group, row.id), []).append(row)
    ordered = (sorted(rows, key=lambda row: row.system) for rows in inputs.values())
    rows = [vote for texts in ordered for pair in combinations(texts, 2) for vote in _votes(*pair)]
    if not rows:
        raise UserError(
            f"{judgments.name}: no judge, by name, scored two texts of an input; give raw_scores and judges"
        )
    pairs, criteria = sorted({vote.pair for vote in rows}), dict.fromkeys(vote.criterion for vote in rows)
    marked = tuple(text for row in judgments.rows for text in _marked(row))
    categories = (MARKED,) if marked else ()
    notes = tuple(f"{count:,} {reason} left out" for reason, count in judgments.left_out.items())
    asked = judgments.name, tuple(criteria), tuple(pairs), tuple(rows)
    return Votes(*asked, notes=notes, marked=marked, categories=categories)


def judgments_of(votes: Votes) -> Iterator[Judgment]:
    """The votes as judgments, from which a reward can learn: an input is an item with two systems.

    A score is the judge's preference from 0 to 1; 0.5 is no difference. Nothing if the texts are unknown.
    """
    pairs: dict[tuple[str, Pair], dict[str, dict[str, float]]] = {}
    for vote in votes.rows if votes.texts else ():
        pairs.setdefault((vote.item, vote.pair), {}).setdefault(vote.criterion, {})[vote.judge] = vote.preference
    for (item, pair), criteria in pairs.items():
        judges = tuple(dict.fromkeys(judge for by_judge in criteria.values() for judge in by_judge))
        for system, sign in zip(pair, (-1, 1), strict=True):
            raw = {
                criterion: tuple((1 + sign * by_judge[judge]) / 2 if judge in by_judge else None for judge in judges)
                for criterion, by_judge in criteria.items()
            }
            scores = {criterion: mean(values) for criterion, values in raw.items()}
            name, text, article = "/".join((item, *pair)), votes.texts[item, system], votes.articles[item]
            yield Judgment(name, system, text, (), article, "", scores, raw, judges)


def _votes(first: Judgment, second: Judgment) -> Iterator[Vote]:
    pair: Pair = (first.system, second.system)
    item, name = _item(first), _name(first)
    longer = int(np.sign(length(second.candidate) - length(first.candidate)))
    scores, other_scores = _scores(first), _scores(second)
    for criterion in (name for name in scores if name in other_scores):
        for judge, gap in choices((first.judges, scores[criterion]), (second.judges, other_scores[criterion])):
            yield Vote(criterion, pair, item, name, judge, f"{name}/{judge}", float(np.sign(gap)), longer)


def _scores(row: Judgment) -> dict[str, tuple[float | None, ...]]:
    """Criterion -> the score of each judge; of marked errors, minus their number."""
    marks = {ERRORS: tuple(-float(len(marks)) for marks in row.marks)} if row.marks else {}
    return {**row.raw_scores, **marks}


def _marked(row: Judgment) -> Iterator[MarkedText]:
    for judge, marks in zip(row.judges, row.marks, strict=True) if row.marks else ():
        errors = tuple(Mark(0, start, end, MARKED.id) for start, end in marks)
        name = _name(row)
        yield MarkedText(_item(row), name, judge, f"{name}/{judge}", row.system, row.candidate, errors)


def _item(row: Judgment) -> str:
    return row.source or _name(row)


def _name(row: Judgment) -> str:
    """An input, as it is called in tasks."""
    return "/".join(filter(None, (row.group, row.id)))
