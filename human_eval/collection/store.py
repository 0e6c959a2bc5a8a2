"""The app's database, one SQLite file: no acknowledged response is lost, and none counts twice.

A booklet is lent to one judge. After the loan has expired, the judge may go on until another judge asks for work and
takes over the open tasks. Rows are only added: a change is a new revision of the response.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from human_eval.collection.database import ANSWER_COLUMNS, latest_responses, new_secret, open_database
from human_eval.collection.responses import Response
from human_eval.study import Study
from rlsum.errors import UserError

StudyState = Literal["open", "paused", "closed"]
Stage = Literal["new", "judging", "finished", "lost"]  # of a judge

LEASE = 2 * 3600.0  # seconds of inactivity after which another judge may take over a booklet


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

    ``stage``: "lost" if another judge took over the open tasks.
    ``renewal_due``: half of the loan is over, so call `ResponseStore.renew`. Writing at every request would be slow.
    """

    open: tuple[str, ...]
    done: tuple[str, ...]
    state: StudyState
    stage: Stage
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
        self._path = path
        self._connection = open_database(path, study)
        self._reader = open_database(path, study)
        self._reader.execute("PRAGMA query_only = ON")
        self._file = _identity(path)

    def close(self) -> None:
        """Close the file. Recorded responses are safe even without this."""
        with self._writing, self._reading:
            self._reader.close()
            self._connection.close()

    @property
    def secret(self) -> bytes:
        """Signs links, cookies and forms."""
        with self._reading:
            return cast(bytes, self._reader.execute("SELECT secret FROM study").fetchone()[0])

    def generation(self, role: str, name: str) -> int:
        """The number of times that the links of a visitor were revoked."""
        with self._reading:
            query = "SELECT generation FROM generations WHERE role = ? AND name = ?"
            return (self._reader.execute(query, (role, name)).fetchone() or (0,))[0]

    def revoke(self, role: str, name: str = "") -> None:
        """Make all links and cookies of a visitor invalid."""
        with self._writing, self._transaction():
            add = "INSERT INTO generations VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET generation = generation + 1"
            self._connection.execute(add, (role, name))

    def rotate_secret(self) -> None:
        """Make all links, cookies and open pages invalid."""
        with self._writing, self._transaction():
            self._connection.execute("UPDATE study SET secret = ?", (new_secret(),))

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
                known = self._reader.execute("SELECT 1 FROM judges WHERE judge = ?", (judge,)).fetchone()
                return JudgeProgress((), done, state, "lost" if known else "new")
            still_open = _open(self._reader, self._booklets[loan[0]])
            renewal_due = loan[1] - self._now() < self._lease / 2
            return JudgeProgress(still_open, done, state, "judging" if still_open else "finished", renewal_due)

    def renew(self, judge: str) -> None:
        """Restart the judge's loan."""
        with self._writing, self._transaction():
            self._touch(judge)

    def show(self, judge: str, task: str, revision: int) -> float:
        """Note that a form is shown to the judge. Returns when it was shown first (seconds since 1970)."""
        form = (judge, task, revision)
        query = "SELECT at FROM showings WHERE judge = ? AND task = ? AND revision = ?"
        with self._reading:
            shown = self._reader.execute(query, form).fetchone()
        if shown is None:
            with self._writing, self._transaction():
                self._connection.execute("INSERT OR IGNORE INTO showings VALUES (?, ?, ?, ?)", (*form, self._now()))
                shown = self._row(query, *form)
        return cast(float, shown[0])

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
                raise Conflict("You have already answered this comparison, perhaps in another window.")
            if _state(self._connection) == "closed":
                raise Refused("The study is closed. Your last answer was not recorded.")
            holder = self._row("SELECT judge FROM loans WHERE booklet = ?", self._study.by_id[task].booklet)
            if not revision and (holder is None or holder[0] != judge):
                raise Refused("Another judge has taken over this work. Your last answer was not recorded.")
            row = (judge, task, revision, written, comment, seconds, self._now())
            self._connection.execute(f"INSERT INTO answers ({ANSWER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._touch(judge)

    def latest(self, judge: str, task: str) -> tuple[Response, int]:
        """The judge's latest response to a task and its revision. Raises KeyError if there is none."""
        with self._reading:
            found = latest_responses(self._reader, self._study.id, "WHERE judge = ? AND task = ?", judge, task)
            return found[judge, task]

    def responses(self) -> list[Response]:
        """The latest responses, in the order in which tasks were first answered. ``seconds`` adds up all revisions."""
        with self._reading:
            return [response for response, _ in latest_responses(self._reader, self._study.id).values()]

    def loans(self) -> list[Loan]:
        """The loan of each booklet."""
        with self._reading:
            return [Loan(*row) for row in self._reader.execute("SELECT booklet, judge, until FROM loans ORDER BY 1")]

    def reserved(self) -> frozenset[int]:
        """The booklets that the app does not lend, because they were handed out in another way."""
        with self._reading:
            return frozenset(row[0] for row in self._reader.execute("SELECT booklet FROM reserved"))

    def reserve(self, booklets: Iterable[int]) -> None:
        """Lend these booklets to nobody. Raises UserError, and reserves none, if one is lent."""
        with self.reserving(booklets):
            pass

    @contextmanager
    def reserving(self, booklets: Iterable[int]) -> Iterator[None]:
        """Reserve booklets once the body has succeeded, such as handing them out. Raises as `reserve`."""
        wanted = sorted(set(booklets))
        with self._writing, self._transaction():
            for booklet in wanted:
                if lent := self._row("SELECT judge FROM loans WHERE booklet = ?", booklet):
                    raise UserError(f"booklet {booklet + 1}: the app has lent it to {lent[0]}; choose others")
            self._connection.executemany("INSERT OR IGNORE INTO reserved VALUES (?)", [(each,) for each in wanted])
            yield

    def release(self, booklets: Iterable[int]) -> None:
        """Lend the open tasks of these booklets to the next judges, also if they are reserved or lent."""
        with self._writing, self._transaction():
            wanted = [(each,) for each in booklets if _open(self._connection, self._booklets[each])]
            self._connection.executemany("DELETE FROM reserved WHERE booklet = ?", wanted)
            self._connection.executemany("DELETE FROM loans WHERE booklet = ?", wanted)

    def _free(self, now: float) -> int | None:
        """A booklet that is not lent, else the unfinished one whose loan expired first; none that is reserved."""
        loans = dict(self._connection.execute("SELECT booklet, until FROM loans"))
        reserved = {row[0] for row in self._connection.execute("SELECT booklet FROM reserved")}
        for booklet, tasks in enumerate(self._booklets):
            if booklet not in loans and booklet not in reserved and _open(self._connection, tasks):
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
        """A write transaction: all or nothing, on disk at its end, excluding other processes.

        Raises sqlite3.OperationalError if the file was removed or replaced: what is written then is lost.
        """
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        if _identity(self._path) != self._file:
            raise sqlite3.OperationalError(f"{self._path} was removed or replaced; restart with the file or a backup")


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and number of the file; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _state(connection: sqlite3.Connection) -> StudyState:
    return cast(StudyState, connection.execute("SELECT state FROM study").fetchone()[0])


def _open(connection: sqlite3.Connection, tasks: tuple[str, ...]) -> tuple[str, ...]:
    """The unanswered ones of ``tasks``."""
    marks = ", ".join("?" * len(tasks))
    answered = {row[0] for row in connection.execute(f"SELECT task FROM answers WHERE task IN ({marks})", tasks)}
    return tuple(task for task in tasks if task not in answered)
