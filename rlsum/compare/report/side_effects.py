"""What training on a reward changed besides the reward: other metrics, the length, and what is left at equal length."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rlsum.compare.cells import START
from rlsum.compare.report.overoptimization import Path, below_since, longer_since
from rlsum.compare.results import Results, System
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import ALPHA
from rlsum.evaluation.trained.equal_length import EqualLength, at_equal_length
from rlsum.evaluation.trained.hierarchical import Difference, mean_difference, paired_table
from rlsum.evaluation.trained.verdicts import verdict
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table, difference_cell, joined, p_words
from rlsum.scoring.properties import PROPERTIES

LENGTH = "length"  # the name of the property
LONGER = 0.1  # a difference of length that is worth a sentence, as a share of the base's


def side_effects(
    results: Results, system: System, paths: Sequence[Path] = (), cut: Mapping[str, Difference] | None = None
) -> str:
    """Which other metrics a trained system lost on, and how its length changed, in a sentence or two; "" for neither.

    Losses are against the start on the test articles, by the verdicts of the table of differences. ``paths``: the
    validations, which say when a loss or a length began. ``cut``: as `rlsum.compare.report.cut` has it.
    """
    validations = next((path for path in paths if path.system == system.title), None)
    sentences = [*filter(None, (_length(results, system, validations, cut), _losses(results, system, validations)))]
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences)


def _losses(results: Results, system: System, validations: Path | None) -> str:
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
    since = {test.metric: below_since(validations, test.metric) if validations is not None else None for test in lost}
    began = {name: "" if step is None else f", in validation from update {step:,} on" for name, step in since.items()}
    losses = [f"{test.metric} ({SCALE * test.difference.mean:+.2f}{began[test.metric]})" for test in lost]
    if losses:
        return f"below the start: {joined(losses)}"
    likely = [test for test in tests if test.difference.mean < 0 and test.difference.p <= ALPHA]
    if not likely:
        return ""
    worst = min(likely, key=lambda test: test.difference.mean)
    p, p_holm = worst.difference.p, worst.difference.p_holm
    tested = worst.partial or f"{p_words(p)}, with Holm's correction {p_words(p_holm)}"
    fall = f"{SCALE * worst.difference.mean:+.2f} on {worst.metric} over the start"
    return f"the largest fall, {fall}, is not shown ({tested})"


def is_longer(system: System, base: System) -> bool:
    """Whether a system's summaries are longer than the base's by a share that is worth a sentence."""
    return _ratio(system, base) > 1 + LONGER


def _ratio(system: System, base: System) -> float:
    """The mean length of a system over that of the base; 1 where one is unknown."""
    length, base_length = mean_lengths(system, base)
    return length / base_length if base_length > 0 else 1.0


def mean_lengths(system: System, base: System) -> tuple[float, float]:
    """Mean tokens of two rows over the seeds and articles of both; NaN where one is unknown."""
    if LENGTH not in base.properties or LENGTH not in system.properties:
        return math.nan, math.nan
    pair = np.broadcast_arrays(system.properties[LENGTH], base.properties[LENGTH])  # a start has one row
    both = ~np.isnan(pair[0] + pair[1])
    length, base_length = (float(row[both].mean()) if both.any() else math.nan for row in pair)
    return length, base_length


def left_besides_length(results: Results, system: System, cut: Mapping[str, Difference] | None) -> Difference | None:
    """What a system whose length changed gained over the base by its own reward at equal length, or cut to its length.

    None where the length is about the base's, or nothing can be said.
    """
    base = results.base
    if base is None or abs(_ratio(system, base) - 1) < LONGER:
        return None
    pair = at_equal_length_of(system, base, system.reward)
    if pair is None:
        return None
    left = (cut or {}).get(system.name) if pair.reason else pair.adjusted
    return None if left is None or np.isnan(left.mean) else left


def _length(results: Results, system: System, validations: Path | None, cut: Mapping[str, Difference] | None) -> str:
    base = results.base
    if base is None or abs(_ratio(system, base) - 1) < LONGER:
        return ""
    tokens, _ = mean_lengths(system, base)
    since = longer_since(validations, 1 + LONGER) if validations is not None and is_longer(system, base) else None
    began = "" if since is None else f" (longer than the start's in validation from update {since:,} on)"
    lengths = f"its summaries have {tokens:.1f} tokens, {_ratio(system, base):.1f} times those of {base.title}{began}"
    pair, left = at_equal_length_of(system, base, system.reward), left_besides_length(results, system, cut)
    if pair is None:
        return lengths
    if left is None:
        return f"{lengths}, and what {system.reward} gained besides length cannot be judged ({pair.reason})"
    score = f"{SCALE * left.mean:+.2f} on {system.reward} ({_interval(left)})"
    if not pair.reason:
        return f"{lengths}; at equal length {score} is left"
    gain = "a gain besides length is left" if left.low > 0 else "no gain besides length is shown"
    return f"{lengths}, and {pair.reason}; cut to the lengths of {base.title} they score {score}: {gain}"


def _interval(difference: Difference) -> str:
    if math.isnan(difference.low):
        return "no interval"
    return f"{SCALE * difference.low:+.2f} to {SCALE * difference.high:+.2f}"


def at_equal_length_of(system: System, base: System, name: str | None) -> EqualLength | None:
    """A metric or property of two rows at equal length; None where one lacks it."""
    values, base_values = (_columns(row).get(str(name)) for row in (system, base))
    if values is None or base_values is None:
        return None
    return at_equal_length(values, base_values, system.properties[LENGTH], base.properties[LENGTH])


def equal_length_table(results: Results) -> Table | None:
    """Each trained system less the control (else the start) by every metric and property, at equal length.

    None without either, without lengths, or without trained systems.
    """
    base = results.base
    if base is None or LENGTH not in base.properties or not results.trained:
        return None
    scales = {name: (float(SCALE), 2, name) for name in results.metrics}
    scales |= {name: (prop.scale, prop.digits, prop.label) for name, prop in PROPERTIES.items() if name != LENGTH}
    names = [name for name in scales if name in _columns(base)]
    rows = []
    for system in results.trained:
        pairs = {name: at_equal_length_of(system, base, name) for name in names}
        longer = mean_difference(paired_table(system.properties[LENGTH], base.properties[LENGTH]))
        cells = (_equal_cell(pairs.get(name), *scales[name][:2]) for name in names)
        rows.append((Cell(system.title), difference_cell(longer.mean, longer.low, longer.high, 1, 1), *cells))
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
    left, raw = pair.adjusted, "" if math.isnan(pair.raw.mean) else f"raw {scale * pair.raw.mean:+.{digits}f}"
    return difference_cell(left.mean, left.low, left.high, scale, digits, note=raw)
