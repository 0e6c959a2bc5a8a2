import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rlsum import estimators, losses

LOG_PROB = torch.tensor([[-1.0, -2.0, 0.0], [-3.0, -4.0, -5.0]])
LENGTHS = torch.tensor([2, 3])


def test_sequences_by_hand():
    assert losses.sequence_log_prob(LOG_PROB, LENGTHS, "sum").tolist() == [-3.0, -12.0]
    assert losses.sequence_log_prob(LOG_PROB, LENGTHS, "mean").tolist() == [-1.5, -4.0]


def test_likelihood_by_hand():
    assert losses.nll(LOG_PROB, LENGTHS, "sum").item() == 7.5
    assert losses.nll(LOG_PROB, LENGTHS, "mean").item() == 2.75


def test_coverage_by_hand():
    penalty = torch.tensor([[0.0, 0.5, 0.0], [0.0, 0.3, 0.6]])
    assert losses.coverage(penalty, LENGTHS, "sum").item() == pytest.approx(0.7)
    assert losses.coverage(penalty, LENGTHS, "mean").item() == pytest.approx((0.25 + 0.3) / 2)


def test_policy_gradient_by_hand():
    advantage = torch.tensor([2.0, -1.0])
    assert losses.policy_gradient(LOG_PROB, LENGTHS, advantage, "sum").item() == -(2 * -3 + -1 * -12) / 2
    assert losses.policy_gradient(LOG_PROB, LENGTHS, advantage, "mean").item() == -(2 * -1.5 + -1 * -4) / 2


def test_the_sign_of_the_policy_gradient():
    """Descending the loss raises the probability of what was better and lowers that of what was worse."""
    log_prob = LOG_PROB.clone().requires_grad_()
    losses.policy_gradient(log_prob, LENGTHS, torch.tensor([1.0, -1.0]), "sum").backward()
    assert (-log_prob.grad[0] > 0).all()
    assert (-log_prob.grad[1] < 0).all()


def test_an_undefined_advantage_gives_no_gradient_and_the_rest_keeps_its_own():
    log_prob = LOG_PROB.clone().requires_grad_()
    losses.policy_gradient(log_prob, LENGTHS, torch.tensor([float("nan"), 1.0]), "sum").backward()
    assert log_prob.grad.tolist() == [[0.0] * 3, [-0.5] * 3]


def test_no_gradient_flows_into_the_advantage():
    advantage = torch.tensor([1.0, 2.0], requires_grad=True)
    log_prob = LOG_PROB.clone().requires_grad_()
    losses.policy_gradient(log_prob, LENGTHS, advantage, "sum").backward()
    assert advantage.grad is None


@pytest.mark.parametrize("rule", ["sum", "mean"])
def test_a_row_without_tokens_counts_as_zero_and_is_finite(rule):
    log_prob, lengths = torch.tensor([[0.0, 0.0], [-1.0, 0.0]]), torch.tensor([0, 1])
    assert losses.sequence_log_prob(log_prob, lengths, rule).tolist() == [0.0, -1.0]


@pytest.mark.parametrize(("gamma", "expected"), [(0.0, 5.0), (1.0, 2.0), (0.25, 0.25 * 2 + 0.75 * 5)])
def test_mixing_by_hand(gamma, expected):
    assert losses.mixed(torch.tensor(2.0), torch.tensor(5.0), gamma).item() == expected


def test_advantages_by_hand():
    samples, greedy = np.array([[1.0, 0.2], [0.5, np.nan], [0.1, 0.2]]), np.array([0.4, 0.5, np.nan])
    expected = [[3.0, -1.0], [0.0, np.nan], [np.nan, np.nan]]
    np.testing.assert_allclose(estimators.self_critical(samples, greedy, scale=5.0), expected)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.floats(0.1, 100))
def test_equal_rewards_give_exactly_no_advantage(rewards, scale):
    greedy = np.array(rewards)
    assert not estimators.self_critical(np.repeat(greedy[:, None], 3, 1), greedy, scale).any()
