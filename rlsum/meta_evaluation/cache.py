"""Scores of metrics remembered on disk, by signature and content, so that a second statistic costs seconds.

One SQLite file serves all data and all metrics; several processes may use it at once, and a kill loses no more than
the rows that were being scored. It holds numbers only, no texts, and the oldest leave when it is full.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rewards.scoring import columns_for
from rewards.wrappers.cached import Cached, Store, columns_key, content_key
from rewards.wrappers.parts import depends_on_batch
from rlsum.errors import UserError
from rlsum.judgments.records import Judgment
from rlsum.records import inputs_of

if TYPE_CHECKING:
    from rewards.base import Reward

Floats = NDArray[np.float64]
Told = Callable[[int], None]  # is handed the number of rows just scored

FILE = "scores.sqlite"
MOST = 2_000_000  # scores in the file: about 150 megabytes
CHUNK = 2_048  # rows scored before they are written


def default_folder() -> Path:
    """``rlsum`` in the user's folder of caches, which ``XDG_CACHE_HOME`` may name."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rlsum"


def scores_file(folder: Path) -> Path:
    """The file of scores in ``folder``, which is made when missing. Raises UserError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--cache {folder}: cannot be made ({error.strerror}); name another folder") from error
    return folder / FILE


def remembered(reward: Reward, parts: Sequence[Sequence[Judgment]], file: Path | None, told: Told) -> list[Floats]:
    """The scores of each of ``parts``, one vector (n,) a part; computed only where ``file`` lacks them.

    Rows of different parts never share a batch. Raises whatever the reward raises, and RewardError for a broken file.
    """
    if depends_on_batch(reward):
        return [_together(reward, part, file, told) for part in parts]
    kept = reward if file is None else Cached(reward, size=MOST, file=str(file))
    return [_one_by_one(kept, part, told) for part in parts]


def score(reward: Reward, rows: Sequence[Judgment]) -> Floats:
    """The reward's scores (n,) of judged texts."""
    return np.asarray(reward(*inputs_of(rows)), dtype=np.float64)


def _one_by_one(reward: Reward, rows: Sequence[Judgment], told: Told) -> Floats:
    """Where batch mates change nothing: the rows in chunks, each written when it is done."""
    found = []
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        found.append(score(reward, chunk))
        told(len(chunk))
    return np.concatenate(found)


def _together(reward: Reward, rows: Sequence[Judgment], file: Path | None, told: Told) -> Floats:
    """Where they do: all rows in one call, remembered for just these rows in this order."""
    if file is None:
        scores = score(reward, rows)
    else:
        store, keys = Store(str(file), MOST), list(_keys(reward, rows))
        known = _known(store, keys)
        scores = score(reward, rows) if known is None else known
        if known is None:
            store.put(
                {
                    undefined if np.isnan(value) else key: float(np.nan_to_num(value))
                    for (key, undefined), value in zip(keys, scores, strict=True)
                }
            )
    told(len(rows))
    return scores


def _known(store: Store, keys: Sequence[tuple[bytes, bytes]]) -> Floats | None:
    """The scores of all rows, None where one is not there. A row has one key for a score, and one for having none."""
    stored = store.get([key for pair in keys for key in pair])
    found = [np.nan if undefined in stored else stored.get(key) for key, undefined in keys]
    return None if None in found else np.array(found, dtype=np.float64)


def _keys(reward: Reward, rows: Sequence[Judgment]) -> Iterator[tuple[bytes, bytes]]:
    read = columns_key(columns_for(reward, inputs_of(rows).columns))
    texts = (text for row in rows for text in (row.candidate, row.source, str(len(row.references)), *row.references))
    company = content_key([reward.signature + read, *texts]).hex()
    for place in range(len(rows)):
        yield content_key([company, str(place)]), content_key([company, str(place), "undefined"])
