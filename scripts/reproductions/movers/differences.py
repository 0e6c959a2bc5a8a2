"""The significance of the differences in Table 2: Williams' test of the paper, and a suitable permutation test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reproductions.claims import SURE
from reproductions.movers.correlations import Measured
from reproductions.movers.metrics import LENGTH, MOVERS, RECALL, ROUGE_L, MoverSetup, VectorKind, named
from reproductions.reproduction import Reproduction
from rlsum.evaluation.significance import MetricTest, compare_all_metrics
from rlsum.pages.table import Cell, Table, difference_cell, p_text


def differences(setup: MoverSetup, measured: Sequence[Measured]) -> Reproduction:
    """A table of the paper's comparisons for each set of texts; the CSV rows are all pairs of metrics."""
    papers = [_williams(texts) for texts in measured]
    both = list(zip(measured, papers, strict=True))
    return Reproduction(
        "differences",
        tuple(_table(texts, williams, setup.kinds) for texts, williams in both),
        tuple(
            _row(texts, test, turned(williams, test.a, test.b))
            for texts, williams in both
            for test in texts.result.tests
        ),
    )


def _williams(measured: Measured) -> list[MetricTest]:
    table = measured.table
    scores = {label: column.scores for label, column in table.columns.items()}
    names: dict[str, Any] = {"inputs": table.inputs, "systems": table.systems}
    return compare_all_metrics(table.human, scores, statistic=measured.result.statistic, test="williams", **names)


def compared(kinds: Sequence[VectorKind]) -> list[tuple[str, str]]:
    """Movers with ROUGE-L and with each other, contextual vectors with static ones, and all metrics with length."""
    pairs = []
    for kind in kinds:
        words, sentences, both = (named(mover, kind) for mover in MOVERS)
        pairs += [(mover, ROUGE_L) for mover in (words, sentences, both)]
        pairs += [(sentences, words), (both, words), (both, sentences)]
    if len(kinds) == 2:
        pairs += [(named(mover, kinds[1]), named(mover, kinds[0])) for mover in MOVERS]
    metrics = [ROUGE_L, RECALL, *(named(mover, kind) for kind in kinds for mover in MOVERS)]
    return pairs + [(metric, LENGTH) for metric in metrics]


def turned(tests: Sequence[MetricTest], one: str, other: str) -> MetricTest:
    """The test of two metrics, with ``one`` as its ``a``. Raises KeyError if they were not compared."""
    for test in tests:
        if (test.a, test.b) == (one, other):
            return test
        if (test.a, test.b) == (other, one):
            return replace(test, a=one, b=other, difference=0.0 - test.difference, p_greater=1.0 - test.p_greater)
    raise KeyError((one, other))


def _table(measured: Measured, williams: Sequence[MetricTest], kinds: Sequence[VectorKind]) -> Table:
    header = (f"on {measured.name}", "difference x 100", "p", "p (Holm)", "Williams' p, one-tailed")
    tests = measured.result.tests
    how = "; ".join(dict.fromkeys(f"{test.test}: {test.why}" for test in tests))
    doubts = dict.fromkeys(text for test in williams for text in test.warnings)
    notes = (
        f"p: two-tailed, {how}. Holm: over all {len(tests)} pairs of columns. Bold: p < {SURE} after Holm.",
        f"Williams' test, the paper's: {'; '.join(doubts) or 'no violated assumption'}.",
    )
    rows = tuple(_line(measured, turned(williams, *pair)) for pair in compared(kinds))
    return Table(f"Which differences in Spearman's rho are real? {measured.name}", header, rows, notes)


def _line(measured: Measured, williams: MetricTest) -> tuple[Cell, ...]:
    one, other = williams.a, williams.b
    test = turned(measured.result.tests, one, other)
    real = test.p_holm < SURE
    low, high = (100 * end for end in measured.ahead(one, other).interval)
    return (
        Cell(f"{one} over {other}"),
        difference_cell(100 * test.difference, low, high, 1, real, test.reason),
        Cell(p_text(test.p)),
        Cell(p_text(test.p_holm), mark=real),
        Cell(p_text(williams.p_greater)),
    )


def _row(measured: Measured, test: MetricTest, williams: MetricTest) -> dict[str, Any]:
    low, high = measured.ahead(test.a, test.b).interval
    return {
        "texts": measured.name,
        "metric": test.a,
        "less": test.b,
        "difference_x100": 100 * test.difference,
        "low_x100": 100 * low,
        "high_x100": 100 * high,
        "n": test.n,
        "test": test.test,
        "p": test.p,
        "p_holm": test.p_holm,
        "williams_p_two_tailed": williams.p,
        "williams_p_one_tailed": williams.p_greater,
        "undefined": test.reason,
    }
