from __future__ import annotations

import numpy as np
import pytest

from rlsum.evaluation.statistics import with_holm
from rlsum.evaluation.trained.hierarchical import compare_systems
from rlsum.evaluation.trained.verdicts import best_of, unjudged, verdict, verdicts


def scores(mean: float, seed: int, seeds: int = 3) -> np.ndarray:
    return mean + np.random.default_rng(seed).normal(0, 0.1, (seeds, 200))


def without(table: np.ndarray, *, seed: int | None = None, articles: int = 0) -> np.ndarray:
    table = table.copy()
    table[seed if seed is not None else slice(0, 0)] = np.nan
    table[:, :articles] = np.nan
    return table


def test_words():
    good, poor = scores(0.6, 0), scores(0.3, 1)
    assert verdict(compare_systems(good, poor)) == "better"
    assert verdict(compare_systems(poor, good)) == "worse"
    close = compare_systems(scores(0.5, 2), scores(0.5, 3))
    assert verdict(close) == "no difference shown"
    assert verdicts([[close]], margin=0.1)[0].word == "no worse"
    assert verdicts([[close]], margin=1e-6)[0].word == "no difference shown"
    assert verdict(compare_systems([[1.0]], [[0.0]])) == "no verdict"
    assert verdict(compare_systems(scores(0.6, 0, seeds=1), scores(0.3, 1, seeds=1))) == "no verdict"


def test_holm_decides_where_it_is_given():
    difference = compare_systems(scores(0.535, 4, 2), scores(0.5, 5, 2))
    assert verdict(difference) == "better"
    family = with_holm([difference, *[compare_systems(scores(0.5, n, 2), scores(0.5, n + 50, 2)) for n in range(40)]])
    assert family[0].p == difference.p < family[0].p_holm
    assert verdict(family[0]) == "no difference shown"


def test_several_claims_of_no_harm_are_one_family():
    generator = np.random.default_rng(0)
    false = {1: 0, 6: 0}
    for _ in range(300):
        family = [[compare_systems(generator.normal(-0.02, 0.1, (3, 60)), np.zeros((1, 60)))] for _ in range(6)]
        for size in false:
            false[size] += any(each.word == "no worse" for each in verdicts(family[:size], margin=0.02))
    assert false[1] / 300 < 0.08
    assert false[6] / 300 < 0.08  # uncorrected about .2


def test_better_is_above_every_opponent_and_worse_below_any():
    start, control = scores(0.5, 10), scores(0.6, 11)
    systems = {"above both": 0.7, "between": 0.55, "like the control": 0.6, "below both": 0.4}
    tests = [
        [compare_systems(own, other) for other in (start, control)]
        for own in (scores(mean, number) for number, mean in enumerate(systems.values()))
    ]
    found = dict(zip(systems, verdicts(tests), strict=True))
    assert [each.word for each in found.values()] == ["better", "worse", "no difference shown", "worse"]
    assert [each.decisive for each in found.values()][:3] == [1, 1, 1]
    assert found["above both"].p == pytest.approx(4 * max(test.p for test in tests[0]))
    assert found["like the control"].p > 0.05


@pytest.mark.parametrize(("rewards", "seeds"), [(1, 2), (6, 2), (6, 3)])
def test_equal_rewards_seldom_get_a_verdict(rewards, seeds):
    generator = np.random.default_rng(0)

    def system() -> np.ndarray:
        return generator.normal(0, 0.005, (seeds, 1)) + generator.normal(0, 0.08, (seeds, 100))

    false = 0
    for _ in range(200):
        start, control = system(), system()
        tests = [
            [compare_systems(own, other) for other in (start, control)] for own in (system() for _ in range(rewards))
        ]
        false += any(each.word in ("better", "worse") for each in verdicts(tests))
    assert false / 200 < 0.075


def test_what_has_no_p_has_no_verdict_and_is_in_no_family():
    known, unknown = compare_systems(scores(0.6, 0), scores(0.5, 1)), compare_systems([[1.0]], [[0.0]])
    with_unknown = verdicts([[known], [unknown], [known, unknown], []])
    assert [each.word for each in with_unknown] == ["better", *["no verdict"] * 3]
    assert with_unknown[0] == verdicts([[known]])[0]


def test_a_best_that_all_others_are_below_is_shown():
    best = best_of({"a": scores(0.5, 0), "b": scores(0.9, 1), "c": scores(0.4, 2, seeds=1)})
    assert (best.best, best.tied, best.shown) == ("b", (), True)


def test_a_best_that_is_chance_is_not_shown():
    best = best_of({"a": scores(0.5, 0), "b": scores(0.9, 1), "c": scores(0.901, 2)})
    assert {best.best, *best.tied} == {"b", "c"}
    assert not best.shown


@pytest.mark.parametrize("seeds", [2, 3])
def test_the_best_of_many_equal_systems_rarely_differs_from_any(seeds):
    generator = np.random.default_rng(0)
    false = 0
    for _ in range(200):
        hard = generator.normal(0, 0.1, 100)
        systems = {
            str(n): hard + generator.normal(0, 0.01, (seeds, 1)) + generator.normal(0, 0.1, (seeds, 100))
            for n in range(8)
        }
        false += bool(best_of(systems).differing)
    assert false / 200 < 0.075


def test_one_seed_has_a_highest_mean_and_no_best():
    best = best_of({"a": scores(0.2, 0, 1), "b": scores(0.9, 1, 1)})
    assert (best.best, best.tied, best.seeds, best.shown) == ("b", ("a",), 1, False)


def test_a_system_that_lacks_a_seed_does_not_compete():
    easy = scores(0.5, 0)
    easy[2] -= 0.4  # the seed that the other lacks is a hard one
    best = best_of({"whole": easy + 0.05, "partial": without(easy, seed=2), "poor": easy - 0.3})
    assert best.best == "whole"
    assert best.apart == {"partial": "2 of 3 seeds"}


def test_a_system_that_lacks_many_scores_does_not_compete():
    a, b = scores(0.5, 0), scores(0.5, 1)
    a[:, :80] -= 0.3
    best = best_of({"a": a + 0.05, "b": without(b, articles=80)})
    assert (best.best, best.apart) == ("a", {"b": "scores on 120 of 200 articles"})


def test_systems_that_share_few_articles_have_no_best():
    tables = {}
    for n in range(3):
        tables[str(n)] = scores(0.5, n)
        tables[str(n)][:, n * 20 : n * 20 + 20] = np.nan
    best = best_of(tables)
    assert (best.best, best.shown, len(best.apart)) == ("", False, 3)


def test_best_needs_scores():
    nothing = np.full((2, 5), np.nan)
    assert best_of({"a": nothing}).best == ""
    assert not best_of({"a": nothing}).shown
    assert best_of({"a": nothing, "b": scores(0, 0)}).best == "b"
    assert best_of({"a": np.zeros((2, 0))}).best == ""


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


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (scores(0, 0), ""),
        (without(scores(0, 0), articles=20), ""),
        (without(scores(0, 0), articles=21), "scores on 179 of 200 articles"),
        (without(scores(0, 0), seed=1), "2 of 3 seeds"),
        (np.full((1, 4), np.nan), "0 of 1 seeds"),
        (np.zeros((1, 0)), "0 of 1 seeds"),
    ],
)
def test_what_no_verdict_may_rest_on(table, why):
    assert unjudged(table) == why
