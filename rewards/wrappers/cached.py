"""A cache of scores by the content of candidate, references, source and columns, in memory and in a file."""

from __future__ import annotations

import hashlib
import os
import pickle
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.scoring import Inputs, Item, references_of
from rewards.wrappers.inner import Wrapper, check_alone

BUSY = 60.0  # seconds to wait while another process writes to the file
KEYS = 500  # in one query


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have readers not wait for a writer. SQLite does not wait itself where another process does this just now."""
    end = time.monotonic() + BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)


def content_key(texts: Iterable[str]) -> bytes:
    """A hash of texts in order. Lengths are hashed too, so that ("ab", "c") differs from ("a", "bc")."""
    content = hashlib.blake2b(digest_size=16)
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        content.update(b"%d:" % len(encoded) + encoded)
    return content.digest()


def columns_key(columns: Mapping[str, Any]) -> str:
    """A hash of the names of columns and the pickled bytes of their values; "" without columns."""
    return f"|columns:{hashlib.sha256(pickle.dumps(dict(columns))).hexdigest()}" if columns else ""


def item_key(prefix: str, item: Item) -> bytes:
    """A hash of ``prefix`` and the content of one item."""
    prefix += columns_key(item.columns or {})
    source = "" if item.source is None else "source" + item.source
    return content_key([prefix, item.candidate, source, *(item.references or ())])


@dataclass(eq=False, repr=False)
class Cached(Wrapper):
    """A cache of another reward's scores, for rewards that cost more than a look-up.

    Range, floor and signature are those of the inner reward. Several processes and several rewards may share a file:
    its keys contain the signature, so a changed option never finds an old score.
    """

    name = "cached"

    size: Annotated[int, Ge(1)] = 100_000
    """how many scores are kept; the least recently used are dropped"""
    file: str | None = None
    """an SQLite file that keeps them after this run; none: memory only"""

    def __post_init__(self) -> None:
        if self.file is not None and not Path(self.file).absolute().parent.is_dir():
            raise RewardError(f"cached: file={self.file!r}: its folder does not exist; create it first")
        super().__post_init__()
        self._kept: OrderedDict[bytes, float] = OrderedDict()
        self._store = None if self.file is None else Store[float](self.file, self.size)

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64, equal to the inner reward's, the floor for an empty candidate included.

        NaN is not cached, so its reason is always current. Raises RewardError for a reward whose scores depend on the
        rest of the batch.
        """
        if inputs.references is not None:
            references_of(self.name, inputs)
        check_alone(self.name, self.reward)
        prefix = self.reward.signature  # at each call: a mean of texts may be fitted anew
        keys = [item_key(prefix, inputs.item(row)) for row in range(len(inputs.candidates))]
        scores_of = self._look_up(keys)
        new = list({key: row for row, key in enumerate(keys) if key not in scores_of}.values())
        if new:
            scores = self.reward(*inputs.take(new))
            scored = {keys[row]: float(score) for row, score in zip(new, scores, strict=True)}
            scores_of |= scored
            defined = {key: score for key, score in scored.items() if score == score}
            self._remember(defined)
            if self._store is not None and defined:
                self._store.put(defined)
        return np.array([scores_of[key] for key in keys], dtype=np.float64)

    @property
    def signature(self) -> str:
        """The signature of the inner reward: a cache does not change a score."""
        return self.reward.signature

    def reason(self, item: Item) -> str | None:
        """The inner reward's reason."""
        return self.reward.undefined(*item)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": OrderedDict()}

    def _look_up(self, keys: list[bytes]) -> dict[bytes, float]:
        remembered = {key: self._kept[key] for key in keys if key in self._kept}
        for key in remembered:
            self._kept.move_to_end(key)
        if self._store is not None and len(remembered) < len(set(keys)):
            stored = self._store.get([key for key in dict.fromkeys(keys) if key not in remembered])
            self._remember(stored)
            remembered |= stored
        return remembered

    def _remember(self, scores: dict[bytes, float]) -> None:
        self._kept |= scores
        while len(self._kept) > self.size:
            self._kept.popitem(last=False)


Kept = TypeVar("Kept")


class Store(Generic[Kept]):
    """An SQLite file, key -> score or text, that drops the oldest entries when it holds more than ``size``.

    Safe if a process is killed or several write. ``table``: of these values; ``owner``: the reward in messages. It is
    opened when it is first used; then RewardError is raised for a file that is no database or cannot be used.
    """

    def __init__(self, file: str, size: int, table: str = "scores", owner: str = "cached") -> None:
        self.file, self.size, self.table, self.owner = file, size, table, owner
        self._opened: tuple[int, sqlite3.Connection] | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        """That of this process: an SQLite connection must not be used after a fork."""
        if self._opened is None or self._opened[0] != os.getpid():
            connection = sqlite3.connect(self.file, timeout=BUSY, check_same_thread=False)
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {self.table} (key BLOB UNIQUE, score NOT NULL)")
            self._opened = os.getpid(), connection
        return self._opened[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    def get(self, keys: list[bytes]) -> dict[bytes, Kept]:
        """The values of those keys that the file holds."""
        scores: dict[bytes, Kept] = {}
        for start in range(0, len(keys), KEYS):
            some = keys[start : start + KEYS]
            query = f"SELECT key, score FROM {self.table} WHERE key IN ({','.join('?' * len(some))})"
            with self._reported():
                scores |= dict(self.connection.execute(query, some).fetchall())
        return scores

    def put(self, scores: dict[bytes, Kept]) -> None:
        """Add all values or none; an existing key keeps its value."""
        table = self.table
        with self._reported(), self.connection:  # one transaction
            self.connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", scores.items())
            (held,) = self.connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
            oldest = f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} ORDER BY rowid LIMIT ?)"
            self.connection.execute(oldest, [max(0, held - self.size)])

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # Operational: the disk is full, another process has locked it. Its answers may have been paid for.
            outside = isinstance(error, sqlite3.OperationalError)
            fix = "keep it, mend this and try again" if outside else "remove it"
            raise RewardError(
                f"{self.owner}: file={self.file!r} cannot be used ({error}); {fix}, or name another"
            ) from error
