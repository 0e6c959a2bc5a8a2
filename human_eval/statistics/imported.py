"""Existing judgments, such as public data, as votes: each judge of two texts of an input preferred the higher score."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from human_eval.marks import length
from human_eval.statistics.votes import Vote, Votes
from human_eval.study import Pair
from rlsum.errors import UserError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment


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
    pairs = dict.fromkeys(sorted({vote.pair for vote in rows}))
    return Votes(judgments.name, tuple(dict.fromkeys(vote.criterion for vote in rows)), tuple(pairs), tuple(rows))


def _votes(first: Judgment, second: Judgment) -> Iterator[Vote]:
    pair: Pair = (first.system, second.system)
    item, name = first.source or first.id, "/".join(filter(None, (first.group, first.id)))
    longer = int(np.sign(length(second.candidate) - length(first.candidate)))
    for criterion in first.raw_scores.keys() & second.raw_scores.keys():
        seconds = dict(zip(second.judges, second.raw_scores[criterion], strict=True))
        for judge, score in zip(first.judges, first.raw_scores[criterion], strict=True):
            other = seconds.get(judge)
            if score is not None and other is not None:
                preference = float(np.sign(other - score))
                yield Vote(criterion, pair, item, name, judge, f"{name}/{judge}", preference, longer)
