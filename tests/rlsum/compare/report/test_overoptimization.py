from __future__ import annotations

import numpy as np
import pytest

from rlsum.compare.config import Choosing
from rlsum.compare.report.overoptimization import (
    Frontier,
    Path,
    below_since,
    frontiers,
    kl_of_best_of,
    overoptimization_blocks,
    path,
    paths,
    sampled_as_is,
)
from rlsum.compare.results import Results, System
from rlsum.pages.pictures.drawing import Picture


def rows(values: dict[str, list[float]], kl: float | None = None) -> list[dict[str, object]]:
    """A run that validates every 10 updates."""
    found: list[dict[str, object]] = []
    count = len(next(iter(values.values())))
    for number in range(count):
        if number and kl is not None:
            for n in (1, 0):
                train = {"step": 10 * number - n, "kl": kl * number + n / 100, "sample_length": 20 + n}
                found.append({"kind": "train", **train})
        measured = {name: column[number] for name, column in values.items()}
        found.append({"kind": "valid", "step": 10 * number, **measured})
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
    assert found.distance.tolist() == [[0, pytest.approx((0.51 * 21 + 0.5 * 20) / 2)]]  # of samples, not of summaries
    assert paths({"a": [logged]}, [])[0].unit == "kl"
    silent = rows({"nll": [3.0, 3.1], "length": [20, 30]})
    silent.append({"kind": "train", "step": 10, "sample_length": 20})
    assert [each.unit for each in paths({"a": [logged], "b": [silent]}, [])] == ["nll", "nll"]
    assert paths({"b": [silent]}, [])[0].distance.tolist() == [[0, pytest.approx(0.1)]]


def test_a_training_without_samples_has_no_say_in_the_distance_and_no_place_where_it_is_a_kl():
    logged = rows({"nll": [3.0, 3.1], "m": [0.1, 0.2]}, kl=0.5)
    likelihood = [*rows({"nll": [3.0, 2.9], "m": [0.1, 0.3]}), {"kind": "train", "step": 10, "nll": 2.9}]
    both = paths({"continued likelihood": [likelihood], "a": [logged]}, ["m"])
    assert [each.unit for each in both] == ["kl", "kl"]
    (drawing,) = overoptimization_blocks(both, ["m"], {})
    assert "not here: continued likelihood." in drawing.description
    (alone,) = paths({"continued likelihood": [likelihood]}, ["m"])
    assert alone.unit == "nll"


def test_seeds_are_followed_where_all_validated():
    long, short = rows({"nll": [3.0, 2, 1], "m": [0, 1, 2]}), rows({"nll": [3.0, 2], "m": [4, 5]})
    found = path("a", [long, short], ["m"], "nll")
    assert found is not None
    assert found.steps.tolist() == [0, 10]
    assert found.values["m"].tolist() == [[0, 1], [4, 5]]
    assert path("a", [short[:1]], ["m"], "nll") is None


def test_the_update_from_which_a_metric_is_below_the_start_in_every_seed():
    steps = np.array([0.0, 60, 120, 180])
    falls = np.array([[0.5, 0.4, 0.6, 0.3], [0.5, 0.4, 0.4, 0.4]])
    found = Path("a", "nll", steps, np.zeros((2, 4)), {"falls": falls, "rises": 1 - falls, "at once": falls[1:]})
    assert below_since(found, "falls") == 180
    assert below_since(found, "at once") == 60
    assert below_since(found, "rises") is None
    assert below_since(found, "absent") is None


def test_blocks():
    values = {"nll": [3.0, 3.1, 3.2, 3.3], "length": [20] * 4, "m": [0.5, 0.4, 0.3, 0.2], "reward": [0, 0.3, 0.6, 0.9]}
    falling = rows(values, kl=0.2)
    chosen = {"best of n": Frontier(kl_of_best_of([2, 4]), {"m": np.array([0.01, 0.02])})}
    (drawing,) = overoptimization_blocks(paths({"a": [falling, falling]}, ["m"]), ["m", "absent"], chosen)
    assert isinstance(drawing, Picture)
    assert overoptimization_blocks(paths({"a": [falling[:1]]}, ["m"]), ["m"], {}) == []


def system(name: str, kind: str, scores: np.ndarray, lengths: np.ndarray) -> System:
    return System(name, name, kind, "m" if kind == "reward" else None, {"m": scores}, {"length": lengths})


def results(*systems: System) -> Results:
    return Results("beam", (1, 2), tuple(map(str, range(60))), {each.name: each for each in systems}, {})


def test_best_of_n_rows_are_the_frontier():
    ones = np.ones((1, 60))
    chosen = (("four", 0.5), ("two", 0.4), ("mbr", 0.9))
    rows = [system(name, "choosing", score * ones, ones) for name, score in chosen]
    rows = results(system("start", "start", 0.3 * ones, ones), *rows)
    best_of = {name: Choosing(best_of=number, by="length") for name, number in (("four", 4), ("two", 2))}
    rules = {**best_of, "mbr": Choosing(mbr="m", samples=4)}
    (found,) = frontiers(rules, rows).values()
    assert found.kl.tolist() == pytest.approx([np.log(2) - 1 / 2, np.log(4) - 3 / 4])
    assert found.gains["m"].tolist() == pytest.approx([0.1, 0.2])


@pytest.mark.parametrize(
    ("own", "decoding", "plain"),
    [
        ({}, {}, True),
        ({}, {"max_length": 50, "beam": 5}, True),
        ({"temperature": 0.3}, {}, False),
        ({"top_k": 5}, {}, False),
        ({"top_p": 0.9}, {}, False),
        ({}, {"temperature": 0.3}, False),
        ({"temperature": 1.0}, {"temperature": 0.3}, True),
        ({}, {"block_ngrams": 3}, False),
    ],
)
def test_best_of_n_has_a_known_kl_where_the_start_is_sampled_as_it_is(own, decoding, plain):
    assert sampled_as_is(Choosing(best_of=8, by="m", **own), decoding) == plain
