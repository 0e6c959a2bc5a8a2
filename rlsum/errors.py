"""Errors that the user can fix: the command line prints the message alone, without a traceback."""

from __future__ import annotations


class UserError(ValueError):
    """The message names the argument, its value and the fix."""


class RecordError(UserError):
    """An invalid file: the message names the file, the line, the field and the fix."""


class ConfigError(UserError):
    """An invalid configuration; the message lists every fault with its key and the fix."""
