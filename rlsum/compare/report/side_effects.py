"""What training on a reward changed besides the reward: other metrics, the length, and what is left at equal length."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rlsum.compare.cells import START
from rlsum.compare.report.overoptimization import Path, below_since
from rlsum.compare.results import Results, System
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.equal_length import EqualLength, at_equal_length
from rlsum.evaluation.trained.hierarchical import Difference, mean_difference, paired_table
from rlsum.evaluation.trained.verdicts import verdict
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table, difference_cell, joined
from rlsum.scoring.properties import PROPERTIES

LENGTH = "length"  # the name of the property
LONGER = 0.1  # a difference of length that is worth a sentence, as a share of the base's


def side_effects(results: Results, paths: Sequence[Path] = ()) -> Iterator[str]:
    """A sentence for each trained system that lost on other metrics than its reward, or changed its length.

    Losses are against the start on the test articles, by the verdicts of the table of differences. ``paths``: the
    validations, which say when a loss began.
    """
    for system in results.trained:
        said = [*filter(None, (_length(results, system), _losses(results, system, paths)))]
        if said:
            yield f"After training on {system.title} {'; '.join(said)}."


def _losses(results: Results, system: System, paths: Sequence[Path]) -> str:
    tests = [
        test
        for test in results.against.get(START, ())
        if test.system == system.name and test.metric != system.reward and not np.isnan(test.difference.mean)
    ]
    if tests and len(results.seeds) < 2:
        worst = min(tests, key=lambda test: test.difference.mean)
        loss = f"the least is {SCALE * worst.difference.mean:+.2f} on {worst.metric} over the start"
        return f"one seed cannot tell whether other metrics fell: {loss}"
    lost = [test for test in tests if test.shown and verdict(test.difference) == "worse"]
    own = next((path for path in paths if path.system == system.title), None)
    since = {test.metric: below_since(own, test.metric) if own is not None else None for test in lost}
    began = {name: "" if step is None else f", in validation from update {step:,} on" for name, step in since.items()}
    losses = [f"{test.metric} ({SCALE * test.difference.mean:+.2f}{began[test.metric]})" for test in lost]
    return f"these are below the start: {joined(losses)}" if lost else ""


def _length(results: Results, system: System) -> str:
    base = results.base
    if base is None or LENGTH not in base.properties or LENGTH not in system.properties:
        return ""
    own, other = (float(np.nanmean(each.properties[LENGTH])) for each in (system, base))
    if not other or abs(own / other - 1) < LONGER:
        return ""
    said = f"summaries have {own:.1f} tokens, {own / other:.1f} times those of {base.title}"
    pair = _at_equal_length(system, base, system.reward) if system.reward in system.metrics else None
    if pair is None:
        return said
    if pair.reason:
        return f"{said}, and what {system.reward} gained besides length cannot be judged ({pair.reason})"
    left = pair.adjusted
    return f"{said}; at equal length {SCALE * left.mean:+.2f} on {system.reward} ({_interval(left)}) is left"


def _interval(found: Difference) -> str:
    return f"{SCALE * found.low:+.2f} to {SCALE * found.high:+.2f}"


def _at_equal_length(system: System, base: System, name: str | None) -> EqualLength | None:
    """A metric or property of two rows at equal length; None where one lacks it."""
    own, other = (_columns(each).get(str(name)) for each in (system, base))
    if own is None or other is None:
        return None
    return at_equal_length(own, other, system.properties[LENGTH], base.properties[LENGTH])


def equal_length_table(results: Results) -> Table | None:
    """Each trained system less the control (else the start) by every metric and property, at equal length.

    None without either, without lengths, or without trained systems.
    """
    base = results.base
    if base is None or LENGTH not in base.properties or not results.trained:
        return None
    scales = {name: (float(SCALE), 2, name) for name in results.metrics}
    scales |= {name: (each.scale, each.digits, each.label) for name, each in PROPERTIES.items() if name != LENGTH}
    names = [name for name in scales if name in _columns(base)]
    rows = []
    for system in results.trained:
        pairs = {name: _at_equal_length(system, base, name) for name in names}
        longer = mean_difference(paired_table(system.properties[LENGTH], base.properties[LENGTH]))
        cells = (_equal_cell(pairs.get(name), *scales[name][:2]) for name in names)
        rows.append((Cell(system.title), _difference_cell(longer, 1, 1, ""), *cells))
    note = (
        "What remains where both summaries are equally long: differences regressed on differences of length in each "
        "seed, near equal length. Beneath: the interval, not adjusted for the number of cells, and the raw difference. "
        f"{UNDEFINED}: one is nearly always longer, or too few pairs are about equally long: nothing can be said."
    )
    header = ("system", "longer by, tokens", *(scales[name][2] for name in names))
    return Table(f"Difference from {base.title} at equal length, x {SCALE}", header, tuple(rows), (note,))


def _columns(system: System) -> dict[str, Floats]:
    return {**system.metrics, **system.properties}


def _equal_cell(pair: EqualLength | None, scale: float, digits: int) -> Cell:
    if pair is None:
        return Cell(UNDEFINED)
    raw = "" if math.isnan(pair.raw.mean) else f"raw {scale * pair.raw.mean:+.{digits}f}"
    return _difference_cell(pair.adjusted, scale, digits, raw)


def _difference_cell(found: Difference, scale: float, digits: int, further: str) -> Cell:
    """A signed difference, its interval and a ``further`` remark beneath."""
    mean, low, high = (scale * value for value in (found.mean, found.low, found.high))
    return difference_cell(mean, low, high, digits, note=further)
