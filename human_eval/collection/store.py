"""The app's database, one SQLite file: no acknowledged response is lost, and none counts twice.

A booklet is lent to one judge. After the loan has expired, the judge may go on until another judge asks for work and
takes over the open tasks. Rows are only added: a change is a new revision of the response.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast

from human_eval.collection.responses import Response
from human_eval.study import Study
from rlsum.errors import UserError

StudyState = Literal["open", "paused", "closed"]

LEASE = 2 * 3600.0  # seconds of inactivity after which another judge may take over a booklet
FORMAT = 1

# The index allows one first answer a task: a task is shown to one judge only.
_SCHEMA = """
CREATE TABLE study (digest TEXT NOT NULL, secret BLOB NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE judges (judge TEXT PRIMARY KEY, booklet INTEGER NOT NULL, joined REAL NOT NULL, seen REAL NOT NULL) STRICT;
CREATE TABLE loans (booklet INTEGER PRIMARY KEY, judge TEXT NOT NULL UNIQUE, until REAL NOT NULL) STRICT;
CREATE TABLE answers (
  id INTEGER PRIMARY KEY, judge TEXT NOT NULL, task TEXT NOT NULL, revision INTEGER NOT NULL, answers TEXT NOT NULL,
  comment TEXT NOT NULL, seconds REAL NOT NULL, submitted REAL NOT NULL, UNIQUE (judge, task, revision)
) STRICT;
CREATE UNIQUE INDEX one_judge_a_task ON answers (task) WHERE revision = 0;
"""
_COLUMNS = "judge, task, revision, answers, comment, seconds, submitted"


class Refused(Exception):
    """The response was not recorded. The message tells the judge why."""


class Conflict(Refused):
    """The task was answered differently in the meantime, for example in another window."""


@dataclass(frozen=True)
class Loan:
    """The judge of a booklet, and the time (seconds since 1970) until which nobody else can take it over."""

    booklet: int
    judge: str
    until: float


@dataclass(frozen=True)
class JudgeProgress:
    """A judge's open tasks, in order, and answered tasks, in the order of answering; and the state of the study.

    ``renewal_due``: half of the loan is over, so call `ResponseStore.renew`. Writing at every request would be slow.
    """

    open: tuple[str, ...]
    done: tuple[str, ...]
    state: StudyState
    renewal_due: bool = False


class ResponseStore:
    """The responses of one study. Safe for several threads; several processes may share the file.

    Reading uses a separate connection and never waits for a write.
    Raises UserError if the file belongs to another study, is not a database or cannot be written.
    """

    def __init__(self, path: Path, study: Study, *, lease: float = LEASE, now: Callable[[], float] = time.time) -> None:
        self._study = study
        self._booklets = [tuple(task.id for task in booklet) for booklet in study.booklets]
        self._lease, self._now = lease, now
        self._writing, self._reading = threading.Lock(), threading.Lock()
        with _usable(path):
            self._connection = _connect(path)
            with self._transaction():
                self._begin(digest(study))
            self.secret: bytes = _secret(self._connection, study, path)
        self._reader = _connect(path)
        self._reader.execute("PRAGMA query_only = ON")

    def close(self) -> None:
        """Close the file. Recorded responses are safe even without this."""
        with self._writing, self._reading:
            self._reader.close()
            self._connection.close()

    def state(self) -> StudyState:
        """The state: paused shows no new items but accepts answers to shown ones; closed accepts no answers."""
        with self._reading:
            return _state(self._reader)

    def set_state(self, state: StudyState) -> None:
        """Open, pause or close the study for all judges."""
        with self._writing, self._transaction():
            self._connection.execute("UPDATE study SET state = ?", (state,))

    def claim(self, judge: str) -> bool:
        """Lend the judge a booklet: their own, else a free one, else an unfinished one whose loan has expired.

        A judge gets one booklet only, because booklets share items. Returns False if there is none for this judge.
        """
        with self._writing, self._transaction():
            now = self._now()
            if self._row("SELECT 1 FROM loans WHERE judge = ?", judge):
                return True
            if self._row("SELECT 1 FROM judges WHERE judge = ?", judge):
                return False  # another judge has taken over their booklet
            booklet = self._free(now)
            if booklet is None:
                return False
            lend = "INSERT OR REPLACE INTO loans (booklet, judge, until) VALUES (?, ?, ?)"
            self._connection.execute(lend, (booklet, judge, now + self._lease))
            self._connection.execute("INSERT INTO judges VALUES (?, ?, ?, ?)", (judge, booklet, now, now))
            return True

    def progress(self, judge: str) -> JudgeProgress:
        """The judge's open and answered tasks. A judge without a booklet has no open tasks."""
        with self._reading:
            query = "SELECT task FROM answers WHERE judge = ? AND revision = 0 ORDER BY id"
            done = tuple(row[0] for row in self._reader.execute(query, (judge,)))
            state = _state(self._reader)
            loan = self._reader.execute("SELECT booklet, until FROM loans WHERE judge = ?", (judge,)).fetchone()
            if loan is None:
                return JudgeProgress((), done, state)
            renewal_due = loan[1] - self._now() < self._lease / 2
            return JudgeProgress(_open(self._reader, self._booklets[loan[0]]), done, state, renewal_due)

    def renew(self, judge: str) -> None:
        """Restart the judge's loan."""
        with self._writing, self._transaction():
            self._touch(judge)

    def record(
        self, judge: str, task: str, revision: int, answers: Mapping[str, str], comment: str, seconds: float
    ) -> None:
        """Record a response. It is on disk when this returns. Recording the same response again changes nothing.

        ``revision`` is 0 for the first response to a task and increases by one with each change.
        Raises Refused if the study is closed or another judge has the booklet now, Conflict if this revision exists
        with other answers or is not the next one.
        """
        written = json.dumps(dict(sorted(answers.items())), ensure_ascii=False)
        with self._writing, self._transaction():
            query = "SELECT revision, answers, comment FROM answers WHERE judge = ? AND task = ?"
            known = {row[0]: row[1:] for row in self._connection.execute(query, (judge, task))}
            if known.get(revision) == (written, comment):
                return
            if revision != len(known):
                raise Conflict("You have already answered this item, perhaps in another window.")
            if _state(self._connection) == "closed":
                raise Refused("The study is closed. Your last answer was not recorded.")
            holder = self._row("SELECT judge FROM loans WHERE booklet = ?", self._study.by_id[task].booklet)
            if not revision and (holder is None or holder[0] != judge):
                raise Refused("Another judge has taken over these items. Your last answer was not recorded.")
            row = (judge, task, revision, written, comment, seconds, self._now())
            self._connection.execute(f"INSERT INTO answers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._touch(judge)

    def latest(self, judge: str, task: str) -> tuple[Response, int]:
        """The judge's latest response to a task and its revision. Raises KeyError if there is none."""
        with self._reading:
            return _latest(self._reader, self._study.id, "WHERE judge = ? AND task = ?", judge, task)[judge, task]

    def responses(self) -> list[Response]:
        """The latest responses, in the order in which tasks were first answered. ``seconds`` adds up all revisions."""
        with self._reading:
            return [response for response, _ in _latest(self._reader, self._study.id).values()]

    def loans(self) -> list[Loan]:
        """The loan of each booklet."""
        with self._reading:
            return [Loan(*row) for row in self._reader.execute("SELECT booklet, judge, until FROM loans ORDER BY 1")]

    def _begin(self, digest: str) -> None:
        if self._row("PRAGMA user_version")[0] == FORMAT:
            return
        if self._row("SELECT count(*) FROM sqlite_schema")[0]:
            raise sqlite3.DatabaseError("it holds other data")
        for statement in filter(str.strip, _SCHEMA.split(";")):
            self._connection.execute(statement)
        self._connection.execute("INSERT INTO study VALUES (?, ?, 'open')", (digest, secrets.token_bytes(32)))
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _free(self, now: float) -> int | None:
        """A booklet that was never lent, else the unfinished one whose loan expired first."""
        loans = dict(self._connection.execute("SELECT booklet, until FROM loans"))
        for booklet in range(len(self._booklets)):
            if booklet not in loans:
                return booklet
        lapsed = sorted((until, booklet) for booklet, until in loans.items() if until <= now)
        return next((booklet for _, booklet in lapsed if _open(self._connection, self._booklets[booklet])), None)

    def _touch(self, judge: str) -> None:
        now = self._now()
        self._connection.execute("UPDATE judges SET seen = ? WHERE judge = ?", (now, judge))
        self._connection.execute("UPDATE loans SET until = ? WHERE judge = ?", (now + self._lease, judge))

    def _row(self, query: str, *values: object) -> tuple:
        return self._connection.execute(query, values).fetchone()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """A write transaction: all or nothing, on disk at its end, excluding other processes."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def read_database(path: Path, study: Study) -> list[Response]:
    """The responses in a database, which may be in use and is not written. Raises UserError."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    with _usable(path), closing(sqlite3.connect(address, uri=True, timeout=10)) as connection:
        _secret(connection, study, path)
        return [response for response, _ in _latest(connection, study.id).values()]


def digest(study: Study) -> str:
    """Identifies one build of a study by its criteria and tasks."""
    criteria = [criterion.id for criterion in study.criteria]
    tasks = [(task.id, task.booklet, task.position, task.left, task.right) for task in study.tasks]
    return hashlib.sha256(json.dumps([study.id, criteria, tasks]).encode()).hexdigest()


@contextmanager
def _usable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise UserError(f"{path}: cannot be used as the database of a study ({error}); give another file") from error


def _secret(connection: sqlite3.Connection, study: Study, path: Path) -> bytes:
    """The secret of a database. Raises UserError if it belongs to another study."""
    row = connection.execute("SELECT digest, secret FROM study").fetchone()
    if row is None or row[0] != digest(study):
        connection.close()
        raise UserError(f"{path}: belongs to another build of a study; give another file")
    return cast(bytes, row[1])


def _state(connection: sqlite3.Connection) -> StudyState:
    return cast(StudyState, connection.execute("SELECT state FROM study").fetchone()[0])


def _open(connection: sqlite3.Connection, tasks: tuple[str, ...]) -> tuple[str, ...]:
    """The unanswered ones of ``tasks``."""
    marks = ", ".join("?" * len(tasks))
    answered = {row[0] for row in connection.execute(f"SELECT task FROM answers WHERE task IN ({marks})", tasks)}
    return tuple(task for task in tasks if task not in answered)


def _latest(
    connection: sqlite3.Connection, study: str, where: str = "", *values: str
) -> dict[tuple[str, str], tuple[Response, int]]:
    """Judge and task -> latest response, with the seconds of all revisions, and its revision."""
    latest: dict[tuple[str, str], tuple[Response, int]] = {}
    total: dict[tuple[str, str], float] = {}
    for judge, task, revision, answers, comment, seconds, submitted in connection.execute(
        f"SELECT {_COLUMNS} FROM answers {where} ORDER BY id", values
    ):
        total[judge, task] = total.get((judge, task), 0.0) + seconds
        rounded = round(total[judge, task], 1)
        time = datetime.fromtimestamp(submitted, UTC).isoformat(timespec="seconds")
        latest[judge, task] = Response(study, task, judge, json.loads(answers), comment, rounded, time), revision
    return latest


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file, or create it readable by its owner only (it contains the secret that signs links)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Create it, but do not open an existing file: closing a file that SQLite has open drops all locks of this process
    # (POSIX), and the next process to close the database would then remove the write-ahead log.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # with NORMAL, a power failure loses the last commits
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection
