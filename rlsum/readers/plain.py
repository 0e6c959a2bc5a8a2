"""Rows of plain text: pairs of files with a text a line, one file of texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from rlsum.errors import RecordError
from rlsum.readers.rows import CorpusError, Read, numbered
from rlsum.readers.text import lines, text_of

PARTNERS = {".source": ".target", ".src": ".tgt", ".document": ".summary"}  # articles -> summaries, line by line
NAMES = re.compile(rb"(?i)[\w .-]*(candidate|reference|summary|article|source|highlights|prediction)s?[\w .-]*")


def texts(path: Path, name: str) -> Iterator[Read]:
    """The lines of a file in the field ``name``. Raises RecordError for text that is no UTF-8, and for a table."""
    for number, (where, line) in enumerate(lines(path), 1):
        if number == 1 and _is_header(line.strip()):
            raise RecordError(f"{where}: the header of a table, not a text; call the file .csv or .tsv")
        yield Read(where, numbered(path, number), {name: text_of(where, line).rstrip("\r\n")})


def _is_header(line: bytes) -> bool:
    """Whether a line has two names of columns or more, one of them of texts."""
    cells = [cell.strip(b"\"' ") for cell in re.split(rb"[,;\t]", line)]
    named = all(re.fullmatch(rb"[\w.-]{1,30}", cell) for cell in cells)
    return len(cells) > 1 and named and any(map(NAMES.fullmatch, cells))


def line_pairs(path: Path) -> Iterator[Read]:
    """Rows of ``train.source`` with the lines of ``train.target``: ``source`` and ``reference``. Raises CorpusError."""
    zipped = path.suffix == ".gz"
    own = Path(path.stem).suffix if zipped else path.suffix
    name = path.name.removesuffix(".gz").removesuffix(own) + PARTNERS[own]
    partner = next((path.with_name(end) for end in (name, f"{name}.gz") if path.with_name(end).is_file()), None)
    if partner is None:
        raise CorpusError(f"path={str(path)!r}: no {name} beside it; give the summaries of its articles, one a line")
    pairs = zip_longest(lines(path), lines(partner))
    for number, (article, summary) in enumerate(pairs, 1):
        if article is None or summary is None:
            longer, shorter = (partner, path) if article is None else (path, partner)
            raise CorpusError(f"{longer}:{number}: {shorter} ends before; line i of both must belong to one article")
        fields = {"source": text_of(*article).strip(), "reference": text_of(*summary).strip()}
        yield Read(article[0], numbered(path, number), fields)
