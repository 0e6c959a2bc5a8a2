from itertools import combinations

import numpy as np
import pytest
from votes import votes_of

from human_eval.statistics.ranking import item_wins, ranked, strengths

SYSTEMS = ("a", "b", "c")


def three(ab, ac, bc):
    """Votes on three pairs, one judge an item."""
    parts = zip((("a", "b"), ("a", "c"), ("b", "c")), (ab, ac, bc), strict=True)
    return [row for pair, votes in parts for row in votes_of(np.array(votes)[:, None], pair=pair)]


def test_two_systems_are_the_log_odds_of_their_shares():
    votes = votes_of([[1], [1], [1], [-1]])
    found = ranked(votes, ("a", "b"))
    assert [row.system for row in found.systems] == ["b", "a"]
    assert found.systems[0].strength - found.systems[1].strength == pytest.approx(np.log(3))
    assert found.systems[0].share == pytest.approx(0.75)


def test_a_tie_is_half_a_win_for_each_and_an_item_counts_once():
    wins = item_wins(votes_of([[1, 0], [-1, -1]]), ("a", "b"), same=[(("a", "b"), "item009")])
    assert wins[0].tolist() == [[0, 0.25], [0.75, 0]]
    assert wins[1].tolist() == [[0, 1], [0, 0]]
    assert wins[2].tolist() == [[0, 0.5], [0.5, 0]]


def test_strengths_solve_the_likelihood_equations():
    wins = np.array([[0, 6, 4.5], [3, 0, 7], [2.5, 1, 0]])
    found = strengths(wins)
    beats = 1 / (1 + np.exp(found[None] - found[:, None]))
    expected = ((wins + wins.T) * beats).sum(1)
    assert expected == pytest.approx(wins.sum(1), rel=1e-5)  # each wins as often as it is expected to
    assert found.mean() == pytest.approx(0)


def noise(generator, items, judges, effect=0.0, graded=False):
    """Votes on three equal systems by judges with preferences of their own, of standard deviation ``effect``."""
    rows = []
    own = generator.normal(0, effect, (judges, 3))
    for number, pair in enumerate(combinations(SYSTEMS, 2)):
        first, second = (SYSTEMS.index(system) for system in pair)
        shared = generator.normal(0, 0.5, (items, 1))
        liked = shared + own[:, second] - own[:, first] + generator.normal(size=(items, judges))
        values = np.clip(np.round(2 * liked) / 2, -1, 1) if graded else np.sign(liked)
        seen = (np.arange(items)[:, None] + np.arange(judges) + number) % judges < 3  # three judges an item
        rows += votes_of(np.where(seen, values, np.nan), pair=pair)
    return rows


def test_planted_strengths_are_found_within_their_intervals():
    generator, planted = np.random.default_rng(0), np.array([-0.6, 0.0, 0.6])
    rows = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        wins = generator.random((100, 6)) < 1 / (1 + np.exp(planted[i] - planted[j]))
        rows += votes_of(np.where(wins, 1, -1), pair=(SYSTEMS[i], SYSTEMS[j]))
    found = ranked(rows, SYSTEMS, better=[("c", "b"), ("c", "a")])
    assert [row.system for row in found.systems] == ["c", "b", "a"]
    for row, truth in zip(found.systems, planted[::-1], strict=True):
        assert row.low < truth < row.high
    assert [(row.rank_low, row.rank_high) for row in found.systems] == [(1, 1), (2, 3), (2, 3)]


@pytest.mark.parametrize(("items", "judges", "effect"), [(30, 6, 0.0), (30, 6, 0.3), (60, 10, 0.3)])
@pytest.mark.parametrize("graded", [False, True])
def test_an_interval_of_any_equal_system_seldom_excludes_zero(items, judges, effect, graded):
    """Percentiles of resampled items excluded it in 26 to 32% of studies."""
    generator, wrong, draws = np.random.default_rng(3), 0, 150
    for _ in range(draws):
        found = ranked(noise(generator, items, judges, effect, graded), SYSTEMS, 2.0 * graded)
        wrong += any(row.low > 0 or row.high < 0 for row in found.systems)
    assert wrong / draws < 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)


def test_turning_every_vote_turns_the_strengths():
    generator = np.random.default_rng(1)
    parts = [generator.integers(-1, 2, 30) for _ in range(3)]
    found = {row.system: row.strength for row in ranked(three(*parts), SYSTEMS).systems}
    turned = ranked(three(*(-part for part in parts)), SYSTEMS).systems
    assert {row.system: -row.strength for row in turned} == pytest.approx(found, abs=1e-6)


def test_what_cannot_be_ranked_is_refused_in_words():
    votes = votes_of([[1], [-1]])
    assert "no chain of comparisons joins" in ranked(votes, SYSTEMS).reason
    assert "b never lost to the rest" in ranked(votes_of([[1], [1]]), ("a", "b")).reason
    assert ranked([], ("a", "b")).reason == "no comparisons of two systems"
    assert ranked(votes, ("a", "b")).systems


@pytest.mark.parametrize(("value", "points"), [(0, 0.0), (0, 3.0), (0.5, 0.0), (1, 3.0)])
def test_judges_who_all_say_the_same_have_strengths_and_no_interval(value, points):
    pairs = combinations(SYSTEMS, 2)
    votes = [vote for pair in pairs for vote in votes_of(np.full((24, 6), float(value)), pair=pair)]
    for systems, rows in ((SYSTEMS, votes), (SYSTEMS[:2], [vote for vote in votes if vote.pair == ("a", "b")])):
        found = ranked(rows, systems, points, better=())
        assert np.isnan([(row.low, row.high) for row in found.systems]).all()
        assert "all judges say the same" in found.reason


def test_few_judges_or_items_have_no_interval():
    found = ranked(votes_of([[1], [1], [-1]]), ("a", "b"))
    assert found.systems
    assert np.isnan(found.systems[0].low)
    assert "no interval: 1 judge" in found.reason
