import numpy as np
import pytest
from calibration.levels import rejections
from scipy.stats import t, ttest_1samp

from human_eval.planning.simulation import Assumptions, dealt
from human_eval.statistics.preference import preference
from human_eval.statistics.random_judges import Layout, random_judges

NAN = float("nan")


def drawn(items=40, judges=6, share=0.65, seed=0):
    return np.where(np.random.default_rng(seed).random((items, judges)) < share, 1.0, -1.0)


def apart(votes):
    """Every judge on items that no other judge sees."""
    items, judges = votes.shape
    out = np.full((items * judges, judges), NAN)
    for judge in range(judges):
        out[judge * items : (judge + 1) * items, judge] = votes[:, judge]
    return out


def test_judges_who_share_no_item_are_tested_by_students_t():
    votes = drawn()
    found = random_judges(apart(votes))
    assert found.p == pytest.approx(ttest_1samp(votes.mean(0), 0).pvalue)
    low, high = ttest_1samp(votes.mean(0), 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(((1 + low) / 2, (1 + high) / 2))
    assert found.df == pytest.approx(5)


def test_of_a_complete_design_the_error_is_that_of_reader_studies():
    """Variance of judges' means, plus that of items without the rest, over their numbers."""
    votes = drawn(30, 6) * 0.5 + np.random.default_rng(1).choice([-0.5, 0.5], (30, 1))
    found = random_judges(votes)
    by_judge = votes.mean(0).var(ddof=1) / 6
    rest = votes - votes.mean()
    of_items = (rest.sum(1) ** 2 - (rest**2).sum(1)).sum() / (30 * 6 * 5)
    variance = by_judge + of_items / 30
    df = np.sqrt(5 * variance**2 / (by_judge**2 / 5 + (of_items / 30) ** 2 / 29))
    assert found.df == pytest.approx(df)
    assert found.high - found.low == pytest.approx(t.ppf(0.975, df) * np.sqrt(variance))


def test_the_share_is_that_of_the_other_question():
    votes = drawn()
    votes[np.random.default_rng(1).random(votes.shape) < 0.4] = NAN
    names = [f"i{number // 2}" for number in range(len(votes))]
    found = random_judges(votes, items=names, same=7)
    assert found.share == pytest.approx(preference(votes, items=names, same=7).share)
    turned = random_judges(-votes[::-1, ::-1], items=names[::-1], same=7)
    assert (turned.share, turned.low, turned.high) == pytest.approx((1 - found.share, 1 - found.high, 1 - found.low))
    assert turned.p == pytest.approx(found.p)


@pytest.mark.parametrize(
    ("votes", "why"),
    [
        (np.ones((30, 3)), "3 judges"),
        (np.ones((30, 1)), "1 judge:"),
        (np.hstack([np.ones((60, 1)), np.vstack([np.ones((3, 5)), np.full((57, 5), NAN)])]), "6 judges, worth"),
        (np.ones((19, 6)), "19 items: no test"),
        (np.full((3, 6), NAN), "no votes"),
    ],
)
def test_without_a_test_that_holds_there_is_no_p_value(votes, why):
    found = random_judges(votes)
    assert np.isnan([found.p, found.low, found.high]).all()
    assert found.reason.startswith(why)


def test_judges_who_all_agree_are_counted():
    assert random_judges(np.ones((20, 6))).low > 0.5
    tied = random_judges(np.zeros((20, 6)))
    assert (tied.share, tied.p) == (0.5, 1.0)
    assert tied.low < 0.5 < tied.high


@pytest.mark.parametrize(("items", "judges"), [(20, 6), (40, 8), (20, 30)])
def test_judges_who_all_agree_are_no_less_certain_than_if_one_dissents(items, judges):
    """Of some judges and 100 votes for one system nothing was claimed, and with one vote for the other it was."""
    votes = np.ones((items, judges))
    unanimous = random_judges(votes)
    votes[0, 0] = -1
    assert 0 < unanimous.p <= random_judges(votes).p < 0.001


def test_the_spread_of_judges_is_found():
    generator = np.random.default_rng(0)
    found = []
    for _ in range(40):
        own = 0.5 + generator.choice([-0.15, 0.15], 10)
        found.append(random_judges(np.where(generator.random((60, 10)) < own, 1.0, -1.0)).spread)
    assert np.mean(found) == pytest.approx(0.15, abs=0.015)


@pytest.mark.parametrize(("items", "judges", "booklets"), [(20, 10, 1), (40, 5, 1), (60, 1, 10), (60, 3, 5)])
@pytest.mark.parametrize("spread", [0.0, 0.1, 0.2])
def test_the_test_keeps_its_level(items, judges, booklets, spread):
    assigned = dealt(items, judges, booklets)
    found = rejections(Assumptions(0.5, 0.2, 0.3, spread), assigned, draws=3_000)
    assert 0.033 <= found <= 0.067


@pytest.mark.parametrize(("items", "judges", "people"), [(60, 1, 10), (100, 2, 8)])
def test_the_test_keeps_its_level_where_judges_do_as_much_as_they_like(items, judges, people):
    generator, loads = np.random.default_rng(0), np.arange(1, people + 1) / sum(range(people + 1))
    assigned = np.array([generator.choice(people, judges, replace=False, p=loads) for _ in range(items)])
    found = rejections(Assumptions(0.5, 0.2, 0.3, 0.1), assigned, draws=3_000)
    assert 0.037 <= found <= 0.063


def test_judges_who_differ_in_load_alone_add_no_variance():
    """Coin tosses, each item for one judge: the mean has the variance 1 / items, whoever judges how much."""
    loads = np.arange(1, 11)
    layout = Layout(np.arange(55), np.repeat(np.arange(10), loads))
    tosses = np.random.default_rng(0).choice([-1.0, 1.0], (20_000, 55))
    assert layout.estimates(tosses).variance.mean() * 55 == pytest.approx(1, abs=0.03)


def test_more_people_detect_more_if_they_differ():
    few, many = (rejections(Assumptions(0.62, 0, 0.2, 0.15), dealt(60, 3, n), draws=1_000) for n in (2, 10))
    assert many > few + 0.1
