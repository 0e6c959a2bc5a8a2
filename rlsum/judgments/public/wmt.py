"""Direct assessment of machine translation, WMT 2015 to 2018: standardised human scores of segments by systems.

Five layouts:

- a table ``year``, ``lp``, ``sid``, ``system``, ``human``, ``source``, ``mt``, ``reference``, ``text_origin``, or a
  folder of such tables;
- JSONL with ``lang``, ``candidate``, ``reference`` and ``score`` or ``rating``;
- the metrics tasks of 2015 and 2016: ``[DAseg.]newstest2016.PART.cs-en``, PART being ``human``, ``source``,
  ``mt-system`` and ``reference``;
- of 2017: ``DA-seglevel.csv``, with the systems' outputs and the references in the same folder or below;
- of 2018: ``RR-seglevel.csv`` with the same texts; a line names the better and the worse of two outputs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from glob import escape
from pathlib import Path

from rlsum.errors import RecordError
from rlsum.judgments.collection import Joint, Judgments, joint_systems, keep, selected
from rlsum.judgments.public.tables import check_columns, find_file, finite, parsing, read_lines, read_objects, read_tsv
from rlsum.judgments.records import Judgment

UNNAMED = "unnamed"  # the data of 2015 and 2016 do not name systems
JOINT = "+"  # joins the names of systems with the same text
HUMAN_FILE = re.compile(r"((?:DAseg\.)?newstest(20\d\d))\.human\.([a-z]{2}-[a-z]{2})")
VERBATIM = "verbatim"  # the usual origin of the texts in a table
RANKS = {"BETTER": 1.0, "WORSE": 0.0}
NO_TEXT = "without a text in the folder"


def wmt_da(path: Path, *, years: str = "", pairs: str = "to-english", joint: Joint = "keep") -> Judgments:
    """The score overall is the standardised human score; in 2018, 1 for the better and 0 for the worse of two texts.

    ``pairs``: ``to-english`` (the default, because metrics for English do not apply elsewhere), ``all``, or a list
    (``'cs-en de-en'``). ``years`` (``'2015 2016'``) selects years. A group is a language pair; an input is a segment,
    ``2017/cs-en/33``. ``joint=split`` counts the judgment of a text shared by several systems once for each.
    """
    left_out = Counter[str]()
    every = list(_rows(path, left_out))
    wanted_years = selected("years", years, (_year(row) for row, _ in every))
    groups = dict.fromkeys(row.group for row, _ in every)
    to_english = [group for group in groups if group.endswith("-en")]
    wanted_pairs = {"all": groups, "to-english": to_english}.get(pairs) or selected("pairs", pairs, groups)

    def reason(item: tuple[Judgment, str]) -> str:
        row, _ = item
        if _year(row) not in wanted_years:
            return f"of other years than {years}"
        return "" if row.group in wanted_pairs else f"of {row.group} (pairs={pairs})"

    judged = keep(every, left_out, reason)
    rows, joint_notes = joint_systems([row for row, _ in judged], JOINT, joint)
    origins = Counter(origin for _, origin in judged)
    notes = [f"{count:,} rows with {origin} texts" for origin, count in origins.items() if origin not in ("", VERBATIM)]
    if unnamed := sum(row.system == UNNAMED for row, _ in judged):
        notes.append(f"{unnamed:,} rows do not name their system and have no statistic at level system")
    return Judgments("wmt-da", rows, left_out, [*notes, *joint_notes])


def _year(row: Judgment) -> str:
    return row.id.split("/")[0]


def _rows(path: Path, left_out: Counter[str]) -> Iterator[tuple[Judgment, str]]:
    """Judgments with the origin of their texts, "" if unknown."""
    if path.is_file():
        yield from _json(path) if ".jsonl" in path.name else _table(path)
        return
    segments, ranks = find_file(path, "DA-seglevel.csv"), find_file(path, "RR-seglevel.csv")
    human = sorted(file for file in path.rglob("*newstest*.human.*") if HUMAN_FILE.fullmatch(file.name))
    tables = sorted(path.glob("wmt*_da_seg.tsv*"))
    if not (segments or ranks or human or tables):
        raise RecordError(f"{path}: not a known layout of WMT's direct assessment; see the documentation")
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
    name = f"{year}/{pair}/{segment}"  # each year numbers its segments from 1
    return Judgment(name, system or UNNAMED, candidate, (reference,), source, pair, {"overall": score})


def _table(path: Path) -> Iterator[tuple[Judgment, str]]:
    columns = ("year", "lp", "sid", "system", "human", "source", "mt", "reference", "text_origin")
    for row in read_tsv(path, columns):
        texts = row["mt"], row["reference"], row["source"]
        where = row["year"], row["lp"], row["sid"], row["system"]
        yield _judgment(*where, texts, row.number("human")), row["text_origin"]


def _json(path: Path) -> Iterator[tuple[Judgment, str]]:
    year = re.search(r"(?<!\d)(?:20)?(1[5-9])(?!\d)", path.name)
    for number, (where, row) in enumerate(read_objects(path), 1):
        with parsing(where, "a judgment with lang, candidate, reference, and score or rating"):
            score = finite(row["score"] if "score" in row else row["rating"], f"{where}: score")
            texts = str(row["candidate"]), str(row["reference"]), str(row.get("source") or "")
            row_year = str(row.get("year") or (f"20{year[1]}" if year else "unknown"))
            segment, system = str(row.get("segment_id", number)), str(row.get("system") or "")
            yield _judgment(row_year, row["lang"], segment, system, texts, score), ""


def _parallel(human: Path) -> Iterator[tuple[Judgment, str]]:
    """Parallel files of one language pair, one segment per line."""
    name = HUMAN_FILE.fullmatch(human.name)
    assert name is not None  # the caller matched it
    files = [human.with_name(f"{name[1]}.{role}.{name[3]}") for role in ("mt-system", "reference", "source")]
    columns = [read_lines(file) for file in (*files, human)]
    if len({len(lines) for lines in columns}) > 1:
        sizes = ", ".join(f"{file.name} {len(lines):,}" for file, lines in zip((*files, human), columns, strict=True))
        raise RecordError(f"{human.parent}: files of {name[3]} differ in lines ({sizes}); they must be parallel")
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
        segment_texts = texts.of(data, pair, system, segment)
        if segment_texts is None:
            left_out[f"of {pair}, {NO_TEXT}"] += 1
        else:
            year = data.removeprefix("newstest")
            yield _judgment(year, pair, segment, system, segment_texts, finite(score, f"{path}:{number}")), ""


def _ranked(path: Path, folder: Path, left_out: Counter[str]) -> Iterator[tuple[Judgment, str]]:
    """Each comparison is one input with two systems. The header does not name the first column."""
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
        for (system, segment_texts), score in zip(ranks, RANKS.values(), strict=True):
            if any(None in side for side in ranks):
                left_out[f"of {cells[0]}, {NO_TEXT} for both systems"] += 1
            elif segment_texts is not None:
                segment = f"{named['SID']}/{number - 1}"
                yield _judgment("2018", cells[0], segment, system, segment_texts, score), ""


class _Texts:
    """The outputs, references and sources of a metrics task by file name; each file is read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: dict[str, list[str] | None] = {}

    def of(self, data: str, pair: str, system: str, segment: str) -> tuple[str, str, str] | None:
        """Candidate, reference and source ("" if missing); None if the candidate or the reference is missing."""
        source, target = pair.split("-")
        output = self._line(f"{data}.{system.split(JOINT)[0]}.{pair}", segment)
        reference = self._line(f"{data}-{source}{target}-ref.{target}", segment)
        if output is None or reference is None:
            return None
        return output, reference, self._line(f"{data}-{source}{target}-src.{source}", segment) or ""

    def _line(self, name: str, segment: str) -> str | None:
        if name not in self.lines:
            file = find_file(self.folder, escape(name))
            self.lines[name] = read_lines(file) if file else None
        lines = self.lines[name]
        if lines is None:
            return None
        if not segment.isdigit() or not 1 <= int(segment) <= len(lines):
            raise RecordError(f"{name}: no line {segment}; scores and texts belong to different tasks")
        return lines[int(segment) - 1]
