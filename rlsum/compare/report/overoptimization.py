"""Over-optimisation: each metric against the distance from the start through training, best-of-n as the frontier.

A reward that is optimised too far still rises while what it stands for falls (Stiennon et al. 2020, figure 5; Gao et
al. 2022). The picture shows it in validation. Whether a metric fell is tested on the test articles (`side_effects`):
validations of one run depend on each other, and a few seeds cannot tell a fall from chance. The distance is
KL(policy || start) in nats a summary where every run that draws samples logged it (``objective.kl`` above 0), otherwise
the change of the likelihood of the validation references, which grows with it but has another unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlsum.compare.cells import START
from rlsum.compare.config import Choosing
from rlsum.compare.report.training_curves import Row
from rlsum.compare.results import Results, System
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.trained.hierarchical import mean_difference, paired_table
from rlsum.models.decoding import Sampling
from rlsum.pages.blocks import Block
from rlsum.pages.pictures.curves import Curve, Panel, look, picture
from rlsum.pages.pictures.drawing import COLOURS
from rlsum.pages.table import SCALE
from rlsum.scoring.properties import PROPERTIES

DistanceUnit = Literal["kl", "nll"]
PLAIN = {name: value for name, value in asdict(Sampling()).items() if name != "max_length"}
REWARD = "reward"  # the name of the trained reward in validations
AXES: dict[DistanceUnit, str] = {
    "kl": "KL from the start, nats a summary",
    "nll": "nll of references less that of the start, nats a token",
}


@dataclass(frozen=True)
class Path:
    """The validations of one system in all its seeds.

    ``steps`` (t,); ``distance`` (seeds, t) in ``unit``; ``values``: metric -> (seeds, t), NaN where undefined. The
    first validation is the start. Of a run that logged no KL the distance as a KL is NaN after it.
    """

    system: str
    unit: DistanceUnit
    steps: Floats
    distance: Floats
    values: Mapping[str, Floats]


@dataclass(frozen=True)
class Frontier:
    """What choosing gives instead of training: ``kl`` (c,) in nats, metric -> gain over the start (c,), raw."""

    kl: Floats
    gains: Mapping[str, Floats]


def kl_of_best_of(n: ArrayLike) -> Floats:
    """KL of the best of n samples from the sampling distribution in nats: log n - (n - 1) / n.

    Exact without ties (Stiennon et al. 2020, appendix G.3), an upper bound otherwise (Beirami et al. 2024). Raises
    ValueError for n below 1.
    """
    counts = np.asarray(n, dtype=np.float64)
    if not (counts >= 1).all():
        raise ValueError(f"n={counts.tolist()} must be 1 or more samples")
    return np.log(counts) - (counts - 1) / counts


def path(system: str, runs: Sequence[Sequence[Row]], metrics: Sequence[str], unit: DistanceUnit) -> Path | None:
    """The path of a system from the rows of ``metrics.jsonl`` of its seeds, at the validations that all have.

    None with fewer than two such validations.
    """
    valid = [{int(row["step"]): row for row in rows if row.get("kind") == "valid"} for rows in runs]
    steps = sorted(set.intersection(*map(set, valid))) if valid else []
    if len(steps) < 2:
        return None
    names = [
        name for name in (REWARD, *metrics, *PROPERTIES) if any(name in row for rows in valid for row in rows.values())
    ]

    def column(name: str) -> Floats:
        return np.array([[_number(rows[step], name) for step in steps] for rows in valid])

    if unit == "nll":
        distance = column("nll") - column("nll")[:, :1]
    else:
        distance = np.array([_mean_kl(rows, steps) for rows in runs])
    return Path(system, unit, np.array(steps, dtype=np.float64), distance, {name: column(name) for name in names})


def paths(runs: Mapping[str, Sequence[Sequence[Row]]], metrics: Sequence[str]) -> list[Path]:
    """The paths of all systems in one unit: KL if every run that draws samples logged it, as continued likelihood does
    not, otherwise the likelihood of the references.
    """
    trained = [[row for row in rows if row.get("kind") == "train"] for seeds in runs.values() for rows in seeds]
    sampled = [rows for rows in trained if any("sample_length" in row for row in rows)]
    logged = [any(row.get("kl") is not None for row in rows) for rows in sampled]
    unit: DistanceUnit = "kl" if logged and all(logged) else "nll"
    return [known for system, seeds in runs.items() if (known := path(system, seeds, metrics, unit)) is not None]


def below_since(validations: Path, metric: str) -> int | None:
    """The update of the first validation from which on ``metric`` is below the start in every seed; None without."""
    values = validations.values.get(metric)
    return None if values is None else _since(validations, np.all(values < values[:, :1], axis=0))


def longer_since(validations: Path, ratio: float) -> int | None:
    """The update of the first validation from which on summaries have ``ratio`` times the tokens of the start's in
    every seed; None without.
    """
    values = validations.values.get("length")
    return None if values is None else _since(validations, np.all(values >= ratio * values[:, :1], axis=0))


def _since(validations: Path, holds: NDArray[np.bool_]) -> int | None:
    """The update of the first validation from which on something holds (t,); None where it does not at the last."""
    fails = np.flatnonzero(~holds)
    first = int(fails[-1]) + 1 if len(fails) else 0
    return None if first == len(validations.steps) else int(validations.steps[first])


def sampled_as_is(rule: Choosing, decoding: Mapping[str, Any]) -> bool:
    """Whether a row chooses among samples of the start's own distribution: at temperature 1, without cuts and limits.

    ``decoding``: options of the start's configuration, which hold where the row has none. The KL of best-of-n is from
    the distribution that was sampled, so that of other rows from the start is unknown.
    """
    own = asdict(rule)
    used = {name: decoding.get(name, value) if own[name] is None else own[name] for name, value in PLAIN.items()}
    return used == PLAIN


def frontiers(choosing: Mapping[str, Choosing], results: Results) -> dict[str, Frontier]:
    """Label -> the best-of-n rows that choose by one reward, against the start on the test articles.

    ``choosing``: rows that are `sampled_as_is`.
    """
    start = results.systems.get(START)
    by: dict[str, list[tuple[int, System]]] = {}
    for name, rule in choosing.items():
        if rule.best_of is not None and rule.by is not None and name in results.systems:
            by.setdefault(rule.by, []).append((rule.best_of, results.systems[name]))
    if start is None:
        return {}
    by_label = {}
    for reward, rows in by.items():
        rows.sort(key=lambda row: row[0])
        gains = {
            name: np.array(
                [mean_difference(paired_table(row.metrics[name], start.metrics[name])).mean for _, row in rows]
            )
            for name in start.metrics
            if all(name in row.metrics for _, row in rows)
        }
        by_label[f"best of n by {reward}"] = Frontier(kl_of_best_of([n for n, _ in rows]), gains)
    return by_label


def overoptimization_blocks(
    all_paths: Sequence[Path], metrics: Sequence[str], chosen: Mapping[str, Frontier], otherwise: Sequence[str] = ()
) -> list[Block]:
    """Every metric against the distance from the start, as a picture; [] without validations.

    ``all_paths``: as `paths` gives them. ``chosen``: label -> best-of-n, drawn where the distance is a KL.
    ``otherwise``: the best-of-n rows that are not `sampled_as_is`, for the note.
    """
    placed = [each for each in all_paths if np.isfinite(each.distance.mean(axis=0)[1:]).any()]
    if not placed:
        return []
    unit = placed[0].unit
    drawn = chosen if unit == "kl" else {}
    panels = [panel for name in metrics if (panel := _panel(name, placed, drawn)).curves]
    if not panels:
        return []
    note = (
        f"Change of the metric on the validation articles since the first validation, x {SCALE}; a point a validation, "
        f"the mean over seeds, shaded from the lowest to the highest seed. Across: {AXES[unit]}."
    )
    seen = {each.system for each in placed}
    if missing := [each.system for each in all_paths if each.system not in seen]:
        note += f" Without a distance, so not here: {', '.join(missing)}."
    if drawn:
        note += " Dashed: the best of n samples of the start, on the test articles (Stiennon et al. 2020)."
    if unit == "kl" and otherwise:
        note += (
            " Not sampled from the start as it is (temperature 1, all tokens), so at an unknown KL and not here: "
            f"{', '.join(otherwise)}."
        )
    elif unit == "nll" and (chosen or otherwise):
        note += (
            " Best-of-n has no place here: its distance is a KL, and not every training that draws samples logged one "
            "(objective.kl above 0)."
        )
    return [picture("overoptimization", "Metrics against the distance from the start", note, panels)]


def _panel(name: str, all_paths: Sequence[Path], drawn: Mapping[str, Frontier]) -> Panel:
    curves = []
    for number, validations in enumerate(all_paths):
        if name not in validations.values:
            continue
        values = SCALE * (validations.values[name] - validations.values[name][:, :1])
        band = (values.min(axis=0), values.max(axis=0)) if len(values) > 1 else None
        colour, dashed = look(number)
        distance = validations.distance.mean(axis=0)
        curves.append(Curve(validations.system, colour, distance, values.mean(axis=0), dashed=dashed, band=band))
    for label, frontier in drawn.items():
        if name in frontier.gains:
            curves.append(Curve(label, COLOURS[-1], frontier.kl, SCALE * frontier.gains[name], dashed=True))
    return Panel(name, tuple(curves), across=AXES[all_paths[0].unit], up=f"change x {SCALE}")


def _mean_kl(rows: Sequence[Row], steps: Sequence[int]) -> list[float]:
    """KL a sample at each validation: the mean of the updates since the validation before; 0 at the first.

    ``kl`` is a token of the samples, and ``sample_length`` counts the same tokens.
    """
    logged = [
        (int(row["step"]), float(row["kl"]) * float(row["sample_length"]))
        for row in rows
        if row.get("kind") == "train" and row.get("kl") is not None and row.get("sample_length") is not None
    ]
    means = [0.0]
    for before, now in pairwise(steps):
        values = [value for step, value in logged if before < step <= now]
        means.append(float(np.mean(values)) if values else math.nan)
    return means


def _number(row: Row, name: str) -> float:
    value = row.get(name)
    return math.nan if value is None else float(value)
