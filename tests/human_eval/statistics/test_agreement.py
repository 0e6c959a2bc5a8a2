import numpy as np
import pytest
from calibration.preference import draw_votes
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from human_eval.planning.simulation import Assumptions
from human_eval.statistics.agreement import agreements
from rlsum.evaluation.statistics import Uncertainty

NAN = float("nan")
NONE = Uncertainty(resamples=0)


def counts_of(votes):
    return np.stack([(votes == side).sum(1) for side in (-1, 0, 1)], axis=1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4), min_size=2, max_size=10))
def test_kappa_is_that_of_statsmodels(votes):
    votes = np.array(votes, dtype=float)
    found = agreements(votes, how=NONE)["kappa"]
    if np.ptp(votes) == 0:
        assert found.reason == "all judgments are the same"
    else:
        assert found.value == pytest.approx(fleiss_kappa(counts_of(votes)))


def test_by_hand_with_unequal_numbers_of_judges():
    # agreeing pairs: 1 of 3, 1 of 1; the third item has one vote and says nothing. Shares of 5 votes: 3/5 and 2/5.
    votes = np.array([[1, 1, -1], [NAN, -1, -1], [0, NAN, NAN]])
    shares = (1 / 3 + 1) / 2
    chance = (2 / 5) ** 2 + (3 / 5) ** 2
    found = agreements(votes, how=NONE)
    assert found["pairwise"].value == pytest.approx(shares)
    assert found["kappa"].value == pytest.approx((shares - chance) / (1 - chance))
    assert found["pairwise"].n == 2


def test_correlation_within_items_by_hand():
    # Two items, two votes each: means 1 and 0, grand mean .5. MSB = 2 (.25 + .25) / 1 = 1, MSW = (0 + 2) / 2 = 1.
    assert agreements([[1, 1], [1, -1]], how=NONE)["correlation"].value == pytest.approx(0.0)
    # MSB = 2 (1 + 1) / 1 = 4, MSW = 0.
    assert agreements([[1, 1], [-1, -1]], how=NONE)["correlation"].value == pytest.approx(1.0)


def test_correlation_within_items_finds_what_was_planted():
    counts = draw_votes(Assumptions(0.6, 0.2, 0.4), 3_000, 3, 1, np.random.default_rng(0))[0]
    votes = np.array([np.repeat([-1, 0, 1], row.astype(int)) for row in counts], dtype=float)
    votes = np.random.default_rng(0).permuted(votes, axis=1)
    votes[::3, 2] = NAN  # unequal groups
    found = agreements(votes, how=Uncertainty(resamples=200))["correlation"]
    assert found.value == pytest.approx(0.4, abs=0.04)
    assert found.low < 0.4 < found.high


def test_the_systems_and_the_judges_may_be_swapped():
    votes = np.random.default_rng(0).integers(-1, 2, (12, 4)).astype(float)
    found = agreements(votes, how=NONE)
    for other in (-votes, votes[:, ::-1], votes[::-1]):
        for name, each in agreements(other, how=NONE).items():
            assert each.value == pytest.approx(found[name].value)


def test_intervals_draw_items_and_hold_the_value():
    votes = np.random.default_rng(0).integers(-1, 2, (40, 3)).astype(float)
    items = np.repeat(np.arange(20), 2)
    for found in agreements(votes, items=items, how=Uncertainty(resamples=200)).values():
        assert found.low < found.value < found.high
    alone = agreements(votes, items=np.zeros(40), how=Uncertainty(resamples=200))
    assert np.isnan(alone["kappa"].low)
    assert "one input" in alone["kappa"].reason


def test_all_the_same_and_nobody_twice():
    same = agreements(np.ones((5, 3)))
    assert same["pairwise"].value == 1
    assert {same[name].reason for name in ("alpha", "kappa", "correlation")} == {"all judgments are the same"}
    single = agreements([[1, NAN], [NAN, -1]])
    assert {found.reason for found in single.values()} == {"no item has two judgments"}


def test_judges_who_all_agree_leave_no_interval():
    found = agreements(np.tile([[1.0], [-1], [0], [1]], (6, 3)))
    assert {name: measure.value for name, measure in found.items()} == pytest.approx(dict.fromkeys(found, 1))
    assert np.isnan([(measure.low, measure.high) for measure in found.values()]).all()
    assert {measure.reason for measure in found.values()} == {"no interval: the same in all resamples"}
