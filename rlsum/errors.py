"""The errors that are the user's to mend: the command line prints their message alone, without a traceback."""

from __future__ import annotations


class UserError(ValueError):
    """Its message names the argument, the value and the fix."""
