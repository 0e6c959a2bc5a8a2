"""Shards of a file of outputs: jobs that write one of several each, and how these become the file."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlsum.errors import UserError, option
from rlsum.files import file_digest, replacing, write_atomically
from rlsum.readers import json_object
from rlsum.scoring.journal import Journal


@dataclass(frozen=True)
class Shard:
    """Number ``number`` of ``count`` shards, from 1; 0: all of them, which are put together. Of one: the whole file."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Of ``3/8`` or ``all/8``. Raises UserError."""
        written = re.fullmatch(r"(all|[0-9]{1,9})/([0-9]{1,9})", text)
        number, count = (int(written[1].replace("all", "0")), int(written[2])) if written else (-1, 0)
        if number > count or number < 0 or text.startswith("0"):
            example = "3/8 for the third of eight, all/8 to put the eight together"
            raise UserError(f"{option('shard', text)}: give its number and that of all, {example}")
        return cls(number, count)

    @classmethod
    def launched(cls) -> Shard:
        """That of this process of several that a launcher has started."""
        return cls(int(os.environ.get("RANK", "0")) + 1, int(os.environ.get("WORLD_SIZE", "1")))

    @classmethod
    def given(cls, text: str | None) -> Shard:
        """That of the text; without one `launched`. Raises UserError."""
        return cls.launched() if text is None else cls.parse(text)

    @property
    def partial(self) -> bool:
        """Whether it is one of several."""
        return self.number > 0 and self.count > 1

    def __str__(self) -> str:
        return f"{self.number or 'all'}/{self.count}"

    def file(self, out: Path) -> Path:
        """The file that it writes."""
        return out.with_name(f"{out.name}.{self.number}-of-{self.count}") if self.partial else out

    def rows(self, total: int, step: int) -> range:
        """Its rows. Shards end where groups of ``step`` rows end, which are scored together. Raises UserError."""
        groups = -(-total // step)
        if 1 < self.count > groups:
            fix = f"use at most {groups}"
            raise UserError(f"{option('shard', str(self))}: {total:,} rows are {groups} groups of {step:,}; {fix}")
        if not self.partial:
            return range(total)
        first, end = (groups * number // self.count * step for number in (self.number - 1, self.number))
        return range(first, min(end, total))

    @contextmanager
    def journal(
        self, out: Path, origin: Mapping[str, Any], step: int, ending: str = ".scoring", overwrite: bool = False
    ) -> Iterator[Journal]:
        """The journal of its file of ``out``, finished at the end; that of all holds every line. Raises UserError."""
        if not self.number:
            self._merge(out, origin, ending)
        description = self._origin(origin)
        with closing(Journal(self.file(out), description, step if self.number else 1, ending, overwrite)) as journal:
            yield journal
            if self.partial:
                described = {**description, DIGEST: file_digest(journal.path)}
                write_atomically(_description(self.file(out)), json.dumps(described).encode())
            journal.finish()

    def _origin(self, origin: Mapping[str, Any]) -> dict[str, Any]:
        """What its lines depend on."""
        return {**origin, "shard": str(self)} if self.partial else {**origin}

    def _merge(self, out: Path, origin: Mapping[str, Any], ending: str) -> None:
        """Write the lines of all shards as the journal of ``out``. Raises UserError where one is not ready."""
        shards = [Shard(number, self.count) for number in range(1, self.count + 1)]
        files = [shard.file(out) for shard in shards]
        ready = [file.is_file() and _description(file).is_file() for file in files]
        if missing := [str(shard) for shard, there in zip(shards, ready, strict=True) if not there]:
            raise UserError(f"{option('shard', str(self))}: not complete: {', '.join(missing)}; run them before")
        for shard, file in zip(shards, files, strict=True):
            recorded, now = json_object(_description(file), "run the shard again", UserError), shard._origin(origin)
            if differing := [key for key in now if recorded.get(key) != json.loads(json.dumps(now[key]))]:
                raise UserError(
                    f"{file}: of a command whose {', '.join(differing)} differed; run the shard again with "
                    f"{option('overwrite', True)}"
                )
            if recorded.get(DIGEST) != file_digest(file):
                raise UserError(f"{file}: not as shard {shard} left it; copy it again, or run the shard again")
        journal = out.with_name(out.name + ending)
        with replacing(journal) as partial, partial.open("wb") as merged:
            for file in files:
                with file.open("rb") as lines:
                    shutil.copyfileobj(lines, merged)
        write_atomically(journal.with_name(journal.name + ".json"), json.dumps(dict(origin)).encode())


WHOLE = Shard(1, 1)
DIGEST = "sha256"  # of the finished file, in its description


def _description(file: Path) -> Path:
    return file.with_name(f"{file.name}.json")
