from itertools import product

import numpy as np
import pytest
from calibration.preference import draw_votes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from human_eval.statistics.preference import bounded, item_means, preference
from rlsum.evaluation.statistics import Uncertainty

NAN = float("nan")
FEW = Uncertainty(resamples=500)
matrices = st.lists(
    st.lists(st.sampled_from([-1.0, 0.0, 1.0, NAN]), min_size=3, max_size=3), min_size=1, max_size=8
).map(np.array)


def test_by_hand():
    votes = np.array([[1, 1, 1], [1, 1, -1], [1, 0, -1], [-1, -1, NAN], [1, 0, 0], [0, 0, 1]])
    found = preference(votes)
    means = np.array([1, 1 / 3, 0, -1, 1 / 3, 1 / 3])
    sums = [abs(np.dot(signs, means)) for signs in product((-1, 1), repeat=6)]
    assert found.share == pytest.approx((1 + means.mean()) / 2)
    assert found.p == pytest.approx(np.mean(np.array(sums) >= means.sum() - 1e-9))
    assert (found.items, found.first, found.tied, found.second) == (6, 4, 5, 8)
    assert found.naive_p == pytest.approx(binomtest(8, 12).pvalue)
    assert found.low < found.share < found.high


def test_ties_dropped_leave_out_votes_and_items_of_ties_alone():
    votes = np.array([[1, 0, 0], [0, 0, 0], [-1, 1, 0]])
    half, dropped = preference(votes), preference(votes, ties="dropped")
    assert half.share == pytest.approx((1 + (1 / 3) / 3) / 2)
    assert half.items == 3
    assert dropped.share == pytest.approx((1 + 1 / 2) / 2)
    assert dropped.items == 2
    assert (dropped.first, dropped.tied, dropped.second) == (1, 6, 2)  # votes cast, whatever is made of them


def test_equal_texts_count_as_ties():
    votes = np.array([[1.0], [1.0]])
    assert preference(votes, same=2).share == pytest.approx(0.75)
    assert preference(votes, same=2).items == 4
    assert preference(votes, same=2).p == preference(votes).p  # a tie tells the test nothing
    alone = preference(np.empty((0, 0)), same=3)
    assert (alone.share, alone.p) == (0.5, 1.0)


def test_an_item_with_several_comparisons_is_one_unit():
    votes = np.array([[1, 1], [1, -1], [-1, NAN]])
    found = preference(votes, items=["x", "x", "y"])
    assert item_means(votes, ["x", "x", "y"]).tolist() == [0.5, -1]
    assert found.items == 2


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_swapping_the_systems_turns_the_sign(votes):
    found, turned = preference(votes, how=FEW), preference(-votes, how=FEW)
    assert turned.share == pytest.approx(1 - found.share, nan_ok=True)
    assert turned.p == pytest.approx(found.p, nan_ok=True)
    assert (turned.first, turned.second) == (found.second, found.first)
    if len(np.unique(item_means(votes))) == 1:
        assert (turned.low, turned.high) == pytest.approx((1 - found.high, 1 - found.low), nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(matrices, st.randoms())
def test_the_order_of_judges_and_of_named_items_changes_nothing(votes, random):
    order = list(range(len(votes)))
    random.shuffle(order)
    names = [f"i{number}" for number in range(len(votes))]
    found = preference(votes, items=names, how=FEW)
    again = preference(votes[order][:, ::-1], items=[names[place] for place in order], how=FEW)
    assert np.allclose(
        [again.share, again.low, again.high, again.p], [found.share, found.low, found.high, found.p], equal_nan=True
    )


def test_nothing_to_go_by():
    none = preference(np.full((2, 2), NAN))
    assert np.isnan(none.share)
    assert none.reason == "no votes"
    ties = preference(np.zeros((3, 2)), ties="dropped")
    assert np.isnan(ties.p)
    assert ties.reason == "every vote is a tie"
    assert preference(np.zeros((3, 2))).p == 1
    one = preference(np.array([[1.0, 1.0]]))
    assert (one.share, one.p) == (1.0, 1.0)
    assert (one.low, one.high) == pytest.approx((0.025, 1), abs=0.005)  # one item excludes nothing
    assert preference([[1.0], [1], [1], [1], [-1]]).low < 0.5


@settings(max_examples=60, deadline=None)
@given(matrices, st.sampled_from([0.9, 0.95, 0.99]))
def test_an_interval_contains_one_half_if_and_only_if_the_test_does_not_reject(votes, level):
    how = Uncertainty(level=level, resamples=150)  # all flips of up to seven items, random ones of eight
    found = preference(votes, how=how)
    if not np.isnan(found.low):
        assert (found.p <= 1 - level + 1e-12) == (found.low >= 0.5 or found.high <= 0.5)


@pytest.mark.parametrize(("second", "n"), [(0, 8), (3, 24), (24, 24), (12, 30)])
def test_of_single_votes_the_interval_is_that_of_clopper_and_pearson(second, n):
    votes = np.repeat([1.0, -1.0], (second, n - second))
    exact = binomtest(second, n).proportion_ci(0.95, method="exact")
    low, high = ((1 + end) / 2 for end in bounded(votes, how=Uncertainty(resamples=40_000)))
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.01)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-1.0, -1 / 3, 0.0, 1 / 3, 1.0]), min_size=2, max_size=30), st.randoms())
def test_a_vote_for_a_system_moves_both_ends_towards_it(votes, random):
    """Of 24 votes, none had 0 to 34.5% and one had 0 to 16.7%."""
    place = random.randrange(len(votes))
    more = [1.0 if number == place else vote for number, vote in enumerate(votes)]
    before, after = (bounded(np.array(given), how=FEW) for given in (votes, more))
    assert after[0] >= before[0] - 1e-12
    assert after[1] >= before[1] - 1e-12


@pytest.mark.parametrize(("items", "judges"), [(10, 3), (24, 1), (30, 3)])
def test_an_interval_does_not_narrow_when_one_judge_dissents(items, judges):
    """30 of 30 votes had 71 to 100%, and 29.5 of 30 had 94 to 98%."""
    votes = np.ones((items, judges))
    widths = []
    for dissent in (1.0, 0.0, -1.0):
        votes[0, 0] = dissent
        found = preference(votes)
        widths.append(found.high - found.low)
    assert widths == sorted(widths)


def test_wrong_votes_are_refused():
    with pytest.raises(ValueError, match="votes contains 2"):
        preference([[2.0, 1.0]])
    with pytest.raises(ValueError, match="shape"):
        preference([1.0, 0.0])


@pytest.mark.parametrize("items", [10, 30])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.8, 0.95])
def test_the_interval_keeps_its_level(items, share):
    from human_eval.planning.simulation import Assumptions

    votes = draw_votes(Assumptions(share, 0.1, 0.3), items, 3, 300, np.random.default_rng(1))
    truth = votes[..., 2].mean() - votes[..., 0].mean()
    intervals = [bounded(row, how=FEW) for row in (votes[..., 2] - votes[..., 0]) / 3]
    held = np.mean([low <= truth / 3 <= high for low, high in intervals])
    assert held > 0.95 - 3.3 * np.sqrt(0.95 * 0.05 / 300)
