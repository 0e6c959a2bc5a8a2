"""The file of the app's answers, one SQLite database: create, open, read and copy it.

The file is complete or absent: it gets its name when it holds a study. Every commit is copied from the write-ahead log
into the file itself, so that a copy of the file alone lacks nothing that was acknowledged before.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from human_eval.collection.responses import Response
from human_eval.study import Study
from rlsum.errors import UserError
from rlsum.files import sync

_SCHEMA = """
CREATE TABLE study (digest TEXT NOT NULL, secret BLOB NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE judges (
  judge TEXT PRIMARY KEY, booklet INTEGER NOT NULL, joined REAL NOT NULL, seen REAL NOT NULL
) STRICT;
CREATE TABLE loans (
  booklet INTEGER PRIMARY KEY, judge TEXT NOT NULL UNIQUE, until REAL NOT NULL
) STRICT;
CREATE TABLE answers (
  id INTEGER PRIMARY KEY, judge TEXT NOT NULL, task TEXT NOT NULL, revision INTEGER NOT NULL, answers TEXT NOT NULL,
  comment TEXT NOT NULL, seconds REAL NOT NULL, submitted REAL NOT NULL, UNIQUE (judge, task, revision)
) STRICT;
CREATE INDEX tasks_answered ON answers (task);
CREATE TABLE showings (
  judge TEXT NOT NULL, task TEXT NOT NULL, revision INTEGER NOT NULL, at REAL NOT NULL,
  PRIMARY KEY (judge, task, revision)
) STRICT;
CREATE TABLE generations (
  role TEXT NOT NULL, name TEXT NOT NULL, generation INTEGER NOT NULL, PRIMARY KEY (role, name)
) STRICT;
CREATE TABLE handed_out (booklet INTEGER PRIMARY KEY, reserved INTEGER NOT NULL) STRICT;
CREATE TABLE returned (booklet INTEGER NOT NULL, judge TEXT NOT NULL, answered INTEGER NOT NULL) STRICT;
CREATE TABLE arrivals (judge TEXT PRIMARY KEY, session TEXT NOT NULL, panel_study TEXT NOT NULL) STRICT;
CREATE TABLE waiting (judge TEXT PRIMARY KEY, since REAL NOT NULL) STRICT;
CREATE TABLE enrolled (
  judge TEXT PRIMARY KEY, enrolled REAL NOT NULL, about TEXT NOT NULL, device TEXT NOT NULL
) STRICT;
CREATE TABLE barred (judge TEXT PRIMARY KEY, reason TEXT NOT NULL, at REAL NOT NULL) STRICT;
CREATE TABLE practice (
  judge TEXT NOT NULL, attempt INTEGER NOT NULL, task TEXT NOT NULL, answers TEXT NOT NULL, seconds REAL NOT NULL,
  submitted REAL NOT NULL, PRIMARY KEY (judge, attempt, task)
) STRICT;
"""
# of a judge who withdrew: the name, and how much of a booklet came back in files
KEPT = {"barred", "returned"}
OF_JUDGES = sorted({*re.findall(r"CREATE TABLE (\w+) \([^;]*\bjudge TEXT", _SCHEMA)} - KEPT)
ANSWER_COLUMNS = "judge, task, revision, answers, comment, seconds, submitted"


class Database:
    """The open database of a study. Safe for several threads; several processes may share the file.

    Reading uses a separate connection and never waits for a write. Raises as `_open`.
    """

    def __init__(self, path: Path, study: Study) -> None:
        self._path = path
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._writer, self._reader = _open(path, study), _open(path, study)
        self._reader.execute("PRAGMA query_only = ON")
        self._file = _identity(path)

    def close(self) -> None:
        """Close the file."""
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that reads what is committed."""
        with self._reading:
            yield self._reader

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: all or nothing, on disk at its end, excluding other threads and processes.

        Raises sqlite3.OperationalError if the file was removed or replaced: what is written then is lost.
        """
        with self._writing:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
            if _identity(self._path) != self._file:
                fix = "restart with the file or a backup"
                raise sqlite3.OperationalError(f"{self._path} was removed or replaced; {fix}")


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and number of the file; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _open(path: Path, study: Study) -> sqlite3.Connection:
    """A connection that writes to the database of ``study``, which is created if there is no file.

    Raises UserError for a file without this build of the study, and for a log without its database.
    """
    with usable(path):
        if not path.exists():
            _create(path, study)
        # Nothing here opens the file but SQLite: closing a file that SQLite has open drops all locks of this process
        # (POSIX), and the next process to close the database would then remove the write-ahead log.
        address = f"{path.resolve().as_uri()}?mode=rw"
        connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=10)
        try:
            check_study(connection, study, path)  # before the file is changed
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")  # with NORMAL, a power failure loses the last commits
            connection.execute("PRAGMA wal_autocheckpoint = 1")  # by default, a small study never leaves the log
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA secure_delete = ON")  # what a judge withdraws is overwritten
            connection.execute("PRAGMA wal_checkpoint")  # what a killed server left in the log
        except BaseException:
            connection.close()
            raise
        return connection


def read_database(path: Path, study: Study, damaged: list[str] | None = None) -> list[Response]:
    """The responses in a database, which may be in use and is not written.

    Damaged rows are named in ``damaged``. Raises UserError, also for a damaged row if there is no such list.
    """
    with usable(path), closing(connect_to_read(path)) as connection:
        check_study(connection, study, path)
        return [response for response, _ in latest_responses(connection, study.id, damaged=damaged).values()]


def read_handed_out(path: Path, study: Study) -> frozenset[int]:
    """The booklets that were ever exported or reserved, by a database, which may be in use. Raises UserError."""
    with usable(path), closing(connect_to_read(path)) as connection:
        check_study(connection, study, path)
        return frozenset(row[0] for row in connection.execute("SELECT booklet FROM handed_out"))


def back_up(path: Path, study: Study, copy: Path) -> int:
    """Copy a database, which may be in use, to ``copy`` and return the number of responses in the copy.

    The copy replaces an existing file once it is complete. Only its owner can read it. Raises UserError.
    """
    with usable(path), closing(connect_to_read(path)) as source, _partial(copy) as partial:
        check_study(source, study, path)
        with closing(sqlite3.connect(partial)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, with no log beside it
            count = len(latest_responses(target, study.id))
        sync(partial)
        partial.replace(copy)
        sync(copy.absolute().parent)
        return count


def digest(study: Study) -> str:
    """Identifies one build of a study by its criteria and tasks."""
    criteria = [criterion.id for criterion in study.criteria]
    tasks = [(task.id, task.booklet, task.position, *task.texts) for task in study.tasks]
    return hashlib.sha256(json.dumps([study.id, criteria, tasks]).encode()).hexdigest()


def new_secret() -> bytes:
    """A secret that signs links."""
    return secrets.token_bytes(32)


def check_study(connection: sqlite3.Connection, study: Study, path: Path) -> None:
    """Raise UserError unless a database holds this build of the study, in tables as this version makes them."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'study'").fetchone():
        log = f"; if it is a copy, copy {path.name}-wal too, or use `rlsum human-eval backup`"
        raise UserError(f"{path}: holds no study{log}; to begin a new study, give the name of a new file")
    row = connection.execute("SELECT digest FROM study").fetchone()
    if row is None or row[0] != digest(study):
        raise UserError(f"{path}: belongs to another build of a study; give another file")
    stored, known = _columns(connection), _known_columns()
    if stored != known:
        name = next(name for name in {**known, **stored} if stored.get(name) != known.get(name))
        have, want = (", ".join(tables.get(name, ["none"])) for tables in (stored, known))
        raise UserError(
            f"{path}: made by another version of rlsum (columns of {name}: {have}, not {want}); serve the study and "
            "collect its answers with that version"
        )


def _columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Table -> its columns, in order; without tables of SQLite itself (ANALYZE) or of tools that copy the file."""
    columns: dict[str, list[str]] = {}
    tables = "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'"
    others = "t.name NOT GLOB 'sqlite_*' AND t.name NOT GLOB '_*'"
    for table, column in connection.execute(f"{tables} AND {others} ORDER BY t.name, c.cid"):
        columns.setdefault(table, []).append(column)
    return columns


@cache
def _known_columns() -> dict[str, list[str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return _columns(connection)


def add_response(connection: sqlite3.Connection, response: Response, revision: int, answers: str, at: float) -> None:
    """Write a response, its ``answers`` as JSON, at a time in seconds since 1970."""
    row = (response.judge, response.task, revision, answers, response.comment, response.seconds, at)
    connection.execute(f"INSERT INTO answers ({ANSWER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def latest_responses(
    connection: sqlite3.Connection, study: str, where: str = "", *values: str, damaged: list[str] | None = None
) -> dict[tuple[str, str], tuple[Response, int]]:
    """Judge and task -> latest response, with the seconds of all revisions, and its revision.

    Damaged rows are named in ``damaged``, and raise sqlite3.DatabaseError if there is no such list.
    """
    latest: dict[tuple[str, str], tuple[Response, int]] = {}
    total: dict[tuple[str, str], float] = {}
    for number, judge, task, revision, answers, comment, seconds, submitted in connection.execute(
        f"SELECT id, {ANSWER_COLUMNS} FROM answers {where} ORDER BY id", values
    ):
        try:
            time = datetime.fromtimestamp(submitted, UTC).isoformat(timespec="seconds")
            chosen = {str(name): str(value) for name, value in json.loads(answers).items()}
        except (ValueError, OverflowError, OSError, AttributeError) as error:
            row = f"row {number} of the table answers"
            if damaged is None:
                raise sqlite3.DatabaseError(f"{row} is damaged") from error
            damaged.append(row)
            continue
        total[judge, task] = total.get((judge, task), 0.0) + seconds
        rounded = round(total[judge, task], 1)
        response = Response(
            study=study, task=task, judge=judge, answers=chosen, comment=comment, seconds=rounded, submitted=time
        )
        latest[judge, task] = response, revision
    return latest


@contextmanager
def usable(path: Path) -> Iterator[None]:
    """Turns errors of the disk and of SQLite into a UserError that names the file."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        mend = "give another --database, in a folder that may be written to"
        raise UserError(f"{path}: cannot be used as the database of a study ({error}); {mend}") from error


def _create(path: Path, study: Study) -> None:
    """Create the database of a study, with all its tables, unless another process creates it first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        # SQLite would replay the log of the lost database into a new one.
        raise UserError(f"{path}: is missing, but its log {log.name} exists; restore a backup, or move the log away")
    with _partial(path) as partial:
        with closing(sqlite3.connect(partial)) as connection:
            connection.executescript(_SCHEMA)
            connection.execute("INSERT INTO study VALUES (?, ?, 'open')", (digest(study), new_secret()))
            connection.commit()
        with suppress(FileExistsError):
            os.link(partial, path)  # unlike a rename, never replaces a file
        sync(path.absolute().parent)


@contextmanager
def _partial(path: Path) -> Iterator[Path]:
    """An empty file in the folder of ``path`` that only its owner can read, removed at the end."""
    descriptor, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f"{path.name}.partial.")
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, also in a folder that is read-only. Raises sqlite3.Error and OSError."""
    address, log = f"{path.resolve().as_uri()}?mode=ro", path.with_name(f"{path.name}-wal")
    effective = os.access in os.supports_effective_ids
    if not os.access(path.absolute().parent, os.W_OK, effective_ids=effective):  # no index of a log can be created
        if not log.exists():
            address += "&immutable=1"  # there is no log to read
        elif not log.with_name(f"{path.name}-shm").exists():
            raise OSError(f"its folder is read-only; copy it and {log.name} to one that is not")
    return sqlite3.connect(address, uri=True, timeout=10)
