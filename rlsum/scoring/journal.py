"""A file that is written line by line and continued after a kill, without a line lost or written twice.

Lines are appended to OUT.scoring (or another ending), which becomes OUT in one step. OUT.scoring.json holds their
origin: another is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rlsum.errors import UserError, option
from rlsum.files import write_atomically
from rlsum.readers import NotJson, json_object, json_value, lines

try:
    import fcntl
except ImportError:  # Windows has no such lock: two runs at once are not detected
    fcntl = None  # type: ignore[assignment]


class Journal:
    """The lines of ``out`` written so far. ``origin`` is JSON; ``step`` lines are written together.

    Opening it removes the remains of an interrupted write: an incomplete line, and lines beyond a multiple of ``step``.
    Raises UserError where existing lines have another origin, unless they may be lost (``overwrite``), or another
    process is writing them.
    """

    def __init__(
        self, out: Path, origin: Mapping[str, Any], step: int, ending: str = ".scoring", overwrite: bool = False
    ) -> None:
        self.out, self.origin = out, json.loads(json.dumps(origin))
        self.path = out.with_name(out.name + ending)
        self.description = out.with_name(self.path.name + ".json")
        out.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.open("a+b")
        try:
            self._lock()
            self._check(overwrite)
        except BaseException:
            self.file.close()
            raise
        self.done = self._mend(step)

    def written(self) -> Iterator[dict[str, Any]]:
        """The rows written so far, parsed, in order."""
        for where, line in lines(self.path):
            try:
                yield json_value(line)
            except NotJson as error:
                raise UserError(f"{where}: damaged ({error}); remove {self.path} to start again") from error

    def append(self, rows: Iterable[str]) -> None:
        """Write lines and flush them, so that they survive a kill."""
        self.file.write("".join(f"{row}\n" for row in rows).encode())
        self.file.flush()

    def finish(self) -> None:
        """Turn the complete journal into ``out``."""
        os.fsync(self.file.fileno())
        self.file.close()
        self.path.replace(self.out)
        self.description.unlink()

    def close(self) -> None:
        """Close the file; a later run continues it."""
        self.file.close()

    def _check(self, overwrite: bool) -> None:
        described, fix = self.description.exists(), f"remove it and {self.path.name} to start anew"
        recorded = json_object(self.description, fix, UserError) if described else {}
        differing = [key for key in self.origin if recorded.get(key) != self.origin[key]]
        self.file.seek(0)
        if differing and not overwrite and (held := sum(line.endswith(b"\n") for line in self.file)):
            raise UserError(
                f"{self.path}: holds {held:,} lines of an earlier command, whose {', '.join(differing)} differed; "
                f"run that command to continue, or add {option('overwrite', True)} to start anew"
            )
        if differing or not described:
            self.file.truncate(0)  # before the description, or lines of another origin would pass for these
            write_atomically(self.description, json.dumps(self.origin, indent=2, ensure_ascii=False).encode())

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with the process
        except BlockingIOError as error:
            raise UserError(f"{self.path} is being written by another process; wait for it to end") from error
        except OSError:
            return  # a file system of a cluster that has no locks

    def _mend(self, step: int) -> int:
        """Truncate after the last whole group of lines; returns the number of lines kept."""
        self.file.seek(0)
        lines = kept = end = cut = 0
        for line in self.file:
            if not line.endswith(b"\n"):
                break
            lines, end = lines + 1, end + len(line)
            if lines % step == 0:
                kept, cut = lines, end
        self.file.truncate(cut)
        self.file.seek(0, os.SEEK_END)
        return kept
