"""The ``rlsum`` command. One file a command group; each imports what is heavy only when it runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; errors of the user's making are one clear line and exit code 2."""
    from rlsum.cli.app import USER_ERRORS, app

    try:
        app()
    except USER_ERRORS as error:
        print(f"rlsum: {error}", file=sys.stderr)
        sys.exit(2)
