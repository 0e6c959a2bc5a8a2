"""The ``rlsum`` command. One file a command group; each imports what is heavy only when it runs."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; errors of the user's making are one clear line and exit code 2."""
    if not sys.stderr.isatty():  # in a log, every redraw of a bar would be a line; datasets looks when it is imported
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    from rlsum.cli.app import USER_ERRORS, app

    try:
        app()
    except USER_ERRORS as error:
        print(f"rlsum: {error}", file=sys.stderr)
        sys.exit(2)
