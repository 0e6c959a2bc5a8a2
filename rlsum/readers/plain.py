"""Rows of plain text: ``.story`` files, pairs of files with a text a line, one file of texts."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from rlsum.errors import RecordError
from rlsum.readers.rows import CorpusError, Read, numbered
from rlsum.readers.text import BOM, COMPRESSED, NOT_UTF8, lines, opened, text_of, uncompressed
from rlsum.readers.understood import say

# Ends of sentences for See et al. (2017), who add a period to lines of `.story` files without one.
SENTENCE_ENDS = (".", "!", "?", "...", "'", "`", '"', "\u2019", "\u201d", ")")
PARTNERS = {".source": ".target", ".src": ".tgt", ".document": ".summary"}  # articles -> summaries, line by line
NAMES = re.compile(rb"(?i)[\w .-]*(candidate|reference|summary|article|source|highlights|prediction)s?[\w .-]*")


def texts(path: Path, name: str) -> Iterator[Read]:
    """The lines of a file in the field ``name``. Raises RecordError for text that is no UTF-8, and for a table."""
    number = tabbed = 0
    for number, (where, line) in enumerate(lines(path), 1):
        if number == 1 and _is_header(line.strip()):
            raise RecordError(f"{where}: the header of a table, not a text; call the file .csv or .tsv")
        tabbed += b"\t" in line.strip()
        yield Read(where, numbered(path, number), {name: text_of(where, line).rstrip("\r\n")})
    if number and tabbed == number:
        raise RecordError(
            f"{path}: a tab in every line, as in a table; give a text a line (several references: a file each), or "
            "write a header and call the file .tsv"
        )
    if tabbed:
        say(f"{path}: {tabbed:,} of {number:,} texts hold a tab", logging.WARNING)


def _is_header(line: bytes) -> bool:
    """Whether a line has two names of columns or more, one of them of texts."""
    cells = [cell.strip(b"\"' ") for cell in re.split(rb"[,;\t]", line)]
    named = all(re.fullmatch(rb"[\w.-]{1,30}", cell) for cell in cells)
    return len(cells) > 1 and named and any(map(NAMES.fullmatch, cells))


def line_pairs(path: Path) -> Iterator[Read]:
    """Rows of ``train.source`` with the lines of ``train.target``: ``source`` and ``reference``. Raises CorpusError."""
    partner = partner_of(path)
    if partner is None:
        plain = uncompressed(path)
        name = plain.stem + PARTNERS[plain.suffix]
        raise CorpusError(f"path={str(path)!r}: no {name} beside it; give the summaries of its articles, one a line")
    pairs = zip_longest(lines(path), lines(partner))
    for number, (article, summary) in enumerate(pairs, 1):
        if article is None or summary is None:
            longer, shorter = (partner, path) if article is None else (path, partner)
            raise CorpusError(f"{longer}:{number}: {shorter} ends before; line i of both must belong to one article")
        fields = {"source": text_of(*article).strip(), "reference": text_of(*summary).strip()}
        yield Read(article[0], numbered(path, number), fields)


def partner_of(path: Path) -> Path | None:
    """The file of summaries beside one of articles; None where there is none, and for any other format."""
    plain = uncompressed(path)
    beside = (path.with_name(plain.stem + PARTNERS.get(plain.suffix, "") + end) for end in ("", *COMPRESSED))
    return next(filter(Path.is_file, beside), None) if plain.suffix in PARTNERS else None


def story_file(path: Path) -> Iterator[Read]:
    """The one row of a ``.story`` file: ``id``, ``article``, ``highlights``."""
    with opened(path) as file:
        content = file.read()
    where, name = f"{path}:1", path.name.split(".")[0]
    try:
        lines = [line.strip() for line in content.removeprefix(BOM).decode("utf-8").split("\n")]
    except UnicodeDecodeError:
        yield Read(where, name, {}, NOT_UTF8)
        return
    fields = {"id": name, **story(lines)}
    yield Read(where, name, fields, "" if "@highlight" in lines else "no @highlight")


def story(lines: list[str]) -> dict[str, str]:
    """Split the stripped lines of a ``.story`` file into ``article`` (one line) and ``highlights`` (a sentence a line).

    As in the published CNN/DailyMail corpora, a line without an end mark gets " ." (See et al. 2017).
    """
    article: list[str] = []
    highlights: list[str] = []
    section = article
    for line in lines:
        if line == "@highlight":
            section = highlights
        elif line:
            section.append(line if line.endswith(SENTENCE_ENDS) else f"{line} .")
    return {"article": " ".join(article), "highlights": "\n".join(highlights)}
