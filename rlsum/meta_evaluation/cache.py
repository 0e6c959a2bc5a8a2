"""A cache of metric scores on disk, by signature and content: one SQLite file, for several processes at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rewards.base import Reward
from rewards.scoring import check_scores
from rewards.wrappers.cached import Cached
from rewards.wrappers.inner import depends_on_batch
from rlsum.errors import UserError, option
from rlsum.evaluation.rows import Floats
from rlsum.judgments.records import Judgment
from rlsum.records import inputs_of

Progress = Callable[[int], None]  # called with the number of rows just scored

FILE = "scores.sqlite"
MOST = 2_000_000  # scores in the file: about 150 MB
CHUNK = 2_048  # rows scored before they are written


def default_folder() -> Path:
    """``rlsum`` in ``XDG_CACHE_HOME`` or ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rlsum"


def scores_file(folder: Path) -> Path:
    """The cache file in ``folder``, which is created if missing. Raises UserError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{option('cache', folder)}: cannot be created ({error.strerror}); give another folder"
        ) from error
    return folder / FILE


def cached_scores(
    reward: Reward, parts: Sequence[Sequence[Judgment]], file: Path | None, progress: Progress
) -> list[Floats]:
    """The scores (n,) of each of ``parts``, which share no batch; only those that are not in ``file`` are computed.

    Raises the reward's errors, and RewardError for a broken file.
    """
    if depends_on_batch(reward):  # its scores are of no use beside other rows
        return [_in_chunks(reward, part, progress, len(part)) for part in parts]
    cached = reward if file is None else Cached(reward, size=MOST, file=str(file))
    return [_in_chunks(cached, part, progress, CHUNK) for part in parts]


def _in_chunks(reward: Reward, rows: Sequence[Judgment], progress: Progress, size: int) -> Floats:
    """The reward's scores (n,) of judged texts, scored and written so many at a time."""
    scores = []
    for start in range(0, len(rows), size):
        inputs = inputs_of(rows[start : start + size])
        scores.append(check_scores(reward.name, reward(*inputs), inputs))
        progress(len(scores[-1]))
    return np.concatenate(scores)
