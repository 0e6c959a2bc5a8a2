"""Over-optimisation: each metric against the distance from the start through training, best-of-n as the frontier, and
what remains of a gain at equal length.

A reward that is optimised too far still rises while what it stands for falls (Stiennon et al. 2020, figure 5; Gao et
al. 2022). The distance is KL(policy || start) in nats a summary where every run logged it (``objective.kl`` above 0),
otherwise the change of the likelihood of the validation references, which grows with it but has another unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from rlsum.compare.cells import START
from rlsum.compare.config import Choosing
from rlsum.compare.plots import Row
from rlsum.compare.results import Results, System
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.equal_length import EqualLength, at_equal_length
from rlsum.evaluation.trained.hierarchical import Difference, mean_difference, paired_table
from rlsum.pages.blocks import Block, Bullets, Paragraph
from rlsum.pages.curves import Curve, Panel, look, picture
from rlsum.pages.pictures import COLOURS
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table, difference_cell
from rlsum.scoring.properties import PROPERTIES

Unit = Literal["kl", "nll"]
REWARD = "reward"  # the name of the trained reward in validations
LENGTH = "length"  # the name of the property
ALPHA = 0.05
AXES: dict[Unit, str] = {
    "kl": "KL from the start, nats a summary",
    "nll": "nll of references less that of the start, nats a token",
}


@dataclass(frozen=True)
class Path:
    """The validations of one system in all its seeds.

    ``steps`` (t,); ``distance`` (seeds, t) in ``unit``; ``values``: metric -> (seeds, t), NaN where undefined. The
    first validation is the start.
    """

    system: str
    unit: Unit
    steps: Floats
    distance: Floats
    values: Mapping[str, Floats]


@dataclass(frozen=True)
class Frontier:
    """What choosing gives instead of training: ``kl`` (c,) in nats, metric -> gain over the start (c,), raw."""

    kl: Floats
    gains: Mapping[str, Floats]


@dataclass(frozen=True)
class Flag:
    """A metric that fell while the trained reward rose, both beyond the fluctuation between validations.

    ``change``: of the metric from ``since`` (the start, or the update of its highest mean) to the last validation;
    ``rise``: of the reward over the same; ``noise``: standard error of ``change``. Raw scores.
    """

    system: str
    metric: str
    since: int
    change: float
    rise: float
    noise: float

    def __str__(self) -> str:
        fell = f"{SCALE * self.change:+.2f} (standard error {SCALE * self.noise:.2f})"
        rose = f"while the trained reward rose by {SCALE * self.rise:.2f}"
        return f"{self.system}: since update {self.since:,} {self.metric} changed by {fell} in validation, {rose}."


def kl_of_best_of(n: ArrayLike) -> Floats:
    """KL of the best of n samples from the sampling distribution in nats: log n - (n - 1) / n.

    Exact without ties (Stiennon et al. 2020, appendix G.3), an upper bound otherwise (Beirami et al. 2024). Raises
    ValueError for n below 1.
    """
    counts = np.asarray(n, dtype=np.float64)
    if not (counts >= 1).all():
        raise ValueError(f"n={counts.tolist()} must be 1 or more samples")
    return np.log(counts) - (counts - 1) / counts


def path(system: str, runs: Sequence[Sequence[Row]], metrics: Sequence[str], unit: Unit) -> Path | None:
    """The path of a system from the rows of ``metrics.jsonl`` of its seeds, at the validations that all have.

    None with fewer than two such validations.
    """
    valid = [{int(row["step"]): row for row in rows if row.get("kind") == "valid"} for rows in runs]
    steps = sorted(set.intersection(*map(set, valid))) if valid else []
    if len(steps) < 2:
        return None
    names = [
        name for name in (REWARD, *metrics, *PROPERTIES) if any(name in row for each in valid for row in each.values())
    ]

    def column(name: str) -> Floats:
        return np.array([[_number(each[step], name) for step in steps] for each in valid])

    if unit == "nll":
        distance = column("nll") - column("nll")[:, :1]
    else:
        per_token = np.array([_mean_kl(rows, steps) for rows in runs])
        distance = per_token * column("length")
    return Path(system, unit, np.array(steps, dtype=np.float64), distance, {name: column(name) for name in names})


def paths(runs: Mapping[str, Sequence[Sequence[Row]]], metrics: Sequence[str]) -> list[Path]:
    """The paths of all systems in one unit: KL if every run logged it, otherwise the likelihood of the references."""
    logged = [any(_has_kl(row) for row in rows) for seeds in runs.values() for rows in seeds]
    unit: Unit = "kl" if logged and all(logged) else "nll"
    found = (path(system, seeds, metrics, unit) for system, seeds in runs.items())
    return [each for each in found if each is not None]


def flags(of: Path, metrics: Sequence[str]) -> list[Flag]:
    """The metrics that fell while the reward rose, from the start or from their own highest mean on.

    The noise of one validation is estimated from successive differences (von Neumann et al. 1941), which a trend hardly
    moves; a fall counts beyond its normal quantile, corrected for the metrics, and for the choice of the highest of all
    validations (Bonferroni). It is a sign within these runs, no test over seeds.
    """
    reward = of.values.get(REWARD)
    others = [name for name in metrics if name in of.values and not np.isnan(of.values[name]).any()]
    if reward is None or np.isnan(reward).any() or not others:
        return []
    found = []
    for name in others:
        mean, noise = of.values[name].mean(axis=0), math.sqrt(2) * _noise(of.values[name])
        for since, choices in ((0, 1), (int(mean.argmax()), len(mean))):
            bound = -float(ndtri(ALPHA / 2 / choices / len(others)))
            change = float(mean[-1] - mean[since])
            rise = float(reward.mean(axis=0)[-1] - reward.mean(axis=0)[since])
            if change < -bound * noise and rise > bound * math.sqrt(2) * _noise(reward):
                found.append(Flag(of.system, name, int(of.steps[since]), change, rise, noise))
                break
    return found


def frontiers(choosing: Mapping[str, Choosing], results: Results) -> dict[str, Frontier]:
    """Label -> the best-of-n rows that choose by one reward, against the start on the test articles."""
    start = results.systems.get(START)
    by: dict[str, list[tuple[int, System]]] = {}
    for name, rule in choosing.items():
        if rule.best_of is not None and rule.by is not None and name in results.systems:
            by.setdefault(rule.by, []).append((rule.best_of, results.systems[name]))
    if start is None:
        return {}
    found = {}
    for reward, rows in by.items():
        rows.sort(key=lambda row: row[0])
        gains = {
            name: np.array(
                [mean_difference(paired_table(row.metrics[name], start.metrics[name])).mean for _, row in rows]
            )
            for name in start.metrics
            if all(name in row.metrics for _, row in rows)
        }
        found[f"best of n by {reward}"] = Frontier(kl_of_best_of([n for n, _ in rows]), gains)
    return found


def overoptimization_blocks(
    runs: Mapping[str, Sequence[Sequence[Row]]], metrics: Sequence[str], chosen: Mapping[str, Frontier]
) -> list[Block]:
    """Every metric against the distance from the start, with what fell; [] without validations.

    ``runs``: system -> rows of ``metrics.jsonl``, a sequence a seed. ``chosen``: label -> best-of-n, drawn where the
    distance is a KL.
    """
    found = paths(runs, metrics)
    if not found:
        return []
    drawn = chosen if found[0].unit == "kl" else {}
    panels = [panel for name in metrics if (panel := _panel(name, found, drawn)).curves]
    if not panels:
        return []
    fallen = [str(flag) for each in found for flag in flags(each, metrics)]
    unfallen = "No metric fell beyond its fluctuation while the trained reward rose."
    note = (
        f"Change of the metric on the validation articles since the first validation, x {SCALE}; a point a validation, "
        f"the mean over seeds, shaded from the lowest to the highest seed. Across: {AXES[found[0].unit]}."
    )
    if drawn:
        note += " Dashed: the best of n samples of the start, on the test articles (Stiennon et al. 2020)."
    elif chosen:
        note += " Best-of-n has no place here: its distance is a KL, which trainings log where objective.kl is above 0."
    drawing = picture("overoptimization", "Metrics against the distance from the start", note, panels)
    return [drawing, Bullets(fallen, "warning") if fallen else Paragraph(unfallen)]


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
        pairs = {
            name: at_equal_length(
                _columns(system)[name], _columns(base)[name], system.properties[LENGTH], base.properties[LENGTH]
            )
            for name in names
            if name in _columns(system)
        }
        longer = mean_difference(paired_table(system.properties[LENGTH], base.properties[LENGTH]))
        cells = (_equal_cell(pairs.get(name), *scales[name][:2]) for name in names)
        rows.append((Cell(system.title), _difference_cell(longer, 1, 1, ""), *cells))
    note = (
        "What remains where both summaries are equally long: differences regressed on differences of length in each "
        "seed; tests are not adjusted. Beneath: the interval, and the difference as it is. "
        f"{UNDEFINED}: one is longer in more than 95% of the pairs, and nothing can be said."
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
    """A signed difference, its interval and a ``further`` remark beneath; marked where its p is 5% or less."""
    mean, low, high = (scale * value for value in (found.mean, found.low, found.high))
    return difference_cell(mean, low, high, digits, found.p <= ALPHA, further)


def _panel(name: str, found: Sequence[Path], drawn: Mapping[str, Frontier]) -> Panel:
    curves = []
    for number, each in enumerate(found):
        if name not in each.values:
            continue
        values = SCALE * (each.values[name] - each.values[name][:, :1])
        band = (values.min(axis=0), values.max(axis=0)) if len(values) > 1 else None
        colour, dashed = look(number)
        distance = each.distance.mean(axis=0)
        curves.append(Curve(each.system, colour, distance, values.mean(axis=0), dashed=dashed, band=band))
    for label, frontier in drawn.items():
        if name in frontier.gains:
            curves.append(Curve(label, COLOURS[-1], frontier.kl, SCALE * frontier.gains[name], dashed=True))
    return Panel(name, tuple(curves), across=AXES[found[0].unit])


def _noise(values: Floats) -> float:
    """Standard deviation of one validation's mean over seeds, from successive differences of ``values`` (seeds, t)."""
    steps = np.diff(values, axis=1)
    return float(np.sqrt((steps**2).mean() / 2 / len(values)))


def _mean_kl(rows: Sequence[Row], steps: Sequence[int]) -> list[float]:
    """KL a token at each validation: the mean of the updates since the validation before; 0 at the first."""
    logged = [(int(row["step"]), float(row["kl"])) for row in rows if _has_kl(row)]
    means = [0.0]
    for before, now in pairwise(steps):
        values = [value for step, value in logged if before < step <= now]
        means.append(float(np.mean(values)) if values else math.nan)
    return means


def _has_kl(row: Row) -> bool:
    return row.get("kind") == "train" and isinstance(row.get("kl"), int | float)


def _number(row: Row, name: str) -> float:
    value = row.get(name)
    return math.nan if value is None else float(value)
