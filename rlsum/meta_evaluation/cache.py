"""A cache of metric scores on disk, by signature and content: one SQLite file, for several processes at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from rewards.base import Reward
from rewards.scoring import check_scores, columns_for
from rewards.wrappers.cached import Cached, Store, columns_key, content_key
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
    reward: Reward, groups: Sequence[Sequence[Judgment]], file: Path | None, progress: Progress
) -> list[Floats]:
    """The scores (n,) of each of ``groups``, which share no batch; only those that are not in ``file`` are computed.

    Raises the reward's errors, and RewardError for a broken file.
    """
    if depends_on_batch(reward):
        return [_together(reward, rows, file, progress) for rows in groups]
    cached = reward if file is None else Cached(reward, size=MOST, file=str(file))
    return [_in_chunks(cached, rows, progress) for rows in groups]


def score(reward: Reward, rows: Sequence[Judgment]) -> Floats:
    """The reward's scores (n,) of judged texts."""
    inputs = inputs_of(rows)
    return check_scores(reward.name, reward(*inputs), inputs)


def _in_chunks(reward: Reward, rows: Sequence[Judgment], progress: Progress) -> Floats:
    """For a reward that is independent of the batch: rows are scored and written in chunks."""
    scores = []
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        scores.append(score(reward, chunk))
        progress(len(chunk))
    return np.concatenate(scores)


def _together(reward: Reward, rows: Sequence[Judgment], file: Path | None, progress: Progress) -> Floats:
    """For a reward that depends on the batch: all rows in one call, cached for exactly these rows in this order."""
    store = None if file is None else Store[float](str(file), MOST)
    keys = list(_keys(reward, rows)) if store else []
    stored = store.get([key for pair in keys for key in pair]) if store else {}
    cached = [np.nan if undefined in stored else stored.get(key) for key, undefined in keys]
    scores = score(reward, rows) if None in cached or not store else np.array(cached, dtype=np.float64)
    if store and None in cached:
        pairs = zip(keys, scores, strict=True)
        store.put({undefined if np.isnan(x) else key: float(np.nan_to_num(x)) for (key, undefined), x in pairs})
    progress(len(rows))
    return scores


def _keys(reward: Reward, rows: Sequence[Judgment]) -> Iterator[tuple[bytes, bytes]]:
    """Two keys of each row: for a score, and for an undefined one."""
    read = columns_key(columns_for(reward, inputs_of(rows).columns))
    texts = (text for row in rows for text in (row.candidate, row.source, str(len(row.references)), *row.references))
    batch = content_key([reward.signature + read, *texts]).hex()
    for number in range(len(rows)):
        yield content_key([batch, str(number)]), content_key([batch, str(number), "undefined"])
