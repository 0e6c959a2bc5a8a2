from __future__ import annotations

import numpy as np
import pytest

from rlsum.compare.analyses.overoptimization import (
    Frontier,
    Path,
    equal_length_table,
    flags,
    frontiers,
    kl_of_best_of,
    overoptimization_blocks,
    path,
    paths,
)
from rlsum.compare.config import Choosing
from rlsum.compare.results import Results, System
from rlsum.pages.blocks import Bullets
from rlsum.pages.pictures import Picture


def rows(values: dict[str, list[float]], kl: float | None = None) -> list[dict[str, object]]:
    """A run that validates every 10 updates."""
    found: list[dict[str, object]] = []
    count = len(next(iter(values.values())))
    for number in range(count):
        if number and kl is not None:
            found += [{"kind": "train", "step": 10 * number - n, "kl": kl * number + n / 100} for n in (1, 0)]
        found.append(
            {"kind": "valid", "step": 10 * number, **{name: column[number] for name, column in values.items()}}
        )
    return found


def test_kl_of_best_of_n_is_that_of_the_distribution():
    # Without ties the best of n samples has density n u^(n-1) by rank u.
    u = (np.arange(200_000) + 0.5) / 200_000
    for n in (1, 2, 8, 64):
        density = n * u ** (n - 1)
        assert kl_of_best_of(n) == pytest.approx(np.mean(density * np.log(np.maximum(density, 1e-300))), abs=1e-4)
    assert kl_of_best_of([1, 2]).tolist() == pytest.approx([0, np.log(2) - 0.5])
    with pytest.raises(ValueError, match="1 or more"):
        kl_of_best_of(0)


def test_the_distance_is_kl_where_all_logged_it():
    logged = rows({"nll": [3.0, 3.1], "length": [20, 30], "reward": [0.1, 0.2]}, kl=0.5)
    found = path("a", [logged], [], "kl")
    assert found is not None
    assert found.distance.tolist() == [[0, pytest.approx((0.51 + 0.5) / 2 * 30)]]
    assert paths({"a": [logged]}, [])[0].unit == "kl"
    silent = rows({"nll": [3.0, 3.1], "length": [20, 30]})
    assert [each.unit for each in paths({"a": [logged], "b": [silent]}, [])] == ["nll", "nll"]
    assert paths({"b": [silent]}, [])[0].distance.tolist() == [[0, pytest.approx(0.1)]]


def test_seeds_are_followed_where_all_validated():
    long, short = rows({"nll": [3.0, 2, 1], "m": [0, 1, 2]}), rows({"nll": [3.0, 2], "m": [4, 5]})
    found = path("a", [long, short], ["m"], "nll")
    assert found is not None
    assert found.steps.tolist() == [0, 10]
    assert found.values["m"].tolist() == [[0, 1], [4, 5]]
    assert path("a", [short[:1]], ["m"], "nll") is None


def curve(values: list[float], reward: list[float]) -> Path:
    points = np.arange(len(values), dtype=np.float64)
    return Path("a", "nll", points, points[None], {"m": np.array([values]), "reward": np.array([reward])})


def test_a_metric_that_falls_while_the_reward_rises_is_flagged():
    generator = np.random.default_rng(0)
    noise, up = generator.normal(0, 0.002, 20), np.linspace(0, 0.3, 20)
    assert [flag.metric for flag in flags(curve(list(0.5 - up + noise), list(up)), ["m"])] == ["m"]
    assert flags(curve(list(0.5 + up + noise), list(up)), ["m"]) == []
    assert flags(curve(list(0.5 - up + noise), list(-up)), ["m"]) == []


def test_a_rise_and_fall_is_flagged_from_its_highest_point():
    steps = np.linspace(0, 1, 21)
    values = steps * (1.2 - steps)  # ends above the start
    found = flags(curve(list(values), list(steps)), ["m"])
    assert [flag.since for flag in found] == [12]
    assert found[0].change < 0 < found[0].rise


def test_noise_is_seldom_flagged():
    generator = np.random.default_rng(0)
    up = list(np.linspace(0, 1, 12))
    found = [flags(curve(list(generator.normal(0, 1, 12)), up), ["m"]) for _ in range(1000)]
    assert sum(map(bool, found)) / 1000 < 0.08


def test_blocks():
    values = {"nll": [3.0, 3.1, 3.2, 3.3], "length": [20] * 4, "m": [0.5, 0.4, 0.3, 0.2], "reward": [0, 0.3, 0.6, 0.9]}
    falling = rows(values, kl=0.2)
    chosen = {"best of n": Frontier(kl_of_best_of([2, 4]), {"m": np.array([0.01, 0.02])})}
    drawing, found = overoptimization_blocks({"a": [falling, falling]}, ["m", "absent"], chosen)
    assert isinstance(drawing, Picture)
    assert isinstance(found, Bullets)
    assert len(found.lines) == 1
    assert overoptimization_blocks({"a": [falling[:1]]}, ["m"], {}) == []


def system(name: str, kind: str, scores: np.ndarray, lengths: np.ndarray) -> System:
    return System(name, name, kind, "m" if kind == "reward" else None, {"m": scores}, {"length": lengths})


def results(*systems: System) -> Results:
    return Results("beam", (1, 2), tuple(map(str, range(60))), {each.name: each for each in systems}, {})


def test_a_gain_by_length_alone_is_gone_at_equal_length():
    generator = np.random.default_rng(0)
    lengths = generator.integers(10, 30, (3, 60)).astype(float)
    longer = lengths + generator.integers(-3, 10, (3, 60))
    table = equal_length_table(
        results(system("none", "control", 0.01 * lengths, lengths), system("a", "reward", 0.01 * longer, longer))
    )
    assert table is not None
    (row,) = table.rows
    assert float(row[1].text) == pytest.approx((longer - lengths).mean(), abs=0.06)
    assert abs(float(row[2].text)) == 0
    assert f"raw {(longer - lengths).mean():+.2f}" in row[2].detail
    assert equal_length_table(results(system("a", "reward", lengths, lengths))) is None


def test_best_of_n_rows_are_the_frontier():
    ones = np.ones((1, 60))
    rows = results(
        system("start", "start", 0.3 * ones, ones),
        system("four", "choosing", 0.5 * ones, ones),
        system("two", "choosing", 0.4 * ones, ones),
        system("mbr", "choosing", 0.9 * ones, ones),
    )
    rules = {
        "four": Choosing(best_of=4, by="length"),
        "two": Choosing(best_of=2, by="length"),
        "mbr": Choosing(mbr="m", samples=4),
    }
    (found,) = frontiers(rules, rows).values()
    assert found.kl.tolist() == pytest.approx([np.log(2) - 1 / 2, np.log(4) - 3 / 4])
    assert found.gains["m"].tolist() == pytest.approx([0.1, 0.2])
