"""The ``rlsum`` command. One file a command group; each imports what is heavy only when it runs."""

from __future__ import annotations

import logging
import os
import sys

from rlsum.errors import disk_full
from rlsum.names import fix, foreign


def main() -> None:
    """Run the command line; errors of the user's making, impossible file names too, are one line and exit code 2.

    A full disk has the exit code ``os.EX_TEMPFAIL``: what asked for the command may ask again.
    """
    if not sys.stderr.isatty():  # in a log, every redraw of a bar would be a line; datasets looks when it is imported
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    _notice_foreign_packages()
    from rlsum.cli.app import USER_ERRORS, app

    notices = logging.getLogger("rlsum.readers")  # what a command understood of a file, in one line
    notices.setLevel(logging.INFO)
    notices.handlers[:] = [logging.StreamHandler(sys.stderr)]

    code = 2
    try:
        app()  # ends the process
    except USER_ERRORS as error:
        reason: str | None = str(error)
        code = os.EX_TEMPFAIL if disk_full(error) else code
    except OSError as error:
        code = os.EX_TEMPFAIL if disk_full(error) else code
        if error.filename is None and code == 2:
            raise
        reason = ": ".join(filter(None, (error.filename, error.strerror)))
        reason += (
            "; make room, then give the command again (a training: rlsum train --resume RUN)"
            if disk_full(error)
            else ""
        )
    except ModuleNotFoundError as error:
        from rewards.errors import missing_package  # not before it is known that this package is ours

        reason = missing_package(error)
        if reason is None:
            raise
        if reason.endswith("[contextual]'"):  # the commands that train need more
            reason = reason.replace("contextual", "train")
    print(f"rlsum: {reason}", file=sys.stderr)
    sys.exit(code)


def _notice_foreign_packages() -> None:
    """Say where a file or package of the name of one of ours hides it; end where the command cannot do without."""
    for name, needed in (("rewards", True), ("human_eval", "human-eval" in sys.argv[1:2])):
        file = foreign(name)
        if file is not None:
            print(f"rlsum: `import {name}` finds {file}, which is not rlsum's; {fix(file)}", file=sys.stderr)
            if needed:
                sys.exit(2)
