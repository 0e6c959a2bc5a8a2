"""A reward that remembers: scores by the content of candidate, references and source, in memory and in a file."""

from __future__ import annotations

import hashlib
import os
import pickle
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewards.errors import RewardError
from rewards.scoring import Inputs, Item, references_of
from rewards.wrappers.parts import Part, Wrapper, check_alone

if TYPE_CHECKING:
    from numpy.typing import NDArray

BUSY = 60.0  # seconds to wait while another process writes to the file
ASKED = 500  # keys in one query


def content_key(texts: Iterable[str]) -> bytes:
    """A hash of texts in their order, each with its length, so that no two run together."""
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


class Cached(Wrapper):
    """Another reward's scores, computed once for the same texts: for rewards dearer than looking a text up.

    Range, floor and signature are those of the reward inside. Several processes and several rewards may share a file:
    an entry belongs to one signature, so a changed option never meets an old score.

    ``reward``: the reward whose scores are kept. ``size``: how many are kept; the least recently used leave.
    ``file``: an SQLite file that keeps them beyond this run; none is memory only.
    """

    name = "cached"

    def __init__(self, reward: Part, size: int = 100_000, file: str | None = None) -> None:
        self.size = size
        if size < 1:
            raise RewardError(f"cached: size={size} must be at least 1")
        if file is not None and not Path(file).absolute().parent.is_dir():
            raise RewardError(f"cached: file={file!r} lies in no folder; make the folder first")
        super().__init__(reward)
        self.file = file
        self._kept: OrderedDict[bytes, float] = OrderedDict()
        self._store: Store | None = None
        self._prefix: str | None = None

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64, equal to the inner reward's, the floor for an empty candidate included.

        NaN is not kept but asked for again, so that its reason is always a fresh one. Raises RewardError for a reward
        whose scores depend on batch mates.
        """
        if inputs.references is not None:
            references_of(self.name, inputs)
        keys = [self._key(inputs.item(row)) for row in range(len(inputs.candidates))]
        known = self._look_up(keys)
        new = list({key: row for row, key in enumerate(keys) if key not in known}.values())
        if new:
            scores = self.reward(*inputs.take(new))
            found = {keys[row]: float(score) for row, score in zip(new, scores, strict=True)}
            known |= found
            self._keep({key: score for key, score in found.items() if score == score})
        return np.array([known[key] for key in keys], dtype=np.float64)

    @property
    def signature(self) -> str:
        """The inner reward's own: keeping a score does not change it."""
        return self.reward.signature

    def reason(self, item: Item) -> str | None:
        """The inner reward's reason."""
        return self.reward.undefined(*item)

    def __getstate__(self) -> dict[str, Any]:
        """What travels to another process: options, no scores and no open file."""
        return {**self.__dict__, "_kept": OrderedDict(), "_store": None}

    def _key(self, item: Item) -> bytes:
        """The hash of the signature and the content of one item."""
        if self._prefix is None:
            check_alone(self.name, self.reward)
            self._prefix = self.reward.signature
        return item_key(self._prefix, item)

    def _look_up(self, keys: list[bytes]) -> dict[bytes, float]:
        known = {key: self._kept[key] for key in keys if key in self._kept}
        for key in known:
            self._kept.move_to_end(key)
        if self.file is not None and len(known) < len(set(keys)):
            stored = self._open().get([key for key in dict.fromkeys(keys) if key not in known])
            self._remember(stored)
            known |= stored
        return known

    def _keep(self, found: dict[bytes, float]) -> None:
        self._remember(found)
        if self.file is not None and found:
            self._open().put(found)

    def _remember(self, found: dict[bytes, float]) -> None:
        self._kept |= found
        while len(self._kept) > self.size:
            self._kept.popitem(last=False)

    def _open(self) -> Store:
        """The file, opened in this very process: SQLite's connections must not cross a fork."""
        if self._store is None or self._store.process != os.getpid():
            assert self.file is not None
            self._store = Store(self.file, self.size)
        return self._store


class Store:
    """An SQLite file, key -> score: the oldest entries leave when it holds more than ``size``.

    Safe against kills and among processes that write at once. Raises RewardError for a file that is none or cannot be
    read or written.
    """

    def __init__(self, file: str, size: int) -> None:
        self.file, self.size, self.process = file, size, os.getpid()
        with self._told():
            self.connection = sqlite3.connect(file, timeout=BUSY, check_same_thread=False)
            self.connection.execute("PRAGMA journal_mode=WAL")  # readers do not wait for a writer
            self.connection.execute("PRAGMA synchronous=NORMAL")
            self.connection.execute("CREATE TABLE IF NOT EXISTS scores (key BLOB UNIQUE, score REAL NOT NULL)")

    def get(self, keys: list[bytes]) -> dict[bytes, float]:
        """The scores of those keys that are there."""
        found: dict[bytes, float] = {}
        for start in range(0, len(keys), ASKED):
            some = keys[start : start + ASKED]
            query = f"SELECT key, score FROM scores WHERE key IN ({','.join('?' * len(some))})"
            with self._told():
                found |= dict(self.connection.execute(query, some).fetchall())
        return found

    def put(self, found: dict[bytes, float]) -> None:
        """Add scores, all of them or none; a key that is there keeps its score."""
        with self._told(), self.connection:  # one transaction
            self.connection.executemany("INSERT OR IGNORE INTO scores VALUES (?, ?)", found.items())
            (held,) = self.connection.execute("SELECT COUNT(*) FROM scores").fetchone()
            oldest = "DELETE FROM scores WHERE rowid IN (SELECT rowid FROM scores ORDER BY rowid LIMIT ?)"
            self.connection.execute(oldest, [max(0, held - self.size)])

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise RewardError(
                f"cached: file={self.file!r} cannot be used ({error}); remove it or name another"
            ) from error
