"""Direct assessment of machine translation, WMT 2015 to 2017: standardised human scores of segments by systems.

A table ``year``, ``lp``, ``sid``, ``system``, ``human``, ``source``, ``mt``, ``reference``, ``text_origin``, or a
folder of such tables, ``wmt*_da_seg.tsv``. Other layouts, such as those of the hub, are read by their columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, joint_systems, keep, words
from rlsum.judgments.public.tables import read_tsv
from rlsum.judgments.records import Judgment

UNNAMED = "unnamed"  # the data of 2015 and 2016 do not name systems
JOINT = "+"  # joins the names of systems with the same text
VERBATIM = "verbatim"  # the usual origin of the texts in a table


def wmt_da(path: Path, *, years: str = "", pairs: str = "to-english") -> Judgments:
    """The score overall is the standardised human score.

    ``pairs``: ``to-english`` (the default, because metrics for English do not apply elsewhere), ``all``, or a list
    (``'cs-en de-en'``). ``years`` (``'2015 2016'``) selects years. A group is a language pair; an input is a segment,
    ``2017/cs-en/33``.
    """
    wanted_years, wanted_pairs = words(years), words(pairs)

    def reason(item: tuple[Judgment, str]) -> str:
        row, _ = item
        if years and row.id.split("/")[0] not in wanted_years:
            return f"of other years than {years}"
        wanted = row.group.endswith("-en") if pairs == "to-english" else pairs == "all" or row.group in wanted_pairs
        return "" if wanted else f"of {row.group} (pairs={pairs})"

    left_out = Counter[str]()
    kept = keep(_rows(path), left_out, reason)
    rows = tuple(row for row, _ in kept)
    origins = Counter(origin for _, origin in kept)
    notes = [f"{count:,} rows with {origin} texts" for origin, count in origins.items() if origin not in ("", VERBATIM)]
    if unnamed := sum(row.system == UNNAMED for row in rows):
        notes.append(f"{unnamed:,} rows do not name their system and have no statistic at level system")
    return Judgments("wmt-da", rows, left_out, [*notes, *joint_systems(rows, JOINT)])


def _rows(path: Path) -> Iterator[tuple[Judgment, str]]:
    """Judgments with the origin of their texts."""
    tables = [path] if path.is_file() else sorted(path.glob("wmt*_da_seg.tsv*"))
    if not tables:
        raise RecordError(f"{path}: no wmt*_da_seg.tsv in this folder; give a table, or a folder of them")
    for file in tables:
        yield from _table(file)


def _table(path: Path) -> Iterator[tuple[Judgment, str]]:
    columns = ("year", "lp", "sid", "system", "human", "source", "mt", "reference", "text_origin")
    for row in read_tsv(path, columns):
        name = f"{row['year']}/{row['lp']}/{row['sid']}"  # each year numbers its segments from 1
        texts = row["mt"], (row["reference"],), row["source"]
        scores = {"overall": row.number("human")}
        yield Judgment(name, row["system"] or UNNAMED, *texts, row["lp"], scores), row["text_origin"]
