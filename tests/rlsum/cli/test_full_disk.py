"""A full disk ends a command with a code of its own, whatever wrote: a comparison tries that cell again."""

import errno
import os
import sys

import pytest

from rlsum import cli
from rlsum.errors import UserError

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def wrapped(error):
    try:
        raise UserError("run=r: cannot be written") from error
    except UserError as found:
        return found


def circular():
    error = UserError("run=r: neither is there")
    error.__cause__ = error
    return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FULL, os.EX_TEMPFAIL),
        (wrapped(FULL), os.EX_TEMPFAIL),
        (OSError(errno.EDQUOT, "quota", "a.jsonl"), os.EX_TEMPFAIL),
        (OSError(errno.EACCES, "not allowed", "a.jsonl"), 2),
        (circular(), 2),
        (UserError("No space left on device"), 2),  # prose is no reason
    ],
)
def test_code_of_an_error(error, code, monkeypatch, capsys):
    def fail():
        raise error

    monkeypatch.setattr("rlsum.cli.app.app", fail)
    monkeypatch.setattr(sys, "argv", ["rlsum"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == code
    told = capsys.readouterr().err
    assert told.startswith("rlsum: ")
    assert ("make room" in told) is (isinstance(error, OSError) and code == os.EX_TEMPFAIL)
