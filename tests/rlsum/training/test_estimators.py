"""Rewards to advantages: by hand, by their invariances, and where something is undefined."""

from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
import tiny
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from rewards.options import meanings
from rewards.scoring import Component
from rlsum.objective import OF_SINGLE_SAMPLES, Objective
from rlsum.training import estimators
from rlsum.training.earned import Earned

DOCS = Path(__file__).parents[3] / "docs"
NAN, INF = float("nan"), float("inf")
SAMPLED = [name for name, estimator in estimators.ESTIMATORS.items() if not estimator.needs_greedy]
GROUPED = ["rloo", "grpo", "dr-grpo"]  # read the rewards of one article; the other of SAMPLED those of an update


def credit_of(estimator, normalisation, **options):
    return estimators.Credit(tiny.objective(estimator=estimator, normalisation=normalisation, **options), 8)


# rewards on a grid: what differs, differs by more than rounding
REWARDS = st.lists(st.integers(-100, 100).map(lambda n: n / 100), min_size=2, max_size=6)


def within(estimator, rewards):
    return estimators.advantages_of(estimator, np.array(rewards, dtype=np.float64), None)


def test_configuration_and_documentation_name_the_same():
    hints, texts = get_type_hints(Objective), meanings(Objective)
    assert get_args(hints["estimator"]) == tuple(estimators.ESTIMATORS)
    for key in ("estimator", "normalisation"):
        names = [name.removesuffix("-baseline") for name in get_args(hints[key])]
        assert [name for name in names if f"{name}: " not in texts[key]] == []
    documentation = (DOCS / "concepts" / "objectives.md").read_text(encoding="utf-8")
    assert all(f"**{name}**" in documentation for name in get_args(hints["kind"]))


def test_self_critical_by_hand():
    samples, greedy = np.array([[1.0, 0.2], [0.5, np.nan], [0.1, 0.2]]), np.array([0.4, 0.5, np.nan])
    expected = [[3.0, -1.0], [0.0, np.nan], [np.nan, np.nan]]
    np.testing.assert_allclose(estimators.advantages_of("self-critical", samples, greedy, 5.0), expected)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.floats(0.1, 100))
def test_equal_rewards_give_exactly_no_advantage_over_greedy(rewards, scale):
    greedy = np.array(rewards)
    assert not estimators.advantages_of("self-critical", np.repeat(greedy[:, None], 3, 1), greedy, scale).any()


@pytest.mark.parametrize("estimator", GROUPED)
def test_an_undefined_reward_leaves_its_group_and_the_others_go_on(estimator):
    for undefined in (NAN, INF, -INF):
        found = within(estimator, [[1.0, undefined, 0.25, 0.25], [0.3, 0.6, 0.1, 0.2]])
        np.testing.assert_array_equal(found[0, [0, 2, 3]], within(estimator, [[1.0, 0.25, 0.25]])[0])
        assert np.isnan(found[0, 1])
        assert np.isfinite(found[1]).all()


@pytest.mark.parametrize("estimator", SAMPLED)
@pytest.mark.parametrize("rewards", [[NAN, NAN], [0.5, NAN], [NAN, 0.5], [0.5]])
def test_a_group_with_nothing_to_compare_has_no_advantages(estimator, rewards):
    with np.errstate(all="raise"):
        assert np.isnan(within(estimator, [rewards])).all()


@pytest.mark.parametrize("estimator", SAMPLED)
def test_rewards_that_differ_by_rounding_are_equal(estimator):
    assert not within(estimator, [[0.1 + 0.2, 0.3, 0.3]]).any()
    assert within(estimator, [[0.3 + 1e-6, 0.3, 0.3]]).any()


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=4), st.integers(2, 9), st.data())
def test_groups_of_equal_rewards_are_zero_groups_among_others_and_are_skipped(values, size, data):
    """Whatever the value, rounding, and undefined members; the groups before and after them differ within."""
    equal = np.repeat(np.array(values)[:, None], size, 1) * (1 + 1e-12 * np.arange(size) / size)
    equal[0, data.draw(st.integers(0, size - 1))] = data.draw(st.sampled_from([NAN, INF, values[0]]))
    other = np.linspace(-3.0, 2.0, size)[None]
    rewards = np.concatenate([other, equal, other])
    zero = np.array([False, *[True] * len(equal), False])
    for name in [*GROUPED, "reinforce++-baseline"]:
        credit = credit_of(name, "sum", skip_zero_groups=True)
        found, weights = credit(Earned(rewards, np.ones(rewards.shape)))
        np.testing.assert_array_equal(estimators.teaches(found), ~zero, err_msg=name)
        assert not np.nan_to_num(found[zero]).any()
        assert not weights[zero].any()
        assert estimators.described(found, weights)["zero_groups"] == pytest.approx(zero.mean())
    found = estimators.advantages_of("self-critical", rewards, np.array([NAN, *values, NAN]))
    assert not estimators.teaches(found).any()


def test_a_group_at_the_mean_of_the_update_teaches_nothing():
    found = within("reinforce++", [[0.2, 0.6], [0.4, 0.1 + 0.3], [0.1, 0.7]])
    assert estimators.teaches(found).tolist() == [True, False, True]


def test_rewards_that_are_equal_but_for_rounding_are_tied_and_others_keep_their_values():
    rewards = np.array([[0.1 + 0.2, 0.5, NAN, 0.3], [INF, 2.0, 1.0, -INF], [0.0, -0.0, 1e-12, -1.0]])
    found = estimators.tied(rewards)
    np.testing.assert_array_equal(found, [[0.3, 0.5, NAN, 0.3], [NAN, 2.0, 1.0, NAN], [0.0, 0.0, 0.0, -1.0]])


@pytest.mark.parametrize("estimator", SAMPLED)
@given(rewards=REWARDS, shift=st.floats(-10, 10))
def test_a_shift_of_all_rewards_changes_nothing(estimator, rewards, shift):
    moved = within(estimator, [[reward + shift for reward in rewards]])
    np.testing.assert_allclose(moved, within(estimator, [rewards]), atol=1e-9)


@given(rewards=REWARDS, scale=st.floats(1e-3, 1e3))
def test_the_scale_of_rewards_means_nothing_where_a_deviation_divides_and_everything_elsewhere(rewards, scale):
    assume(len(set(rewards)) > 1)
    factors = {"grpo": 1.0, "reinforce++": 1.0, "reinforce++-baseline": 1.0, "rloo": scale, "dr-grpo": scale}
    for estimator, factor in factors.items():
        scaled = within(estimator, [[reward * scale for reward in rewards]])
        np.testing.assert_allclose(scaled, factor * within(estimator, [rewards]), atol=1e-9 * max(1.0, factor))


@pytest.mark.parametrize("estimator", SAMPLED)
@given(rewards=REWARDS)
def test_advantages_of_a_group_sum_to_nothing_and_have_the_order_of_its_rewards(estimator, rewards):
    found = within(estimator, [rewards])[0]
    assert abs(found.sum()) < 1e-9
    better = np.subtract.outer(rewards, rewards) > 0
    assert (np.subtract.outer(found, found)[better] > 0).all()


@given(rewards=REWARDS)
def test_against_independent_formulas(rewards):
    """Leave-one-out sample by sample; the others by torch's mean and standard deviation."""
    assume(len(set(rewards)) > 1)
    values, size = torch.tensor(rewards, dtype=torch.float64), len(rewards)
    others = [np.mean([rewards[j] for j in range(size) if j != i]) for i in range(size)]
    np.testing.assert_allclose(within("rloo", [rewards])[0], values.numpy() - others, atol=1e-12)
    np.testing.assert_allclose(within("dr-grpo", [rewards])[0], (values - values.mean()).numpy(), atol=1e-12)
    normal = (values - values.mean()) / values.std()
    np.testing.assert_allclose(within("grpo", [rewards])[0], normal.numpy(), atol=1e-9)


# ---- estimators over the whole update -----------------------------------------------------------------------------

UPDATE = np.array([[0.9, 0.1, 0.4], [0.3, NAN, 0.2], [0.5, 0.5, 0.5], [0.7, INF, NAN]])


def test_reinforce_plus_plus_whitens_over_all_articles():
    """Hu et al. 2025, by torch's mean and standard deviation."""
    known = np.isfinite(UPDATE)
    values = torch.tensor(UPDATE[known])
    found = within("reinforce++", UPDATE)
    np.testing.assert_allclose(found[known], ((values - values.mean()) / values.std()).numpy(), atol=1e-12)
    assert np.isnan(found[~known]).all()
    one_each = within("reinforce++", [[0.2], [0.6], [0.4]])
    np.testing.assert_allclose(one_each, [[-1.0], [1.0], [0.0]], atol=1e-12)


def test_reinforce_plus_plus_with_baseline_centres_within_an_article_and_whitens_over_all():
    groups = [np.array([0.9, 0.1, 0.4]), np.array([0.3, 0.2]), np.array([0.5, 0.5, 0.5])]
    centred = np.concatenate([group - group.mean() for group in groups])
    expected = centred / centred.std(ddof=1)
    found = within("reinforce++-baseline", UPDATE)
    np.testing.assert_allclose(found[np.isfinite(found)], expected, atol=1e-12)
    assert np.isnan(found).tolist() == [[False] * 3, [False, True, False], [False] * 3, [True] * 3]
    assert not found[2].any()


A, B = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0], [0.0, 4.0, 0.0]]), np.array([[90, 30, 60], [0, 40, 80], [7, 7, 7]])


def test_components_are_brought_to_one_scale_before_their_weights_apply():
    """By hand: (r - mean) / std of each group; a component without spread adds 0 there; then over the update."""
    first = np.array([[-1, 0, 1], [0, 0, 0], [-1 / 3**0.5, 2 / 3**0.5, -1 / 3**0.5]])
    second = np.array([[1, -1, 0], [-1, 0, 1], [0, 0, 0]])
    for factor in (1.0, 1000.0):  # the spread of a component says nothing
        components = [Component("a", 2.0, A), Component("b", 0.5, factor * B)]
        summed = estimators.advantages_of("normalize-then-sum", A + B, components=components)
        np.testing.assert_allclose(summed, 2 * first + 0.5 * second, atol=1e-12)
        found = estimators.advantages_of("gdpo", A + B, None, 3.0, components)
        np.testing.assert_allclose(found, 3 * (summed - summed.mean()) / summed.std(ddof=1), atol=1e-12)
    credited, _ = credit_of("gdpo", "sum", reward_scale=3.0)(Earned(A + B, np.ones((3, 3)), components=components))
    np.testing.assert_array_equal(credited, found)
    undefined = [Component("a", 1.0, np.where(A == 3, NAN, A)), components[1]]
    assert np.isnan(estimators.advantages_of("gdpo", A, components=undefined)).sum() == 1


def test_a_sample_with_an_undefined_component_enters_no_mean_of_any():
    """Otherwise the three that are equal would all be below the mean of b, and lose their words."""
    components = [
        Component("a", 1.0, np.array([[NAN, 1.0, 1.0, 1.0]])),
        Component("b", 2.0, np.array([[9.0, 3, 3, 3]])),
    ]
    found = estimators.advantages_of("normalize-then-sum", A, components=components)
    np.testing.assert_array_equal(found, [[NAN, 0.0, 0.0, 0.0]])


def test_gdpo_is_what_trl_computes():
    """The lines of its trainer under multi_objective_aggregation=normalize_then_sum, with its own nanstd."""
    nanstd = pytest.importorskip("trl.trainer.utils").nanstd
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=(5, 4, 3)) * [1, 50, 0.01], np.array([1.0, 0.3, 2.0])
    grouped = torch.tensor(scores)
    normal = (grouped - torch.nanmean(grouped, dim=1, keepdim=True)) / nanstd(grouped, dim=1, keepdim=True)
    summed = (normal.view(-1, 3) * torch.tensor(weights)).nansum(dim=1)
    expected = ((summed - torch.nanmean(summed)) / nanstd(summed)).view(5, 4)
    components = [Component(str(one), weights[one], scores[..., one]) for one in range(3)]
    np.testing.assert_allclose(estimators.advantages_of("gdpo", scores[..., 0], components=components), expected)


def test_the_log_has_the_spread_and_the_zero_groups_of_every_component():
    log = estimators.described_components([Component("a", 2.0, A), Component("b", 0.5, np.where(B == 90, NAN, B))])
    assert (log["reward/a"], log["reward/b"]) == (pytest.approx(A.mean()), pytest.approx((B.sum() - 90) / 8))
    assert log["reward_std/a"] == pytest.approx(A.std())
    assert (log["reward_zero_groups/a"], log["reward_zero_groups/b"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


@pytest.mark.parametrize(
    "hidden", ["cached(reward=weighted(rouge-l=1))", "limited(reward=cached(reward=weighted(rouge-l=1)), seconds=1)"]
)
def test_a_reward_that_hides_its_components_is_refused(hidden):
    with pytest.raises(ValueError, match="put it around each component"):
        Objective("mixed", hidden, samples=2, estimator="gdpo")
    Objective(
        "mixed", samples=2, estimator="gdpo", reward="cleaned(reward=weighted(cached(reward=rouge-l)=1, rouge-2=2))"
    )


def test_the_configuration_knows_which_estimators_need_a_second_sample():
    rewards, greedy = np.array([[0.2], [0.6]]), np.array([0.1, 0.1])
    alone = [
        name for name in estimators.ESTIMATORS if np.isfinite(estimators.advantages_of(name, rewards, greedy)).all()
    ]
    assert tuple(alone) == OF_SINGLE_SAMPLES


# ---- weights ------------------------------------------------------------------------------------------------------

LENGTHS = np.array([[2, 4], [3, 3], [6, 6]])


@pytest.mark.parametrize(
    ("normalisation", "expected"),
    [
        ("sum", [[1, 1]] * 3),
        ("constant", [[1 / 8, 1 / 8]] * 3),
        ("token", [[6 / 24, 6 / 24]] * 3),
        ("sequence", [[1 / 2, 1 / 4], [1 / 3, 1 / 3], [1 / 6, 1 / 6]]),
    ],
)
def test_weights_by_hand(normalisation, expected):
    found = estimators.weights_of(normalisation, LENGTHS, 8.0, np.array([True] * 3))
    np.testing.assert_allclose(found, expected)
    in_loss = np.array([[True, False]] * 3)  # 11 of the 24 tokens
    found = estimators.weights_of(normalisation, LENGTHS, 8.0, np.array([True] * 3), in_loss)
    np.testing.assert_allclose(found, in_loss * expected * np.array(24 / 11 if normalisation == "token" else 1))
    assert not estimators.weights_of(normalisation, LENGTHS, 8.0, np.array([True] * 3), in_loss & False).any()


@pytest.mark.parametrize("normalisation", ["sum", "constant", "token", "sequence"])
def test_articles_that_teach_nothing_leave_the_loss_and_its_divisor(normalisation):
    """The mean over all samples, weighted, is the mean over the samples that are kept, as if there were no others."""
    rewards = np.array([[0.9, 0.1], [0.4, 0.4], [0.3, NAN], [0.2, 0.8]])
    lengths, log_prob = np.array([[2, 4], [30, 3], [6, 50], [5, 1]]), -(np.arange(1.0, 9).reshape(4, 2) ** 2)

    def loss(rows, skip):
        credit = credit_of("grpo", normalisation, skip_zero_groups=skip)
        advantages, weights = credit(Earned(rewards[rows], lengths[rows]))
        return -(weights * np.nan_to_num(advantages) * log_prob[rows]).mean()

    assert loss([0, 1, 2, 3], True) == pytest.approx(loss([0, 3], False))
    assert loss([0, 1, 2, 3], True) != pytest.approx(loss([0, 1, 2, 3], False))
    assert loss([1, 2], True) == 0


# ---- controls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", estimators.ESTIMATORS)
def test_the_constant_control_gives_every_sample_the_same_advantage_whatever_it_earned(estimator):
    rewards, greedy, lengths = np.array([[0.5, 0.5], [NAN, 0.1]]), np.array([0.5, NAN]), np.array([[1, 2], [3, 4]])
    earned = Earned(rewards, lengths, greedy)
    credit = credit_of(estimator, "sum", reward_scale=5.0, control="constant", control_advantage=-0.3)
    found, weights = credit(earned)
    np.testing.assert_array_equal(found, np.full((2, 2), -0.3))
    np.testing.assert_array_equal(weights, credit_of(estimator, "sum")(earned)[1])


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_rewards_are_the_same_ones_in_other_places_and_their_components_go_with_them(seed):
    rewards = np.array([[1.0, 2.0, NAN], [4.0, 5.0, 6.0]])
    earned = Earned(rewards, rewards, components=[Component("double", 0.5, 2 * rewards)])
    found = earned.shuffled(np.random.default_rng(seed))
    np.testing.assert_array_equal(np.sort(found.rewards, None), np.sort(rewards, None))
    assert not (found.rewards == rewards).any()
    assert not np.isnan(found.rewards[0, 2])
    np.testing.assert_array_equal(found.components[0].scores, 2 * found.rewards)
    np.testing.assert_array_equal(rewards, [[1.0, 2.0, NAN], [4.0, 5.0, 6.0]])  # the given array is left alone
    np.testing.assert_array_equal(found.rewards, earned.shuffled(np.random.default_rng(seed)).rewards)


def test_two_rewards_change_places_and_one_keeps_its_own():
    for rewards, expected in ([[1.0], [2.0]], [[2.0], [1.0]]), ([[7.0]], [[7.0]]):
        found = Earned(np.array(rewards), np.array(rewards)).shuffled(np.random.default_rng(0))
        assert found.rewards.tolist() == expected
