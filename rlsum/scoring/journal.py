"""A file that is written line by line and continued after a kill, without a line lost or written twice.

Lines are appended to OUT.scoring, which becomes OUT in one step. OUT.scoring.json holds their origin: another is
refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rlsum.errors import UserError
from rlsum.files import write_atomically
from rlsum.readers import NotJson, json_value, lines

try:
    import fcntl
except ImportError:  # Windows has no such lock: two runs at once are not detected
    fcntl = None  # type: ignore[assignment]


class Journal:
    """The lines of ``out`` written so far. ``origin`` is JSON; ``step`` lines are written together.

    Opening it removes the remains of an interrupted write: an incomplete line, and lines beyond a multiple of ``step``.
    Raises UserError where existing lines have another origin, or another process is writing them.
    """

    def __init__(self, out: Path, origin: Mapping[str, Any], step: int) -> None:
        self.out, self.origin = out, json.loads(json.dumps(origin))
        self.path = out.with_name(out.name + ".scoring")
        self.description = out.with_name(out.name + ".scoring.json")
        out.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self._check()
        else:
            write_atomically(self.description, json.dumps(self.origin, indent=2, ensure_ascii=False).encode())
        self.file = self.path.open("a+b")
        self._lock()
        self.done = self._mend(step)

    def written(self) -> Iterator[dict[str, Any]]:
        """The rows written so far, parsed, in order."""
        for where, line in lines(self.path):
            try:
                yield json_value(line)
            except NotJson as error:
                raise UserError(f"{where}: damaged ({error}); remove {self.path} to start again") from error

    def append(self, rows: list[dict[str, Any]]) -> None:
        """Write rows and flush them, so that they survive a kill."""
        self.file.write(b"".join(json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n" for row in rows))
        self.file.flush()
        self.done += len(rows)

    def finish(self) -> None:
        """Turn the complete journal into ``out``."""
        os.fsync(self.file.fileno())
        self.file.close()
        self.path.replace(self.out)
        self.description.unlink()

    def close(self) -> None:
        """Close the file; a later run continues it."""
        self.file.close()

    def _check(self) -> None:
        fix = f"remove {self.path} to start again, or give another --out"
        try:
            known = json_value(self.description.read_bytes()) if self.description.exists() else {}
            other = [key for key in self.origin if known.get(key) != self.origin[key]]
        except (NotJson, AttributeError) as error:
            raise UserError(f"{self.description}: damaged; {fix}") from error
        if other:
            raise UserError(f"{self.path} is from an earlier scoring with other {' and '.join(other)}; {fix}")

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with the process
        except OSError as error:
            self.file.close()
            raise UserError(f"{self.path} is being written by another process; wait for it to end") from error

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
