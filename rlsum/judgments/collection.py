"""What a reader returns: judgments, what it left out and why, and the choices it made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rlsum.judgments.records import Judgment, unique
from rlsum.records import RecordError

Scale = tuple[float, float]  # the lowest and the highest score that could be given


@dataclass(frozen=True)
class Judgments:
    """Judgments in the order of their file, none twice.

    ``left_out`` counts what the file holds and ``rows`` does not, by reason. ``notes`` say in words what was chosen.
    ``scales`` holds the scores whose lowest and highest possible value is known, as (lowest, highest).
    """

    name: str
    rows: tuple[Judgment, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.rows:
            reasons = "".join(f"; {count:,} {reason}" for reason, count in self.left_out.items())
            raise RecordError(f"{self.name}: no judgments{reasons}")
        for _ in unique((f"{self.name}, row {number}", row) for number, row in enumerate(self.rows, 1)):
            pass  # raises where one is there twice


def split_joint(rows: Sequence[Judgment], sign: str) -> tuple[Judgment, ...]:
    """Judgments of one text by several systems (``a+b`` where ``sign`` is ``+``), once for each of the systems."""
    return tuple(replace(row, system=system) for row in rows for system in row.system.split(sign))


def count_joint(rows: Sequence[Judgment], sign: str) -> int:
    """How many judgments are of one text by several systems."""
    return sum(sign in row.system for row in rows)


def counted(reasons: Counter[str]) -> dict[str, int]:
    """The reasons that occurred, in order of first occurrence."""
    return {reason: count for reason, count in reasons.items() if count}


def number_repeats(rows: Sequence[Judgment]) -> tuple[tuple[Judgment, ...], int]:
    """Rows whose key came before get a system of their own, ``name (2)``; also returns how many there were."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found, repeats = [], 0
    for row in rows:
        seen[row.key] += 1
        number = seen[row.key]
        repeats += number > 1
        found.append(replace(row, system=f"{row.system} ({number})") if number > 1 else row)
    return tuple(found), repeats


def mean(values: Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return sum(values) / len(values) if values else None
