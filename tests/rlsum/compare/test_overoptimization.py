from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsum.compare.overoptimization import (
    Path,
    best_of_n,
    flags,
    kl_of_best_of,
    overoptimization_blocks,
    path,
    paths,
)
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


@given(st.integers(1, 6), st.integers(0, 1000))
def test_best_of_n_is_the_mean_over_all_subsets(n, seed):
    generator = np.random.default_rng(seed)
    by, other = generator.normal(size=(3, 6)), generator.normal(size=(3, 6))
    oracle = np.mean(
        [
            [row_other[max(chosen, key=lambda i, row=row: row[i])] for chosen in combinations(range(6), n)]
            for row, row_other in zip(by, other, strict=True)
        ]
    )
    found = best_of_n(by, {"other": other, "by": by}, [n])
    assert found.values["other"][0] == pytest.approx(oracle)
    assert found.values["by"][0] >= by.mean() - 1e-12


def test_equal_rewards_choose_at_random():
    other = np.array([[1.0, 2, 3, 10]])
    found = best_of_n(np.array([[0.0, 5, 5, 5]]), {"other": other}, [1, 4])
    assert found.values["other"] == pytest.approx([4, 5])
    with pytest.raises(ValueError, match="between 1 and the 4"):
        best_of_n(other, {}, [5])


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
    falling = rows(
        {"nll": [3.0, 3.1, 3.2, 3.3], "length": [20] * 4, "m": [0.5, 0.4, 0.3, 0.2], "reward": [0, 0.3, 0.6, 0.9]}, 0.2
    )
    frontier = best_of_n(np.array([[1.0, 2]]), {"m": np.array([[0.5, 0.6]])}, [1, 2])
    drawing, found = overoptimization_blocks({"a": [falling, falling]}, ["m", "absent"], {"best of n": frontier})
    assert isinstance(drawing, Picture)
    assert isinstance(found, Bullets)
    assert len(found.lines) == 1
    assert overoptimization_blocks({"a": [falling[:1]]}, ["m"]) == []
