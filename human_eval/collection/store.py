"""What judges answer, in one SQLite file: what was acknowledged is never lost, and nothing counts twice.

A booklet is lent to one judge. A loan that ran out stays the judge's until somebody else asks for work; who takes the
booklet over gets what is still open in it. Answers are only ever added: a change is one more revision of the same task.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast

from human_eval.collection.judgments import Judgment
from human_eval.study import Answer, Study
from rlsum.errors import UserError

State = Literal["open", "paused", "closed"]

LEASE = 2 * 3600.0  # seconds without a sign of life after which another judge may take a booklet over
FORMAT = 1

# One first answer a task: a task is one presentation to one judge, whoever that turns out to be.
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


class Refused(Exception):
    """An answer that was not recorded; the message says why, for the judge to read."""


class Conflict(Refused):
    """The task has been answered differently meanwhile, in another window say."""


@dataclass(frozen=True)
class Recorded:
    """A judge's latest answers to a task. ``seconds`` adds up all revisions; ``submitted``: seconds since 1970."""

    judge: str
    task: str
    revision: int
    answers: Mapping[str, Answer]
    comment: str
    seconds: float
    submitted: float


@dataclass(frozen=True)
class Loan:
    """Who works on a booklet, and until when nobody else may have it (seconds since 1970)."""

    booklet: int
    judge: str
    until: float


@dataclass(frozen=True)
class Place:
    """Where a judge stands: the tasks still open, in order, and those they answered, in the order of answering.

    ``fading``: half of the loan is over, so it is time for `Store.renew`. Not every look at a page is worth a write.
    """

    open: tuple[str, ...]
    done: tuple[str, ...]
    state: State
    fading: bool = False


class Store:
    """The answers of one study. Safe to use from several threads; several processes may share the file.

    Reading has a connection of its own and never waits for the disk that writing waits for.
    Raises UserError where the file belongs to another study, is no database or cannot be written.
    """

    def __init__(self, path: Path, study: Study, *, lease: float = LEASE, now: Callable[[], float] = time.time) -> None:
        self._booklets = [tuple(task.id for task in booklet) for booklet in study.booklets]
        self._booklet_of = {task: number for number, tasks in enumerate(self._booklets) for task in tasks}
        self._lease, self._now = lease, now
        self._writing, self._reading = threading.Lock(), threading.Lock()
        try:
            self._connection = _connect(path)
            with self._transaction():
                self._begin(digest(study))
            found, secret = self._row("SELECT digest, secret FROM study")
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from error
        if found != digest(study):
            self._connection.close()
            raise _other_study(path)
        self.secret: bytes = secret
        self._reader = _connect(path)
        self._reader.execute("PRAGMA query_only = ON")

    def close(self) -> None:
        """Close the file; what was answered is safe without it."""
        with self._writing, self._reading:
            self._reader.close()
            self._connection.close()

    def state(self) -> State:
        """open; paused: no new items are shown, answers to shown ones are taken; closed: no answers are taken."""
        with self._reading:
            return _state(self._reader)

    def set_state(self, state: State) -> None:
        """Open, pause or close the study, for all its judges."""
        with self._writing, self._transaction():
            self._connection.execute("UPDATE study SET state = ?", (state,))

    def claim(self, judge: str) -> bool:
        """Lend the judge a booklet: the one they have, else a free one, else one whose loan ran out unfinished.

        A judge has one booklet ever, since booklets share items. False where there is none for them.
        """
        with self._writing, self._transaction():
            now = self._now()
            if self._row("SELECT 1 FROM loans WHERE judge = ?", judge):
                return True
            if self._row("SELECT 1 FROM judges WHERE judge = ?", judge):
                return False  # theirs was taken over
            booklet = self._free(now)
            if booklet is None:
                return False
            lend = "INSERT OR REPLACE INTO loans (booklet, judge, until) VALUES (?, ?, ?)"
            self._connection.execute(lend, (booklet, judge, now + self._lease))
            self._connection.execute("INSERT INTO judges VALUES (?, ?, ?, ?)", (judge, booklet, now, now))
            return True

    def place(self, judge: str) -> Place:
        """Where the judge stands; nothing is open to a judge without a booklet."""
        with self._reading:
            query = "SELECT task FROM answers WHERE judge = ? AND revision = 0 ORDER BY id"
            done = tuple(row[0] for row in self._reader.execute(query, (judge,)))
            state = _state(self._reader)
            loan = self._reader.execute("SELECT booklet, until FROM loans WHERE judge = ?", (judge,)).fetchone()
            if loan is None:
                return Place((), done, state)
            fading = loan[1] - self._now() < self._lease / 2
            return Place(_open(self._reader, self._booklets[loan[0]]), done, state, fading)

    def renew(self, judge: str) -> None:
        """A sign of life: the judge's loan begins anew."""
        with self._writing, self._transaction():
            self._touch(judge)

    def record(
        self, judge: str, task: str, revision: int, answers: Mapping[str, str], comment: str, seconds: float
    ) -> None:
        """Record an answer; when this returns, it is on the disk. The same answer a second time changes nothing.

        ``revision`` is 0 for the first answer to a task and one more for each change.
        Raises Refused where the study is closed or the booklet is somebody else's by now, Conflict where this revision
        exists with other answers or is not the next.
        """
        written = json.dumps(dict(sorted(answers.items())), ensure_ascii=False)
        with self._writing, self._transaction():
            query = "SELECT revision, answers, comment FROM answers WHERE judge = ? AND task = ?"
            known = {row[0]: row[1:] for row in self._connection.execute(query, (judge, task))}
            if known.get(revision) == (written, comment):
                return
            if revision != len(known):
                raise Conflict("This item was answered already, perhaps in another window.")
            self._check_taken(judge, task, revision)
            now = self._now()
            row = (judge, task, revision, written, comment, seconds, now)
            columns = "(judge, task, revision, answers, comment, seconds, submitted)"
            self._connection.execute(f"INSERT INTO answers {columns} VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._touch(judge)

    def answer(self, judge: str, task: str) -> Recorded | None:
        """The judge's latest answers to a task, if any."""
        with self._reading:
            found = _latest(self._reader, "WHERE judge = ? AND task = ?", judge, task)
        return next(iter(found), None)

    def answers(self) -> list[Recorded]:
        """The latest answers to every task, in the order of first answering."""
        with self._reading:
            return _latest(self._reader)

    def loans(self) -> list[Loan]:
        """Who works on which booklet."""
        with self._reading:
            return [Loan(*row) for row in self._reader.execute("SELECT booklet, judge, until FROM loans ORDER BY 1")]

    def _begin(self, digest: str) -> None:
        if self._row("PRAGMA user_version")[0] == FORMAT:
            return
        if self._row("SELECT count(*) FROM sqlite_schema")[0]:
            raise sqlite3.DatabaseError("it holds something else")
        for statement in filter(str.strip, _SCHEMA.split(";")):
            self._connection.execute(statement)
        self._connection.execute("INSERT INTO study VALUES (?, ?, 'open')", (digest, secrets.token_bytes(32)))
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _check_taken(self, judge: str, task: str, revision: int) -> None:
        if _state(self._connection) == "closed":
            raise Refused("The study is closed. This last answer was not recorded.")
        holder = self._row("SELECT judge FROM loans WHERE booklet = ?", self._booklet_of[task])
        if not revision and (holder is None or holder[0] != judge):
            raise Refused("These items were given to somebody else meanwhile. This last answer was not recorded.")

    def _free(self, now: float) -> int | None:
        """A booklet nobody ever had, else the unfinished one whose loan ran out first."""
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
        """All or nothing, written to the disk when it ends; no other process writes meanwhile."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def read_database(path: Path, study: Study) -> list[Judgment]:
    """The judgments in a database, which may be in use; nothing is written. Raises UserError."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=10)) as connection:
            if connection.execute("SELECT digest FROM study").fetchone() != (digest(study),):
                raise _other_study(path)
            return judgments(study, _latest(connection))
    except sqlite3.Error as error:
        raise _unusable(path, error) from error


def judgments(study: Study, answers: Sequence[Recorded]) -> list[Judgment]:
    """Answers in the form of files."""
    return [
        Judgment(
            study.id, each.task, each.judge, each.answers, each.comment, round(each.seconds, 1), _iso(each.submitted)
        )
        for each in answers
    ]


def digest(study: Study) -> str:
    """What tells one build of a study from another: its questions and its tasks."""
    asked = [criterion.id for criterion in study.criteria]
    tasks = [(task.id, task.booklet, task.position, task.left, task.right) for task in study.tasks]
    return hashlib.sha256(json.dumps([study.id, asked, tasks]).encode()).hexdigest()


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _unusable(path: Path, error: Exception) -> UserError:
    return UserError(f"{path}: cannot be used as the database of a study ({error}); name another")


def _other_study(path: Path) -> UserError:
    return UserError(f"{path}: holds the answers to another build of a study; name another database")


def _state(connection: sqlite3.Connection) -> State:
    return cast(State, connection.execute("SELECT state FROM study").fetchone()[0])


def _open(connection: sqlite3.Connection, tasks: tuple[str, ...]) -> tuple[str, ...]:
    """Those of ``tasks`` that nobody has answered."""
    marks = ", ".join("?" * len(tasks))
    answered = {row[0] for row in connection.execute(f"SELECT task FROM answers WHERE task IN ({marks})", tasks)}
    return tuple(task for task in tasks if task not in answered)


def _latest(connection: sqlite3.Connection, where: str = "", *values: str) -> list[Recorded]:
    columns = "judge, task, revision, answers, comment, seconds, submitted"
    found: dict[tuple[str, str], Recorded] = {}
    for judge, task, revision, answers, comment, seconds, submitted in connection.execute(
        f"SELECT {columns} FROM answers {where} ORDER BY id", values
    ):
        before = found[judge, task].seconds if revision else 0.0
        found[judge, task] = Recorded(judge, task, revision, json.loads(answers), comment, before + seconds, submitted)
    return list(found.values())


def _connect(path: Path) -> sqlite3.Connection:
    """The file, readable by its owner alone (it holds the key that signs links); made when missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Only ever made here, not opened: to close a file that SQLite has open gives up all of this process's locks on it,
    # and the next process that closes it would then take the write-ahead log away.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # WAL would else lose the last commits when the power goes
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection
