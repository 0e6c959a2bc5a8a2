"""The app's database, one SQLite file: no acknowledged response is lost, and none counts twice.

A booklet is lent to one judge. After the loan has expired, the judge may go on until another judge asks for work and
takes over the open tasks. Rows are only added: a change is a new revision of the response.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal, cast

from human_eval.collection.database import Database, add_response, latest_responses, new_secret
from human_eval.collection.people import People
from human_eval.collection.practice import Practice
from human_eval.collection.responses import Response
from human_eval.study import Study
from rlsum.errors import UserError

Stage = Literal["new", "judging", "finished", "lost", "barred"]  # of a judge

LEASE = 1800.0  # seconds of inactivity after which another judge may take over a booklet


class StudyState(StrEnum):
    """The state of a study, and what judges may do in it."""

    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"

    @property
    def gives_tasks(self) -> bool:
        """Whether judges may begin, practise and go on with the next comparison."""
        return self is StudyState.OPEN

    @property
    def takes_answers(self) -> bool:
        """Whether answers to comparisons that were shown are recorded."""
        return self is not StudyState.CLOSED


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

    ``stage``: "lost" if another judge took over the open tasks, "barred" if the judge does not go on (`People`).
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
        self._lease, self._now = lease, now
        self._database = Database(path, study)
        self.people = People(self._database, now)
        self.practice = Practice(self._database, study, now)

    def close(self) -> None:
        """Close the file. Recorded responses are safe even without this."""
        self._database.close()

    @property
    def secret(self) -> bytes:
        """Signs links, cookies and forms."""
        with self._database.reading() as connection:
            return cast(bytes, connection.execute("SELECT secret FROM study").fetchone()[0])

    def generation(self, role: str, name: str) -> int:
        """The number of times that the links of a visitor were revoked."""
        with self._database.reading() as connection:
            query = "SELECT generation FROM generations WHERE role = ? AND name = ?"
            return (connection.execute(query, (role, name)).fetchone() or (0,))[0]

    def revoke(self, role: str, name: str = "") -> None:
        """Make all links and cookies of a visitor invalid."""
        with self._database.writing() as connection:
            add = "INSERT INTO generations VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET generation = generation + 1"
            connection.execute(add, (role, name))

    def rotate_secret(self) -> None:
        """Make all links, cookies and open pages invalid."""
        with self._database.writing() as connection:
            connection.execute("UPDATE study SET secret = ?", (new_secret(),))

    def state(self) -> StudyState:
        """The state, which `set_state` sets."""
        with self._database.reading() as connection:
            return _state(connection)

    def set_state(self, state: StudyState) -> None:
        """Open, pause or close the study for all judges."""
        with self._database.writing() as connection:
            connection.execute("UPDATE study SET state = ?", (state,))

    def claim(self, judge: str) -> bool:
        """Lend the judge a booklet: their own, else a free one, else an unfinished one whose loan has expired.

        A judge gets one booklet only, because booklets share items. Returns False if there is none for this judge.
        Raises Refused if the name of another judge differs only in case, which `collect` takes for an error.
        """
        with self._database.writing() as connection:
            now = self._now()
            if connection.execute("SELECT 1 FROM loans WHERE judge = ?", (judge,)).fetchone():
                return True
            namesake = "SELECT 1 FROM judges WHERE judge = ? COLLATE NOCASE AND judge <> ?"
            if connection.execute(namesake, (judge, judge)).fetchone():
                raise Refused("Another judge has this name. Please ask for a link with another name.")
            for table in ("judges", "barred"):  # another judge has taken over their booklet, or they do not go on
                if connection.execute(f"SELECT 1 FROM {table} WHERE judge = ?", (judge,)).fetchone():
                    return False
            # Loans that end later were made before the clock was set back: nobody would wait so long.
            connection.execute("UPDATE loans SET until = ?1 WHERE until > ?1", (now + self._lease,))
            booklet = self._free(connection, now)
            if booklet is None:
                return False
            lend = "INSERT OR REPLACE INTO loans (booklet, judge, until) VALUES (?, ?, ?)"
            connection.execute(lend, (booklet, judge, now + self._lease))
            connection.execute("INSERT INTO judges VALUES (?, ?, ?, ?)", (judge, booklet, now, now))
            connection.execute("DELETE FROM waiting WHERE judge = ?", (judge,))
            return True

    def wait(self, judge: str, patience: float) -> float | None:
        """When the judge who waits for a booklet gives up (seconds since 1970), ``patience`` seconds after the first
        call. None if that is over, or no booklet can become free.
        """
        with self._database.writing() as connection:
            now = self._now()
            connection.execute("INSERT OR IGNORE INTO waiting VALUES (?, ?)", (judge, now))
            connection.execute("UPDATE waiting SET since = ?1 WHERE since > ?1", (now,))  # the clock was set back
            query = "SELECT since FROM waiting WHERE judge = ?"
            until = cast(float, connection.execute(query, (judge,)).fetchone()[0]) + patience
            reserved = self._reserved(connection)
            lent = (n for n in range(len(self._study.booklets)) if n not in reserved and self._to_judge(connection, n))
            if until > now and next(lent, None) is not None:
                return until
            connection.execute("DELETE FROM waiting WHERE judge = ?", (judge,))
            return None

    def waiting(self, patience: float) -> int:
        """The number of judges who began to wait for a booklet less than ``patience`` seconds ago, or left since."""
        with self._database.reading() as connection:
            query = "SELECT count(*) FROM waiting WHERE since > ?"
            return cast(int, connection.execute(query, (self._now() - patience,)).fetchone()[0])

    def progress(self, judge: str) -> JudgeProgress:
        """The judge's open and answered tasks. A judge without a booklet has no open tasks."""
        with self._database.reading() as connection:
            query = "SELECT task FROM answers WHERE judge = ? AND revision = 0 ORDER BY id"
            done = tuple(row[0] for row in connection.execute(query, (judge,)))
            state = _state(connection)
            loan = connection.execute("SELECT booklet, until FROM loans WHERE judge = ?", (judge,)).fetchone()
            if connection.execute("SELECT 1 FROM barred WHERE judge = ?", (judge,)).fetchone():
                return JudgeProgress((), done, state, "barred")
            if loan is None:
                known = connection.execute("SELECT 1 FROM judges WHERE judge = ?", (judge,)).fetchone()
                return JudgeProgress((), done, state, "lost" if known else "new")
            still_open = self._open(connection, loan[0], judge)
            renewal_due = loan[1] - self._now() < self._lease / 2
            return JudgeProgress(still_open, done, state, "judging" if still_open else "finished", renewal_due)

    def renew(self, judge: str) -> None:
        """Restart the judge's loan."""
        with self._database.writing() as connection:
            self._touch(connection, judge)

    def show(self, judge: str, task: str, revision: int) -> float:
        """Note that a form is shown, unless to a barred judge. Returns when it was first (seconds since 1970)."""
        form = (judge, task, revision)
        query = "SELECT at FROM showings WHERE judge = ? AND task = ? AND revision = ?"
        with self._database.reading() as connection:
            shown = connection.execute(query, form).fetchone()
        if shown is None:
            with self._database.writing() as connection:
                unless = "WHERE NOT EXISTS (SELECT 1 FROM barred WHERE judge = ?1)"
                row = (*form, now := self._now())
                connection.execute(f"INSERT OR IGNORE INTO showings SELECT ?1, ?2, ?3, ?4 {unless}", row)
                shown = connection.execute(query, form).fetchone() or (now,)
        return cast(float, shown[0])

    def record(self, response: Response, revision: int) -> None:
        """Record a response. It is on disk when this returns. Recording the same response again changes nothing.

        Its time is that of recording. ``revision`` is 0 for the first response to a task and increases by one with each
        change. Raises Refused if the study is closed or another judge has the booklet now, Conflict if this revision
        exists with other answers or is not the next one.
        """
        judge, task, comment = response.judge, response.task, response.comment
        written = json.dumps(dict(sorted(response.answers.items())), ensure_ascii=False)
        with self._database.writing() as connection:
            query = "SELECT revision, answers, comment FROM answers WHERE judge = ? AND task = ?"
            known = {row[0]: row[1:] for row in connection.execute(query, (judge, task))}
            if known.get(revision) == (written, comment):
                return
            if revision != len(known):
                raise Conflict("You have already answered this comparison, perhaps in another window.")
            if not _state(connection).takes_answers:
                raise Refused("The study is closed. Your last answer was not recorded.")
            if connection.execute("SELECT 1 FROM barred WHERE judge = ?", (judge,)).fetchone():
                raise Refused("You do not take part any more. Your last answer was not recorded.")
            booklet = self._study.by_id[task].booklet
            holder = connection.execute("SELECT judge FROM loans WHERE booklet = ?", (booklet,)).fetchone()
            free = revision or (holder and holder[0] == judge and task in self._open(connection, booklet, judge))
            if not free:
                raise Refused("Another judge has taken over this work. Your last answer was not recorded.")
            add_response(connection, response, revision, written, self._now())
            self._touch(connection, judge)

    def latest(self, judge: str, task: str) -> tuple[Response, int]:
        """The judge's latest response to a task and its revision. Raises KeyError if there is none."""
        with self._database.reading() as connection:
            responses = latest_responses(connection, self._study.id, "WHERE judge = ? AND task = ?", judge, task)
            return responses[judge, task]

    def responses(self, judge: str = "") -> list[Response]:
        """The latest responses of a judge, or of all, in the order in which tasks were first answered.

        ``seconds`` adds up all revisions.
        """
        where = ("WHERE judge = ?", judge) if judge else ()
        with self._database.reading() as connection:
            return [response for response, _ in latest_responses(connection, self._study.id, *where).values()]

    def loans(self) -> list[Loan]:
        """The loan of each booklet."""
        with self._database.reading() as connection:
            return [Loan(*row) for row in connection.execute("SELECT booklet, judge, until FROM loans ORDER BY 1")]

    def reserved(self) -> frozenset[int]:
        """The booklets that the app does not lend, because they were handed out in another way."""
        with self._database.reading() as connection:
            return self._reserved(connection)

    def reserve(self, booklets: Iterable[int]) -> None:
        """Lend these booklets to nobody. Raises UserError, and reserves none, if one is lent or reserved already."""
        with self.reserving(booklets):
            pass

    @contextmanager
    def reserving(self, booklets: Iterable[int]) -> Iterator[None]:
        """Reserve booklets once the body has succeeded, such as handing them out. Raises as `reserve`."""
        wanted = sorted(set(booklets))
        with self._database.writing() as connection:
            for booklet in wanted:
                if lent := connection.execute("SELECT judge FROM loans WHERE booklet = ?", (booklet,)).fetchone():
                    raise UserError(f"booklet {booklet + 1}: the app has lent it to {lent[0]}; choose others")
            if again := sorted(self._reserved(connection).intersection(wanted)):
                raise UserError(
                    f"booklet {again[0] + 1}: is exported already, and a booklet is for one judge; choose others, or "
                    "`rlsum human-eval booklets --release` it if the judge who has it will not return it"
                )
            connection.executemany("INSERT OR REPLACE INTO handed_out VALUES (?, 1)", [(number,) for number in wanted])
            yield

    def note_returned(self, responses: Iterable[Response]) -> None:
        """Remember how many of ``responses``, which are all that were collected, came back in files, for `returned`."""
        files = [row for row in responses if row.origin != "app"]
        counts = Counter((self._study.by_id[row.task].booklet, row.judge) for row in files)
        with self._database.writing() as connection:
            connection.execute("DELETE FROM returned")
            rows = [(booklet, judge, answered) for (booklet, judge), answered in counts.items()]
            connection.executemany("INSERT INTO returned VALUES (?, ?, ?)", rows)

    def returned(self) -> dict[int, list[tuple[str, int]]]:
        """Booklet (0..) -> judges and numbers of answers that `collect` counted last of files."""
        judges: dict[int, list[tuple[str, int]]] = {}
        with self._database.reading() as connection:
            for booklet, judge, answered in connection.execute("SELECT * FROM returned ORDER BY 1, 2"):
                judges.setdefault(booklet, []).append((judge, answered))
        return judges

    def release(self, booklets: Iterable[int]) -> None:
        """Lend the open tasks of these booklets to the next judges, also if they are reserved or lent."""
        with self._database.writing() as connection:
            wanted = [(booklet,) for booklet in booklets if self._to_judge(connection, booklet)]
            connection.executemany("UPDATE handed_out SET reserved = 0 WHERE booklet = ?", wanted)
            connection.executemany("DELETE FROM loans WHERE booklet = ?", wanted)

    def _free(self, connection: sqlite3.Connection, now: float) -> int | None:
        """A booklet that is not lent, else the unfinished one whose loan expired first; none that is reserved."""
        loans = dict(connection.execute("SELECT booklet, until FROM loans"))
        reserved = self._reserved(connection)
        free = [number for number in range(len(self._study.booklets)) if number not in loans and number not in reserved]
        lapsed = sorted((until, number) for number, until in loans.items() if until <= now)
        in_turn = [*free, *(number for _, number in lapsed)]
        return next((booklet for booklet in in_turn if self._to_judge(connection, booklet)), None)

    def _reserved(self, connection: sqlite3.Connection) -> frozenset[int]:
        return frozenset(row[0] for row in connection.execute("SELECT booklet FROM handed_out WHERE reserved"))

    def _open(self, connection: sqlite3.Connection, booklet: int, judge: str = "") -> tuple[str, ...]:
        """The tasks of a booklet that remain for a judge. What judges who fail the checks answered is open again."""
        tasks = [task.id for task in self._study.booklets[booklet]]
        query = f"""
            SELECT judge, task FROM answers WHERE revision = 0 AND task IN ({", ".join("?" * len(tasks))})
            AND judge NOT IN (SELECT judge FROM barred WHERE reason = 'failed checks')
        """
        return self._study.open(booklet, judge, set(connection.execute(query, tasks)))

    def _to_judge(self, connection: sqlite3.Connection, booklet: int) -> bool:
        """Whether a booklet lacks an answer that is a vote."""
        return not self._study.checks.issuperset(self._open(connection, booklet))

    def _touch(self, connection: sqlite3.Connection, judge: str) -> None:
        now = self._now()
        connection.execute("UPDATE judges SET seen = ? WHERE judge = ?", (now, judge))
        connection.execute("UPDATE loans SET until = ? WHERE judge = ?", (now + self._lease, judge))


def _state(connection: sqlite3.Connection) -> StudyState:
    return StudyState(connection.execute("SELECT state FROM study").fetchone()[0])
