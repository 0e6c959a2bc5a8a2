import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rlsum.training import losses

LOG_PROB = torch.tensor([[-1.0, -2.0, 0.0], [-3.0, -4.0, -5.0]])
LENGTHS = torch.tensor([2, 3])
ONES = torch.ones(2)


def test_sequences_by_hand():
    assert losses.sequence_log_prob(LOG_PROB, LENGTHS, "sum").tolist() == [-3.0, -12.0]
    assert losses.sequence_log_prob(LOG_PROB, LENGTHS, "mean").tolist() == [-1.5, -4.0]


def test_likelihood_by_hand():
    assert losses.nll(LOG_PROB, LENGTHS, "sum").item() == 7.5
    assert losses.nll(LOG_PROB, LENGTHS, "mean").item() == 2.75


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_smoothed_likelihood_is_torchs_cross_entropy_with_label_smoothing(smoothing):
    torch.manual_seed(0)
    logits, target = torch.randn(2, 3, 7, requires_grad=True), torch.randint(0, 7, (2, 3))
    spread = logits.log_softmax(-1)
    log_prob = losses.smoothed(spread.gather(-1, target.unsqueeze(-1)).squeeze(-1), spread.mean(-1), smoothing)
    ours = losses.nll(log_prob, torch.tensor([3, 3]), "mean")
    torchs = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), label_smoothing=smoothing)
    torch.testing.assert_close(ours, torchs, atol=1e-6, rtol=0)
    gradients = [torch.autograd.grad(loss, logits, retain_graph=True)[0] for loss in (ours, torchs)]
    torch.testing.assert_close(*gradients, atol=1e-7, rtol=0)


def test_coverage_by_hand():
    penalty = torch.tensor([[0.0, 0.5, 0.0], [0.0, 0.3, 0.6]])
    assert losses.coverage(penalty, LENGTHS, "sum").item() == pytest.approx(0.7)
    assert losses.coverage(penalty, LENGTHS, "mean").item() == pytest.approx((0.25 + 0.3) / 2)


def test_policy_gradient_by_hand():
    advantage = torch.tensor([2.0, -1.0])
    assert losses.policy_gradient(LOG_PROB, advantage, ONES).item() == -(2 * -3 + -1 * -12) / 2
    assert losses.policy_gradient(LOG_PROB, advantage, 1 / LENGTHS).item() == -(2 * -1.5 + -1 * -4) / 2


def test_the_sign_of_the_policy_gradient():
    """Descending the loss raises the probability of what was better and lowers that of what was worse."""
    log_prob = LOG_PROB.clone().requires_grad_()
    losses.policy_gradient(log_prob, torch.tensor([1.0, -1.0]), ONES).backward()
    assert (-log_prob.grad[0] > 0).all()
    assert (-log_prob.grad[1] < 0).all()


def test_an_undefined_advantage_gives_no_gradient_and_the_rest_keeps_its_own():
    log_prob = LOG_PROB.clone().requires_grad_()
    losses.policy_gradient(log_prob, torch.tensor([float("nan"), 1.0]), ONES).backward()
    assert log_prob.grad.tolist() == [[0.0] * 3, [-0.5] * 3]


def test_no_gradient_flows_into_the_advantage():
    advantage = torch.tensor([1.0, 2.0], requires_grad=True)
    log_prob = LOG_PROB.clone().requires_grad_()
    losses.policy_gradient(log_prob, advantage, ONES).backward()
    assert advantage.grad is None


@pytest.mark.parametrize("rule", ["sum", "mean"])
def test_a_row_without_tokens_counts_as_zero_and_is_finite(rule):
    log_prob, lengths = torch.tensor([[0.0, 0.0], [-1.0, 0.0]]), torch.tensor([0, 1])
    assert losses.sequence_log_prob(log_prob, lengths, rule).tolist() == [0.0, -1.0]


# ---- samples of an older policy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [ONES, 1 / LENGTHS])
def test_clipped_ratios_have_the_gradient_of_the_policy_gradient_where_nothing_has_changed(weight):
    advantage, gradients = torch.tensor([2.0, -1.0]), []
    for clip in (None, 0.2):
        log_prob = LOG_PROB.clone().requires_grad_()
        if clip is None:
            loss = losses.policy_gradient(log_prob, advantage, weight)
        else:
            change = losses.ratio_change(log_prob, LOG_PROB)
            loss = losses.clipped_policy_gradient(change, advantage, weight, clip, clip)
            assert loss.item() == 0
        loss.backward()
        gradients.append(log_prob.grad.masked_fill(LOG_PROB == 0, 0.0))
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(
    ("ratio", "advantage", "gain", "moves"),
    [
        (1.1, 2.0, 0.2, True),
        (1.5, 2.0, 0.4, False),  # raised enough already: 2 * 0.2
        (0.5, 2.0, -1.0, True),  # lowered though it was good: pulled back
        (1.5, -2.0, -1.0, True),  # raised though it was bad: pulled back
        (0.5, -2.0, 0.4, False),
        (1.5, float("nan"), 0.0, False),
    ],
)
def test_clipping_by_hand(ratio, advantage, gain, moves):
    log_prob = torch.tensor([[-1.0 + np.log(ratio)]], dtype=torch.float32, requires_grad=True)
    change = losses.ratio_change(log_prob, torch.tensor([[-1.0]]))
    loss = losses.clipped_policy_gradient(change, torch.tensor([advantage]), torch.ones(1), 0.2, 0.2)
    loss.backward()
    assert loss.item() == pytest.approx(-gain, rel=1e-5)
    assert (log_prob.grad.item() != 0) == moves


# ---- the distance from the start ----------------------------------------------------------------------------------


def test_kl_by_hand():
    found = losses.kl_per_token(torch.tensor([[-1.0, -2.0, 0.0]]), torch.tensor([[-1.0, -1.5, 0.0]]))
    assert found.tolist() == [[0.0, pytest.approx(np.exp(0.5) - 0.5 - 1), 0.0]]


@given(st.lists(st.floats(-30, 0), min_size=1, max_size=5), st.lists(st.floats(-30, 0), min_size=5, max_size=5))
def test_kl_is_never_negative(policy, start):
    found = losses.kl_per_token(torch.tensor([policy]), torch.tensor([start[: len(policy)]]))
    assert (found >= 0).all()


def test_kl_is_that_of_the_distributions_on_average_and_pulls_towards_the_start():
    torch.manual_seed(0)
    start = torch.randn(6).log_softmax(0)
    logits = torch.randn(6).requires_grad_()
    policy = logits.log_softmax(0)
    every = losses.kl_per_token(policy, start)  # each token once, weighted by its probability: an exact expectation
    exact = torch.distributions.kl_divergence(
        torch.distributions.Categorical(logits=policy), torch.distributions.Categorical(logits=start)
    )
    torch.testing.assert_close((policy.exp() * every).sum(), exact)
    (policy.exp().detach() * every).sum().backward()
    expected = policy.exp() - start.exp()  # the gradient of KL(start || policy)
    torch.testing.assert_close(logits.grad, expected.detach(), atol=1e-6, rtol=1e-5)


# ---- ranking ------------------------------------------------------------------------------------------------------


def test_ranking_by_hand():
    """Best first; the pairs are (0, 1) short by 0.5 + 0.1, (0, 2) satisfied by far, (1, 2) satisfied by far."""
    scores, rewards = torch.tensor([[-2.0, -1.5, -9.0]]), torch.tensor([[0.9, 0.5, 0.1]])
    assert losses.ranking(scores, rewards, 0.1).item() == pytest.approx(0.6)
    # now (0, 2) is short by 2 * 0.1 and (1, 2) by 0.1
    assert losses.ranking(torch.full((1, 3), -1.0), rewards, 0.1).item() == pytest.approx(0.1 + 0.2 + 0.1)


@given(st.permutations(range(4)))
def test_ranking_does_not_depend_on_the_order_of_candidates(order):
    scores, rewards = torch.tensor([[-2.0, -1.5, -9.0, -3.0]]), torch.tensor([[0.9, 0.5, 0.1, 0.5]])
    found = losses.ranking(scores[:, order], rewards[:, order], 0.1)
    torch.testing.assert_close(found, losses.ranking(scores, rewards, 0.1))


def test_equal_and_undefined_rewards_rank_nothing():
    scores = torch.tensor([[-1.0, -2.0, -3.0]], requires_grad=True)
    for rewards in ([0.5, 0.5, 0.5], [float("nan"), 0.5, 0.5]):
        loss = losses.ranking(scores, torch.tensor([rewards]), 0.1)
        assert loss.item() == 0
        assert torch.autograd.grad(loss, scores)[0].tolist() == [[0.0] * 3]
    found = losses.ranking(scores, torch.tensor([[float("nan"), 0.1, 0.5]]), 0.1)
    assert found.item() == pytest.approx(1.1)  # the undefined one lies between no ranks


def test_ranking_is_the_sum_of_torchs_own_margin_losses():
    """An independent one: for each distance of ranks, torch's margin loss over the sorted candidates."""
    torch.manual_seed(0)
    scores, rewards = torch.randn(3, 5), torch.rand(3, 5)
    sorted_scores = scores.gather(1, rewards.argsort(1, descending=True))
    expected = 0.0
    for distance in range(1, 5):
        better, worse = sorted_scores[:, :-distance], sorted_scores[:, distance:]
        loss = torch.nn.functional.margin_ranking_loss(
            better, worse, torch.ones_like(better), margin=0.3 * distance, reduction="sum"
        )
        expected = expected + loss / 3
    torch.testing.assert_close(losses.ranking(scores, rewards, 0.3), expected)
