"""Direct assessment of WMT's metrics task, segment by segment: tab-separated, a header, no quoting.

Columns ``year, lp, sid, system, human, source, mt, reference``; more may follow. ``human`` is standardised for each
judge and is the score ``overall``; the language pair is the group.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterator
from pathlib import Path

from rlsum.judgments.records import Judgment, unique
from rlsum.records import RecordError

COLUMNS = ("year", "lp", "sid", "system", "human", "source", "mt", "reference")


def read_wmt(path: Path) -> list[Judgment]:
    """The judgments of one file (gzip where its name ends in .gz). Raises RecordError naming the first bad line."""
    try:
        return unique(_rows(path))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: cannot be read ({error}); give a tab-separated file in UTF-8") from error


def _rows(path: Path) -> Iterator[tuple[str, Judgment]]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig", newline="\n") as file:
        header = next(file, "").rstrip("\r\n").split("\t")
        missing = [name for name in COLUMNS if name not in header]
        if missing:
            raise RecordError(f"{path}:1: no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
        for line_number, line in enumerate(file, 2):
            where, cells = f"{path}:{line_number}", line.rstrip("\r\n").split("\t")
            if len(cells) != len(header):
                raise RecordError(f"{where}: {len(cells)} columns, but the header has {len(header)}")
            yield where, _judgment(where, dict(zip(header, cells, strict=True)))


def _judgment(where: str, row: dict[str, str]) -> Judgment:
    try:
        human = float(row["human"])
    except ValueError:
        human = math.nan
    if not math.isfinite(human):
        raise RecordError(f"{where}: human is {row['human']!r}, not a finite number")
    return Judgment(
        id=f"{row['year']}.{row['sid']}",  # the numbers of segments begin anew each year
        system=row["system"],
        candidate=row["mt"],
        references=(row["reference"],),
        source=row["source"],
        group=row["lp"],
        scores={"overall": human},
    )
