"""What a reader returns: judgments, counts of the rows it left out, and notes on the choices it made."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from functools import reduce
from typing import Any, Literal, TypeVar

from rewards.options import nearest
from rlsum.errors import RecordError
from rlsum.judgments.records import Judgment

Scale = tuple[float, float]  # the lowest and the highest possible score
Joint = Literal["keep", "split"]
T = TypeVar("T")
EXACT = Context(prec=100)  # digits


@dataclass(frozen=True, repr=False)
class Judgments:
    """Judgments in the order of their file, without duplicates.

    ``left_out`` counts judgments that are not in ``rows``, by reason. ``notes`` describe the choices made. ``scales``
    gives (lowest, highest) for each score whose range is known.
    """

    name: str
    rows: tuple[Judgment, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)

    def __repr__(self) -> str:
        inputs = len({(row.group, row.id) for row in self.rows})
        scores = dict.fromkeys(name for row in self.rows for name in row.scores)
        systems = len({row.system for row in self.rows})
        counts = f"{len(self.rows):,} texts by {systems:,} systems for {inputs:,} inputs"
        return f"Judgments {self.name}: {counts}; scores {', '.join(scores)}"

    def to_frame(self) -> Any:
        """A judged text a row, a column for each human score; pandas must be installed (extra ``train``)."""
        import pandas

        fields = ("group", "id", "system", "candidate", "references", "source")
        return pandas.DataFrame([{name: getattr(row, name) for name in fields} | {**row.scores} for row in self.rows])

    def __post_init__(self) -> None:
        if not self.rows:
            reasons = "".join(f"; left out {count:,} {reason}" for reason, count in self.left_out.items())
            raise RecordError(f"{self.name}: no judgments{reasons}")
        places: dict[tuple[str, str, str], int] = {}
        for number, row in enumerate(self.rows, 1):
            if earlier := places.setdefault(row.key, number) - number:
                group = f" in group {row.group!r}" if row.group else ""
                raise RecordError(
                    f"{self.name}, row {number}: id {row.id!r} of system {row.system!r}{group} is also at row "
                    f"{number + earlier}; give each judged text a unique id or system"
                )


def keep(items: Iterable[T], left_out: Counter[str], reason: Callable[[T], str]) -> list[T]:
    """The items whose ``reason`` is "", in order; the others are counted in ``left_out`` under their reason."""
    kept = []
    for item in items:
        if why := reason(item):
            left_out[why] += 1
        else:
            kept.append(item)
    return kept


def joint_systems(rows: Sequence[Judgment], sign: str, joint: Joint) -> tuple[tuple[Judgment, ...], list[str]]:
    """Rows of several systems (``a+b`` where ``sign`` is ``+``), kept or split; and a note that counts them, if any."""
    count = sum(sign in row.system for row in rows)
    noun = "judgment" if count == 1 else "judgments"
    notes = [f"{count:,} {noun} of one text by several systems: joint={joint}"] if count else []
    if joint == "split":
        rows = [replace(row, system=system) for row in rows for system in row.system.split(sign)]
    return tuple(rows), notes


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None, as they are written; None for none.

    Means that are equal are so in floats, too, and stay ties: that of .1 three times is .1.
    """
    defined = [float(value) for value in values if value is not None]
    if not defined:
        return None
    if all(value.is_integer() for value in defined):
        return math.fsum(defined) / len(defined)
    return float(EXACT.divide(reduce(EXACT.add, (Decimal(str(value)) for value in defined)), len(defined)))


def words(text: str) -> list[str]:
    """The words of an option that lists several, separated by spaces or commas; 1-3 is 1, 2 and 3."""

    def numbers(ends: re.Match[str]) -> str:
        return " ".join(map(str, range(int(ends[1]), int(ends[2]) + 1))) or ends[0]

    return re.sub(r"\b(\d{1,4})\s*-\s*(\d{1,4})\b", numbers, text).replace(",", " ").split()


def selected(option: str, text: str, present: Iterable[str]) -> set[str]:
    """The names that an option lists, see `words`; if none, all ``present`` ones. Raises RecordError for any other."""
    names, known = words(text), dict.fromkeys(present)
    for name in names:
        if name not in known:
            hint = f"{nearest(name, known)}; there are {', '.join(known)}"
            raise RecordError(f"{option}={text!r}: no judgment is of {name!r}{hint}")
    return {*(names or known)}


# ---- counts of judgments --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreSpread:
    """One score. ``ties``: share of pairs of rows with equal scores. ``judges``: rows by their number of judges."""

    name: str
    given: int
    missing: int
    lowest: float | None
    highest: float | None
    mean: float | None
    ties: float | None
    judges: dict[int, int]
    scale: Scale | None


@dataclass(frozen=True)
class JudgmentCounts:
    """Counts of judgments. ``systems``, ``groups``: rows by name; ``references``: rows by number of references."""

    rows: int
    inputs: int
    systems: dict[str, int]
    groups: dict[str, int]
    references: dict[int, int]
    without_source: int
    scores: tuple[ScoreSpread, ...]


def describe(judgments: Judgments) -> JudgmentCounts:
    """The counts of ``judgments``."""
    rows = judgments.rows
    names = dict.fromkeys(name for row in rows for name in (*row.scores, *row.raw_scores))
    return JudgmentCounts(
        rows=len(rows),
        inputs=len({(row.group, row.id) for row in rows}),
        systems=dict(Counter(row.system for row in rows).most_common()),
        groups=dict(Counter(row.group for row in rows if row.group)),
        references=_sorted(len(row.references) for row in rows),
        without_source=sum(not row.source for row in rows),
        scores=tuple(_spread(name, judgments) for name in names),
    )


def _spread(name: str, judgments: Judgments) -> ScoreSpread:
    values = [value for row in judgments.rows if (value := row.scores.get(name)) is not None]
    pairs = len(values) * (len(values) - 1)
    tied = sum(count * (count - 1) for count in Counter(values).values())
    judges = (sum(value is not None for value in row.raw_scores.get(name, ())) for row in judgments.rows)
    return ScoreSpread(
        name=name,
        given=len(values),
        missing=len(judgments.rows) - len(values),
        lowest=min(values, default=None),
        highest=max(values, default=None),
        mean=mean(values),
        ties=tied / pairs if pairs else None,
        judges=_sorted(judges),
        scale=judgments.scales.get(name),
    )


def _sorted(numbers: Iterable[int]) -> dict[int, int]:
    return dict(sorted(Counter(numbers).items()))
