"""What the trainings of a comparison took, as their logs say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlsum.compare.cells import Cell
from rlsum.compare.folder import best_updates, trainings
from rlsum.pages.table import SCALE, UNDEFINED, Table, text_table


def spent(cells: Sequence[Cell]) -> Table:
    """What the trainings of cells took. What they were expected to take: ``rlsum.compare.costs``."""
    return spent_table(trainings(cells), best_updates(cells))


def spent_table(
    runs: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]], updates: Mapping[str, Sequence[int]]
) -> Table:
    """What the training of each row took, from the logs of its seeds: the mean over them.

    ``updates``: title -> the update whose weights each finished training left.
    """
    rows = []
    for title, logs in runs.items():
        *means, share = np.mean([_spent(log) for log in logs], axis=0)
        numbers = (
            UNDEFINED if math.isnan(value) else f"{value:,.{digits}f}"
            for value, digits in zip(means, (0, 2, 1, 0), strict=True)
        )
        used = ", ".join(f"{step:,}" for step in updates.get(title, ())) or UNDEFINED
        rows.append((title, used, *numbers, UNDEFINED if math.isnan(share) else f"{SCALE * share:.0f}"))
    note = (
        "Checkpoint: after how many updates validation was best in each seed; these weights wrote the summaries, those "
        "of the start where it is 0. Times are without validation. Rows of equal updates differ by what their samples "
        "and rewards cost."
    )
    columns = (
        "system",
        "checkpoint",
        "updates",
        "seconds an update",
        "minutes",
        "tokens a second",
        "reward, % of the time",
    )
    return text_table("Cost", columns, rows, [note])


def _spent(rows: Sequence[Mapping[str, Any]]) -> tuple[float, ...]:
    """Updates, seconds an update, minutes, tokens a second, and the reward's share of the seconds of a run."""
    lines = [row for row in rows if row.get("kind") == "train" and row.get("updates_per_second")]
    if not lines:
        return (0.0, math.nan, math.nan, math.nan, math.nan)
    steps = np.diff([0, *(row["step"] for row in lines)])  # updates that a line sums up
    seconds = steps / [row["updates_per_second"] for row in lines]
    tokens, share = (
        float(np.average([row.get(name, math.nan) for row in lines], weights=seconds))
        for name in ("tokens_per_second", "reward_share")
    )
    return (float(steps.sum()), float(seconds.sum() / steps.sum()), float(seconds.sum()) / 60, tokens, share)
