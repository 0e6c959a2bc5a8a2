"""One pair of metrics, tested."""

from __future__ import annotations

from typing import Any

from rlsum.evaluation.significance import MetricTest, compare_all_metrics


def compare_metrics(human: Any, a: Any, b: Any, **options: Any) -> MetricTest:
    """The test of metric ``a`` against ``b``."""
    (result,) = compare_all_metrics(human, {"a": a, "b": b}, **options)
    return result
