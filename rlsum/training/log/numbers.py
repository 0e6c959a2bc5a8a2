"""Numbers for the log that carry how they are put together: over batches, updates and processes.

Each is a float, computed from ``parts`` that add up, or that ``merged`` puts together. A name means nothing here; what
it means is declared beside the code that makes the number (``declare``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np


@dataclass(frozen=True)
class Field:
    """A field of the log. The terminal, the reference and the tests read what it is.

    meaning  one line, with the unit
    sign     which values are a warning, and the remedy; "" for none
    prints   its format
    shown    on the terminal, while a run is trained
    machine  differs between runs that are otherwise equal
    """

    name: str
    meaning: str
    sign: str = ""
    prints: str = ".4g"
    shown: bool = False
    machine: bool = False


FIELDS: dict[str, Field] = {}


def declare(*fields: Field) -> None:
    """Say what fields of the log are. ``NAME`` in a name stands for that of any reward."""
    FIELDS.update((field.name, field) for field in fields)


def field_of(name: str) -> Field:
    """What a field is; a name that nothing declares is that of a metric."""
    named = f"{name.partition('/')[0]}/NAME"
    return FIELDS.get(name) or FIELDS.get(named) or Field(name, "a metric of the validation")


class Logged(float):
    """A number with the parts that it is computed from."""

    parts: tuple[float, ...]
    kinds: ClassVar[dict[str, type[Logged]]] = {}

    def __init_subclass__(cls) -> None:
        cls.kinds[cls.__name__] = cls

    def __new__(cls, *parts: float) -> Self:
        """The number that ``parts`` make."""
        made = super().__new__(cls, cls.value(*parts))
        made.parts = tuple(map(float, parts))
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[float, ...]]:
        return type(self), self.parts  # for other processes

    @staticmethod
    def value(*parts: float) -> float:
        """The number; NaN where nothing defines it."""
        return parts[0]

    def merged(self, other: Logged) -> Self:
        """The number over the values of both."""
        return type(self)(*map(sum, zip(self.parts, other.parts, strict=True)))

    def in_line(self, seconds: float, processes: int) -> float:
        """The value in a line of the log, after ``seconds`` of training on ``processes``."""
        return float(self)


class Rate(Logged):
    """A sum that is logged by the second."""

    def in_line(self, seconds: float, processes: int) -> float:
        """The sum over a second of all processes together."""
        return float(self) / seconds


class TimeShare(Logged):
    """Seconds, logged as a share of the time of all processes."""

    def in_line(self, seconds: float, processes: int) -> float:
        """The share, from 0 to 1."""
        return float(self) / (seconds * processes)


class Mean(Logged):
    """A mean: a sum, and the count that it is over."""

    @staticmethod
    def value(*parts: float) -> float:
        """NaN where nothing was counted."""
        total, count = parts
        return total / count if count else math.nan

    @classmethod
    def over(cls, mean: float, count: float) -> Self:
        """A mean that is known, over ``count``."""
        return cls(mean * count, count)

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """The mean of the values that are not NaN."""
        defined = values[~np.isnan(values)]
        return cls(defined.sum(), defined.size)


class Deviation(Logged):
    """A standard deviation: the mean, the squared deviations from it added up, and the count."""

    @staticmethod
    def value(*parts: float) -> float:
        """NaN where nothing was counted."""
        _, squares, count = parts
        return math.sqrt(squares / count) if count else math.nan

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """The standard deviation of the values, which are finite."""
        mean = values.mean() if values.size else 0.0
        return cls(mean, ((values - mean) ** 2).sum(), values.size)

    def merged(self, other: Logged) -> Self:
        """Chan, Golub and LeVeque 1983."""
        (mean, squares, count), (second, more, others) = self.parts, other.parts
        total = max(count + others, 1.0)
        apart = second - mean
        between = apart**2 * count * others / total
        return type(self)(mean + apart * others / total, squares + more + between, count + others)


class Least(Logged):
    """The smallest of some values; NaN of none."""

    def merged(self, other: Logged) -> Self:
        """The smaller one that is defined."""
        return type(self)(np.fmin(self, other))


class Greatest(Logged):
    """The largest of some values; NaN of none."""

    def merged(self, other: Logged) -> Self:
        """The larger one that is defined."""
        return type(self)(np.fmax(self, other))


Numbers = Mapping[str, Logged]


def to_json(numbers: Numbers) -> dict[str, list[Any]]:
    """Numbers as lists for JSON: the kind and the parts."""
    return {name: [type(number).__name__, *number.parts] for name, number in numbers.items()}


def from_json(written: Mapping[str, list[Any]]) -> dict[str, Logged]:
    """The numbers that ``to_json`` wrote."""
    return {name: Logged.kinds[kind](*parts) for name, (kind, *parts) in written.items()}


def together(logs: Iterable[Numbers]) -> dict[str, Logged]:
    """Merge several logs: name -> the number over all logs that have it."""
    merged: dict[str, Logged] = {}
    for log in logs:
        for name, number in log.items():
            merged[name] = merged[name].merged(number) if name in merged else number
    return merged
