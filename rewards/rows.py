"""Columns of texts as they are handed over: refused where they have no rows in order, or not those of each other."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any


def fault_of_rows(columns: Mapping[str, Any]) -> str:
    """Why some of the columns, name -> values, cannot be paired row by row; "" where they can.

    A mapping would give its keys and a table its names for texts, a set any order. Series of pandas are paired by
    place, which is wrong for two whose indexes have another order.
    """
    for name, values in columns.items():
        if isinstance(values, Mapping):
            return f"{name}: a mapping, whose keys are no texts; give a list, such as [*{name}.values()]"
        if isinstance(values, Set):
            return f"{name}: a set, which has no order; give a list"
        if hasattr(values, "columns"):
            return f"{name}: a table of 2 dimensions; give one column of it"  # an array's rows may be lists of texts
        if getattr(values, "ndim", 1) == 0:
            return f"{name}: an array without rows; give a list"
    indexed = {name: values.index for name, values in columns.items() if hasattr(values, "iloc")}
    first = next(iter(indexed), "")
    if other := next((name for name, index in indexed.items() if not index.equals(indexed[first])), None):
        fix = "bring them into one order, then drop it with reset_index(drop=True)"
        return f"{first} and {other}: columns with another index, so that rows of one are not those of the other; {fix}"
    return ""
