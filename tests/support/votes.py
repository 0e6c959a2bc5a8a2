"""Votes for tests, from matrices."""

import numpy as np

from human_eval.votes.votes import Vote, Votes


def votes_of(matrix, *, pair=("a", "b"), criterion="overall", left=None, seconds=10.0, longer=0, item="item"):
    """Votes of a matrix (items, judges), -1 to 1 or NaN; ``left`` (items, judges) names the system on the left."""
    rows = []
    for number, row in enumerate(np.asarray(matrix, dtype=float)):
        for judge, value in enumerate(row):
            if np.isnan(value):
                continue
            names = {"item": f"{item}{number:03d}", "comparison": f"{item}{number:03d}", "judge": f"judge{judge}"}
            shown = {"left": pair[(number + judge) % 2] if left is None else left, "longer": longer}
            where = {"task": f"{item}{number}-{judge}", "position": number, "seconds": seconds}
            rows.append(
                Vote(
                    criterion=criterion,
                    pair=pair,
                    preference=value if value % 1 else int(value),
                    **names,
                    **shown,
                    **where,
                )
            )
    return rows


def study_of(rows, *, checks=(), same=(), title="a study"):
    """`Votes` with the criteria and pairs of the rows."""
    criteria = tuple(dict.fromkeys(row.criterion for row in rows))
    pairs = tuple(dict.fromkeys(row.pair for row in rows))
    return Votes(title, criteria, pairs, tuple(rows), tuple(checks), tuple(same))
