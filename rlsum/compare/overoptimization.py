"""Over-optimisation: each metric against the distance from the start through training, best-of-n as the frontier.

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
from scipy import stats

from rlsum.compare.plots import Row
from rlsum.evaluation.rows import Floats
from rlsum.pages.blocks import Block, Bullets, Paragraph
from rlsum.pages.curves import Curve, Panel, picture
from rlsum.pages.pictures import COLOURS
from rlsum.pages.table import SCALE
from rlsum.scoring.properties import PROPERTIES

Unit = Literal["kl", "nll"]
REWARD = "reward"  # the name of the trained reward in validations
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
    """What choosing gives instead of training: ``n`` (c,), their KL (c,), metric -> mean of the best of n (c,)."""

    n: Floats
    kl: Floats
    values: Mapping[str, Floats]


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
        raise ValueError(f"n={n} must be 1 or more samples")
    return np.log(counts) - (counts - 1) / counts


def best_of_n(by: Floats, scores: Mapping[str, Floats], counts: Sequence[int]) -> Frontier:
    """The frontier from N samples of each article: ``by`` (articles, N) chooses, ``scores`` are metric -> same shape.

    The mean over all subsets of n samples, not over drawn ones (Nakano et al. 2021, appendix I). Samples with equal
    ``by`` share their places. Raises ValueError for counts outside 1 to N or a NaN in ``by``.
    """
    total = by.shape[1]
    if not all(1 <= n <= total for n in counts):
        raise ValueError(f"counts={list(counts)} must lie between 1 and the {total} samples of an article")
    if np.isnan(by).any():
        raise ValueError("by has undefined scores; leave out the articles that have one")
    order = np.argsort(by, axis=1, kind="stable")
    sorted_by = np.take_along_axis(by, order, axis=1)
    values = {}
    for name, column in scores.items():
        shared = _mean_of_ties(sorted_by, np.take_along_axis(column, order, axis=1))
        values[name] = np.array([float(np.nanmean(shared @ _weights(total, n))) for n in counts])
    kl = kl_of_best_of(counts)
    return Frontier(np.asarray(counts, dtype=np.float64), kl, values)


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


def flags(of: Path, metrics: Sequence[str], alpha: float = ALPHA) -> list[Flag]:
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
            bound = float(stats.norm.isf(alpha / 2 / choices / len(others)))
            change = float(mean[-1] - mean[since])
            rise = float(reward.mean(axis=0)[-1] - reward.mean(axis=0)[since])
            if change < -bound * noise and rise > bound * math.sqrt(2) * _noise(reward):
                found.append(Flag(of.system, name, int(of.steps[since]), change, rise, noise))
                break
    return found


def overoptimization_blocks(
    runs: Mapping[str, Sequence[Sequence[Row]]],
    metrics: Sequence[str],
    frontiers: Mapping[str, Frontier] | None = None,
) -> list[Block]:
    """Every metric against the distance from the start, with what fell; [] without validations.

    ``runs``: system -> rows of ``metrics.jsonl``, a sequence a seed. ``frontiers``: label -> best-of-n, drawn where the
    distance is a KL.
    """
    found = paths(runs, metrics)
    if not found:
        return []
    frontiers = (frontiers or {}) if found[0].unit == "kl" else {}
    panels = [panel for name in metrics if (panel := _panel(name, found, frontiers)).curves]
    if not panels:
        return []
    fallen = [str(flag) for each in found for flag in flags(each, metrics)]
    unfallen = "No metric fell beyond its fluctuation while the trained reward rose."
    note = f"A point a validation: the mean over seeds, from the lowest to the highest seed. {AXES[found[0].unit]}."
    if frontiers:
        note += " Dashed: the best of n samples of the start (Stiennon et al. 2020)."
    drawing = picture("overoptimization", "Metrics against the distance from the start", note, panels)
    return [drawing, Bullets(fallen, "warning") if fallen else Paragraph(unfallen)]


def _panel(name: str, found: Sequence[Path], frontiers: Mapping[str, Frontier]) -> Panel:
    curves = []
    for number, each in enumerate(found):
        if name not in each.values:
            continue
        values = SCALE * each.values[name]
        band = (values.min(axis=0), values.max(axis=0)) if len(values) > 1 else None
        colour = COLOURS[number % len(COLOURS)]
        curves.append(Curve(each.system, colour, each.distance.mean(axis=0), values.mean(axis=0), band=band))
    for label, frontier in frontiers.items():
        if name in frontier.values:
            curves.append(Curve(label, COLOURS[-1], frontier.kl, SCALE * frontier.values[name], dashed=True))
    return Panel(f"{name}, x {SCALE}", tuple(curves), across=AXES[found[0].unit])


def _noise(values: Floats) -> float:
    """Standard deviation of one validation's mean over seeds, from successive differences of ``values`` (seeds, t)."""
    steps = np.diff(values, axis=1)
    return float(np.sqrt((steps**2).mean() / 2 / len(values)))


def _weights(total: int, n: int) -> Floats:
    """The chance (total,) that the sample of each rank, ascending, is the best of n drawn without replacement."""
    ranks = np.arange(total)
    logs = [math.lgamma(r + 1) - math.lgamma(r - n + 2) - math.lgamma(n) if r >= n - 1 else -math.inf for r in ranks]
    chosen = math.lgamma(total + 1) - math.lgamma(n + 1) - math.lgamma(total - n + 1)
    return np.exp(np.array(logs) - chosen)


def _mean_of_ties(by: Floats, values: Floats) -> Floats:
    """Values (articles, N) with those of equal ``by``, sorted, replaced by their mean."""
    new = np.concatenate([np.ones((len(by), 1), dtype=bool), np.diff(by, axis=1) != 0], axis=1)
    group = np.cumsum(new.ravel()) - 1
    sums, sizes = np.bincount(group, values.ravel()), np.bincount(group)
    return (sums / sizes)[group].reshape(values.shape)


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
