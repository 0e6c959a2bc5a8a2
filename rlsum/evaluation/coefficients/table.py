"""The statistics of `rlsum correlate` by name.

A new one is a file of this room and a line here; docs/concepts/correlation.md lists them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlsum.evaluation.coefficients.statistic import Statistic

STATISTICS = {
    "spearman": "rlsum.evaluation.coefficients.spearman:SPEARMAN",
    "pearson": "rlsum.evaluation.coefficients.pearson:PEARSON",
    "kendall": "rlsum.evaluation.coefficients.kendall:KENDALL",
    "acc-t": "rlsum.evaluation.coefficients.acc_t:ACC_T",
    "spa": "rlsum.evaluation.coefficients.spa:SPA",
}
DEFAULT = ("spearman", "pearson", "kendall")


@cache
def named(name: str) -> Statistic:
    """The statistic of this name. Raises ValueError for an unknown one."""
    if name not in STATISTICS:
        raise ValueError(f"statistic={name!r} is unknown; use one of {', '.join(STATISTICS)}")
    module, _, constant = STATISTICS[name].partition(":")
    statistic: Statistic = getattr(import_module(module), constant)
    return statistic
