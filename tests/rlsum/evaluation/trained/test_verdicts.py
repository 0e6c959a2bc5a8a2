from __future__ import annotations

import numpy as np
import pytest

from rlsum.evaluation.statistics import with_holm
from rlsum.evaluation.trained.hierarchical import compare_systems
from rlsum.evaluation.trained.verdicts import best_of, verdict


def scores(mean: float, seed: int, seeds: int = 3) -> np.ndarray:
    return mean + np.random.default_rng(seed).normal(0, 0.1, (seeds, 200))


def test_words():
    good, poor = scores(0.6, 0), scores(0.3, 1)
    assert str(verdict(compare_systems(good, poor))) == "better"
    assert str(verdict(compare_systems(poor, good))) == "worse"
    close = compare_systems(scores(0.5, 2), scores(0.5, 3))
    assert str(verdict(close)) == "no difference shown"
    assert str(verdict(close, margin=0.1)) == "no worse than by 0.1"
    assert str(verdict(close, margin=1e-6)) == "no difference shown"
    assert str(verdict(compare_systems([[1.0]], [[0.0]]))) == "unknown"


def test_holm_decides_where_it_is_given():
    difference = compare_systems(scores(0.535, 4, 2), scores(0.5, 5, 2))
    assert verdict(difference).word == "better"
    family = with_holm([difference, *[compare_systems(scores(0.5, n, 2), scores(0.5, n + 50, 2)) for n in range(40)]])
    assert family[0].p == difference.p < family[0].p_holm
    assert verdict(family[0]).word == "no difference shown"


def test_a_best_that_all_others_are_below_is_shown():
    best = best_of({"a": scores(0.5, 0), "b": scores(0.9, 1), "c": scores(0.4, 2, seeds=1)})
    assert (best.best, best.tied, best.shown) == ("b", (), True)


def test_a_best_that_is_chance_is_not_shown():
    best = best_of({"a": scores(0.5, 0), "b": scores(0.9, 1), "c": scores(0.901, 2)})
    assert {best.best, *best.tied} == {"b", "c"}
    assert not best.shown


def test_best_needs_scores():
    nothing = np.full((2, 5), np.nan)
    assert best_of({"a": nothing}).best == ""
    assert not best_of({"a": nothing}).shown
    assert best_of({"a": nothing, "b": scores(0, 0)}).best == "b"


def test_identical_systems_are_tied():
    same = scores(0.5, 0)
    assert best_of({"a": same, "b": same.copy()}) == best_of({"a": same, "b": same})
    assert best_of({"a": same, "b": same}).tied == ("b",)


@pytest.mark.parametrize("mean", [0.2, 0.8])
def test_articles_undefined_in_one_system_do_not_move_the_order(mean):
    a, b = scores(0.5, 0), scores(0.5, 1)
    b[:, 0] = np.nan
    a[:, 0] = 1000 * mean
    assert {best_of({"a": a, "b": b}).best} <= {"a", "b"}
    assert best_of({"a": a, "b": b + 0.2}).best == "b"
