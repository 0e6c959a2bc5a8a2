"""Direct assessment of machine translation, WMT 2015 to 2018: one segment by one system, standardised human score.

Five layouts:

- a table ``year``, ``lp``, ``sid``, ``system``, ``human``, ``source``, ``mt``, ``reference``, ``text_origin``, or a
  folder of such tables;
- JSONL with ``lang``, ``candidate``, ``reference`` and ``score`` or ``rating``;
- the metrics tasks of 2015 and 2016: ``[DAseg.]newstest2016.PART.cs-en``, PART being ``human``, ``source``,
  ``mt-system`` and ``reference``;
- of 2017: ``DA-seglevel.csv`` with the systems' outputs and the references in the same folder or below;
- of 2018: ``RR-seglevel.csv`` likewise, which says of two outputs which is better.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from rlsum.judgments.collection import Judgments, count_joint, counted, split_joint
from rlsum.judgments.records import Judgment
from rlsum.judgments.tables import check_columns, find_file, finite, read_json_lines, read_lines, read_tsv
from rlsum.records import RecordError

UNNAMED = "unnamed"  # 2015 and 2016 do not say which system made a translation
JOINT = "+"  # one text that several systems made
HUMAN_FILE = re.compile(r"((?:DAseg\.)?newstest(20\d\d))\.human\.([a-z]{2}-[a-z]{2})")
RANKS = {"BETTER": 1.0, "WORSE": 0.0}
NO_TEXT = "whose text is not in the folder"


def wmt_da(
    path: Path, *, years: str = "", pairs: str = "to-english", joint: Literal["keep", "split"] = "keep"
) -> Judgments:
    """The score overall is the standardised human score; where better of two was asked, 1 for it and 0 for the other.

    ``pairs``: ``to-english`` (the default: English metrics say nothing of Russian), ``all``, or some of them
    (``'cs-en de-en'``). ``years`` (``'2015 2016'``) chooses among several. A group is a language pair; an input is a
    segment, ``2017/cs-en/33``. ``joint=split`` counts the judgment of a text that several systems share for each of
    them.
    """
    left_out: Counter[str] = Counter()
    rows, origins = [], Counter[str]()
    for row, origin in _rows(path, left_out):
        year, pair = row.id.split("/")[0], row.group
        if years and year not in years.replace(",", " ").split():
            left_out[f"of other years than {years}"] += 1
        elif not _wanted(pair, pairs):
            left_out[f"of {pair} (pairs={pairs})"] += 1
        else:
            rows.append(row)
            origins[origin] += 1
    shared = count_joint(rows, JOINT)
    notes = [
        f"{count:,} rows with {origin} texts" for origin, count in origins.items() if origin not in ("", "verbatim")
    ]
    if unnamed := sum(row.system == UNNAMED for row in rows):
        notes.append(f"{unnamed:,} rows whose system nobody recorded: no statistic of systems is possible there")
    if shared:
        notes.append(f"{shared:,} judgments of one text of several systems: joint={joint}")
    kept = split_joint(rows, JOINT) if joint == "split" else tuple(rows)
    return Judgments("wmt-da", kept, counted(left_out), notes)


def _wanted(pair: str, pairs: str) -> bool:
    if pairs == "to-english":
        return pair.endswith("-en")
    return pairs == "all" or pair in pairs.replace(",", " ").split()


def _rows(path: Path, left_out: Counter[str]) -> Iterator[tuple[Judgment, str]]:
    """Judgments, each with what is said of its texts ("" where nothing is)."""
    if path.is_file():
        yield from _json(path) if ".jsonl" in path.name else _table(path)
        return
    segments, ranks = find_file(path, ["DA-seglevel.csv"]), find_file(path, ["RR-seglevel.csv"])
    human = sorted(file for file in path.rglob("*newstest*.human.*") if HUMAN_FILE.fullmatch(file.name))
    tables = sorted(path.glob("wmt*_da_seg.tsv*"))
    if not (segments or ranks or human or tables):
        raise RecordError(f"{path}: no layout of WMT's direct assessment that is known; see the documentation")
    for file in tables:
        yield from _table(file)
    for file in human:
        yield from _parallel(file)
    if segments:
        yield from _assessed(segments, path, left_out)
    if ranks:
        yield from _ranked(ranks, path, left_out)


def _judgment(year: str, pair: str, segment: str, system: str, texts: tuple[str, str, str], score: float) -> Judgment:
    candidate, reference, source = texts
    name = f"{year}/{pair}/{segment}"  # the numbers of segments begin anew each year
    return Judgment(name, system or UNNAMED, candidate, (reference,), source, pair, {"overall": score})


def _table(path: Path) -> Iterator[tuple[Judgment, str]]:
    columns = ("year", "lp", "sid", "system", "human", "source", "mt", "reference", "text_origin")
    for row in read_tsv(path, columns):
        texts = row["mt"], row["reference"], row["source"]
        where = row["year"], row["lp"], row["sid"], row["system"]
        yield _judgment(*where, texts, row.number("human")), row["text_origin"]


def _json(path: Path) -> Iterator[tuple[Judgment, str]]:
    year = re.search(r"(?<!\d)(?:20)?(1[5-9])(?!\d)", path.name)
    for number, (where, row) in enumerate(read_json_lines(path), 1):
        try:
            score = finite(row["score"] if "score" in row else row["rating"], f"{where}: score")
            texts = str(row["candidate"]), str(row["reference"]), str(row.get("source") or "")
            said: Any = row.get("year") or (f"20{year[1]}" if year else "unknown")
            segment, system = str(row.get("segment_id", number)), str(row.get("system") or "")
            yield _judgment(str(said), row["lang"], segment, system, texts, score), ""
        except KeyError as error:
            raise RecordError(f"{where}: no {error}; lang, candidate, reference, score are expected") from error


def _parallel(human: Path) -> Iterator[tuple[Judgment, str]]:
    """Files of one language pair, a segment a line."""
    name = HUMAN_FILE.fullmatch(human.name)
    assert name is not None  # the caller looked
    files = [human.with_name(f"{name[1]}.{part}.{name[3]}") for part in ("mt-system", "reference", "source")]
    columns = [read_lines(file) for file in (*files, human)]
    if len({len(lines) for lines in columns}) > 1:
        told = ", ".join(f"{file.name} {len(lines):,}" for file, lines in zip((*files, human), columns, strict=True))
        raise RecordError(f"{human.parent}: files of {name[3]} differ in lines ({told}); line i must be of line i")
    for number, (candidate, reference, source, score) in enumerate(zip(*columns, strict=True), 1):
        texts = candidate, reference, source
        yield _judgment(name[2], name[3], str(number), "", texts, finite(score, f"{human}:{number}")), ""


def _assessed(path: Path, folder: Path, left_out: Counter[str]) -> Iterator[tuple[Judgment, str]]:
    texts = _Texts(folder)
    lines = read_lines(path)
    check_columns(path, lines[0].split() if lines else [], ("LP", "DATA", "SYSTEM", "SID", "HUMAN"))
    for number, line in enumerate(lines[1:], 2):
        cells = line.split()
        if len(cells) != 5:
            raise RecordError(f"{path}:{number}: {len(cells)} cells; LP DATA SYSTEM SID HUMAN are expected")
        pair, data, system, segment, score = cells
        found = texts.of(data, pair, system, segment)
        if found is None:
            left_out[f"of {pair}, {NO_TEXT}"] += 1
        else:
            year = data.removeprefix("newstest")
            yield _judgment(year, pair, segment, system, found, finite(score, f"{path}:{number}")), ""


def _ranked(path: Path, folder: Path, left_out: Counter[str]) -> Iterator[tuple[Judgment, str]]:
    """Each comparison is an input of its own with two systems. The header lacks the name of a first column."""
    texts = _Texts(folder)
    lines = read_lines(path)
    header = lines[0].split() if lines else []
    check_columns(path, header, ("SID", "BETTER", "WORSE"))
    for number, line in enumerate(lines[1:], 2):
        cells = line.split()
        named = dict(zip(reversed(header), reversed(cells), strict=False))
        if len(cells) < len(header):
            raise RecordError(f"{path}:{number}: {len(cells)} cells for {len(header)} columns")
        ranks = [(named[rank], texts.of("newstest2018", cells[0], named[rank], named["SID"])) for rank in RANKS]
        for (system, found), score in zip(ranks, RANKS.values(), strict=True):
            if any(text is None for _, text in ranks):
                left_out[f"of {cells[0]}, {NO_TEXT} (or its rival's)"] += 1
            elif found is not None:
                segment = f"{named['SID']}/{number - 1}"
                yield _judgment("2018", cells[0], segment, system, found, score), ""


class _Texts:
    """The outputs, references and sources of a metrics task, found by file name, each read once."""

    def __init__(self, folder: Path) -> None:
        self.files = {file.name: file for file in folder.rglob("newstest*") if file.is_file()}
        self.lines: dict[str, list[str]] = {}

    def of(self, data: str, pair: str, system: str, segment: str) -> tuple[str, str, str] | None:
        """Candidate, reference and source ("" where it is not there), None where one of the first two is not there."""
        source, target = pair.split("-")
        output = self._line(f"{data}.{system.split(JOINT)[0]}.{pair}", segment)
        reference = self._line(f"{data}-{source}{target}-ref.{target}", segment)
        if output is None or reference is None:
            return None
        return output, reference, self._line(f"{data}-{source}{target}-src.{source}", segment) or ""

    def _line(self, name: str, segment: str) -> str | None:
        if name not in self.files:
            return None
        if name not in self.lines:
            self.lines[name] = read_lines(self.files[name])
        lines = self.lines[name]
        if not segment.isdigit() or not 1 <= int(segment) <= len(lines):
            raise RecordError(f"{self.files[name]}: no line {segment}; the scores and the texts are of different tasks")
        return lines[int(segment) - 1]
