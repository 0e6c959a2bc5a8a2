"""What the numbers of a plan may be: one table for options and for the columns of scenarios."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from rlsum.errors import UserError

_SHARE = (lambda value: 0 <= value < 1, "a share from 0 to below 1, such as 0.1 for 10%")
_LEVEL = (lambda value: 0 < value < 1, "a number between 0 and 1")
# Name -> whether a value is valid, and the valid values in words.
RANGES: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "preference": (lambda value: 0.5 < value < 1, "a number above .5 and below 1, such as 0.6"),
    "ties": (lambda value: 0 <= value < 1, "a number from 0 to below 1, such as 0.2"),
    "correlation": (lambda value: 0 <= value <= 1, "a number from 0 to 1, such as 0.3"),
    "spread": (lambda value: 0 <= value < 0.5, "a number from 0 to below .5, such as 0.1"),
    "judges": (lambda value: 1 <= value <= 100 and value % 1 == 0, "a whole number from 1 to 100"),
    "power": _LEVEL,
    "alpha": _LEVEL,
    "pairs": (lambda value: 1 <= value <= 1_000, "1 to 1,000"),  # more fill the memory
    "items": (lambda value: 1 <= value <= 10_000, "1 to 10,000"),
    "booklet": (lambda value: value >= 1, "1 or more"),
    "attrition": _SHARE,
    "excluded": _SHARE,
    "minutes": (lambda value: 0 < value < math.inf, "a number above 0, such as 4 for a news article"),
    "checks": (lambda value: value >= 0, "a whole number, 0 or more"),
    "pay": (lambda value: 0 < value < math.inf, "an amount above 0 for an hour; leave it out for no money"),
    "fee": (lambda value: 0 <= value < math.inf, "a share of the pay, 0 or more, such as 0.33 for 33%"),
}


def check_range(where: str, name: str, value: float) -> None:
    """Raise UserError, beginning with ``where``, for an invalid value of ``name``."""
    is_valid, expected = RANGES[name]
    if not is_valid(value):
        raise UserError(f"{where}: expected {expected}")


def check_ranges(values: Mapping[str, float | None]) -> None:
    """Raise UserError naming the first option, of name -> value, that is out of range; None is no value."""
    for name, value in values.items():
        if value is not None:
            check_range(f"--{name} {value:g}", name, value)
