"""Errors that the user can fix: the command line prints the message alone, without a traceback."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ABSENT: Any = object()
ANY = frozenset({"CODE", "FILE", "N", "NAME", "REWARD", "RUN"})  # stand for any value of an argument
_typed = False  # whether a command is running, in whatever thread


class UserError(ValueError):
    """The message names the argument, its value and the fix."""


class RecordError(UserError):
    """An invalid file: the message names the file, the line, the field and the fix."""


class ConfigError(UserError):
    """An invalid configuration; the message lists every fault with its key and the fix."""


class TrainingError(UserError):
    """Training cannot go on; the message gives the reason and the folder with the evidence."""


def disk_full(error: BaseException | None) -> bool:
    """Whether an error, or one that it came from, says that there is no room on the disk."""
    seen: set[int] = set()  # a cause may be raised again by what it caused
    while error is not None and id(error) not in seen:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        if full or getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def command_line() -> Iterator[None]:
    """Within it messages name arguments as options of a command, see ``option``."""
    global _typed
    before, _typed = _typed, True
    try:
        yield
    finally:
        _typed = before


def option(name: str, value: Any = ABSENT, typed: str | None = None) -> str:
    """An argument as whoever reads the message writes it: ``top_p=2``, or on the command line ``--top-p 2``.

    Without a value ``top_p=`` and ``--top-p``; a switch, whose value is True, ``--overwrite``. ``typed``: the option,
    where the command line has another name for it. One of ``ANY`` stands for any value.
    """
    if _typed:
        flag = typed or f"--{name.replace('_', '-')}"
        return flag if value is ABSENT or value is True else f"{flag} {value}"
    if value is ABSENT or (isinstance(value, str) and value in ANY):
        return f"{name}={'' if value is ABSENT else value}"
    return f"{name}={str(value) if hasattr(value, '__fspath__') else value!r}"
