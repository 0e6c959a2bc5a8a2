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
@pytest.mark.parametrize("ratio", ["token", "sequence"])
def test_clipped_ratios_have_the_gradient_of_the_policy_gradient_where_nothing_has_changed(weight, ratio):
    advantage, gradients = torch.tensor([2.0, -1.0]), []
    for clip in (None, 0.2):
        log_prob = LOG_PROB.clone().requires_grad_()
        if clip is None:
            loss = losses.policy_gradient(log_prob, advantage, weight)
        else:
            change = losses.ratio_change(log_prob, LOG_PROB, LENGTHS, ratio)
            loss = losses.clipped_policy_gradient(change, advantage, weight, clip, clip)
            assert loss.item() == 0
        loss.backward()
        gradients.append(log_prob.grad.masked_fill(LOG_PROB == 0, 0.0))
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(
    ("ratio", "advantage", "high", "gain", "moves"),
    [
        (1.1, 2.0, 0.2, 0.2, True),
        (1.5, 2.0, 0.2, 0.4, False),  # raised enough already: 2 * 0.2
        (0.5, 2.0, 0.2, -1.0, True),  # lowered though it was good: pulled back
        (1.5, -2.0, 0.2, -1.0, True),  # raised though it was bad: pulled back
        (0.5, -2.0, 0.2, 0.4, False),
        (1.5, float("nan"), 0.2, 0.0, False),
        (1.25, 2.0, 0.3, 0.5, True),  # inside 1 + 0.3, outside 1 + 0.2
        (1.5, 2.0, 0.3, 0.6, False),
        (0.7, -2.0, 0.3, 0.4, False),  # below 1 - 0.2
        (0.85, -2.0, 0.3, 0.3, True),
    ],
)
def test_clipping_by_hand(ratio, advantage, high, gain, moves):
    log_prob = torch.tensor([[-1.0 + np.log(ratio)]], dtype=torch.float32, requires_grad=True)
    change = losses.ratio_change(log_prob, torch.tensor([[-1.0]]), torch.tensor([1]), "token")
    loss = losses.clipped_policy_gradient(change, torch.tensor([advantage]), torch.ones(1), 0.2, high)
    loss.backward()
    assert loss.item() == pytest.approx(-gain, rel=1e-5)
    assert (log_prob.grad.item() != 0) == moves


def test_the_ratio_of_a_sequence_is_gspos_objective_and_gradient():
    """Zheng et al. 2025: mean of min(s A, clip(s) A), s = (p / p_old)^(1 / length). Ours lacks the constant A."""
    generator = np.random.default_rng(0)
    lengths = np.array([3, 1, 4, 2])
    old = np.where(np.arange(4) < lengths[:, None], -generator.uniform(0.1, 2, (4, 4)), 0.0)
    moved = np.array([0.5, 0.02, -0.5, -0.4])[:, None] + generator.normal(0, 0.05, (4, 4))
    new = np.where(old < 0, old + moved, 0.0)  # rows 0 and 3 have gone far enough in their direction
    advantage, low, high = np.array([1.0, -0.5, 2.0, -1.5]), 0.1, 0.15

    def objective(values):
        s = np.exp((values.sum(1) - old.sum(1)) / lengths)
        return np.mean(np.minimum(s * advantage, np.clip(s, 1 - low, 1 + high) * advantage))

    log_prob = torch.tensor(new, requires_grad=True)
    change = losses.ratio_change(log_prob, torch.tensor(old), torch.tensor(lengths), "sequence")
    loss = losses.clipped_policy_gradient(change, torch.tensor(advantage), 1 / torch.tensor(lengths), low, high)
    loss.backward()
    assert -loss.item() == pytest.approx(objective(new) - advantage.mean())
    for row, token in np.argwhere(old < 0):
        shift = np.zeros_like(new)
        shift[row, token] = 1e-6
        slope = (objective(new + shift) - objective(new - shift)) / 2e-6
        assert -log_prob.grad[row, token].item() == pytest.approx(slope, abs=1e-8)
    assert (log_prob.grad != 0).any(1).tolist() == [False, True, True, False]


# ---- the distance from the start ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("estimator", "value"), [("k1", -0.5), ("k2", 0.125), ("k3", np.exp(0.5) - 0.5 - 1)])
def test_kl_by_hand(estimator, value):
    policy, start = torch.tensor([[-1.0, -2.0, 0.0]]), torch.tensor([[-1.0, -1.5, 0.0]])
    assert losses.kl_per_token(policy, start, estimator).tolist() == [[0.0, pytest.approx(value), 0.0]]


@pytest.mark.parametrize("estimator", ["k2", "k3"])
@given(st.lists(st.floats(-30, 0), min_size=1, max_size=5), st.lists(st.floats(-30, 0), min_size=5, max_size=5))
def test_kl_is_never_negative(estimator, policy, start):
    found = losses.kl_per_token(torch.tensor([policy]), torch.tensor([start[: len(policy)]]), estimator)
    assert (found >= 0).all()


def test_samples_that_have_left_the_start_further_than_others_have_a_disadvantage():
    log_ratio = torch.tensor([[2.0, 0.0, 1.0], [0.3, 0.3, 0.3]], requires_grad=True)
    found = losses.kl_advantage(log_ratio)
    torch.testing.assert_close(found, torch.tensor([[-1.5, 1.5, 0.0], [0.0] * 3]), atol=1e-6, rtol=0)
    assert not found.requires_grad
    assert losses.kl_advantage(log_ratio[:, :1]).tolist() == [[-2.0], [pytest.approx(-0.3)]]


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


# ---- probabilities that overflow or vanish ------------------------------------------------------------------------

EXTREME = (0.0, -1e-30, -1.0, -88.0, -104.0, -1e3, -1e9)  # of a token; the last is that of an impossible one
ADVANTAGES = (0.0, 1.0, -1.0, float("nan"), 1e3)


@pytest.mark.parametrize("ratio", ["token", "sequence"])
@pytest.mark.parametrize("clipped", [(0.2, 0.2), (0.2, 9.0)])
def test_importance_ratios_of_any_log_probabilities_have_a_finite_loss_and_a_gradient_of_the_right_sign(ratio, clipped):
    new, old, advantage = (part.flatten() for part in torch.meshgrid(
        torch.tensor(EXTREME), torch.tensor(EXTREME), torch.tensor(ADVANTAGES), indexing="ij"
    ))  # fmt: skip
    log_prob = new.unsqueeze(1).clone().requires_grad_()
    change = losses.ratio_change(log_prob, old.unsqueeze(1), torch.ones(len(new)), ratio)
    loss = losses.clipped_policy_gradient(change, advantage, torch.ones(len(new)), *clipped)
    gain = -torch.autograd.grad(loss, log_prob)[0].squeeze(1)
    assert loss.isfinite()
    assert gain.isfinite().all()
    assert (change.isfinite() & (change >= -1)).all()
    silent = ~(advantage != 0) | advantage.isnan()
    assert not gain[silent].any()
    assert (gain * advantage.nan_to_num() >= 0).all()
    exploded = (advantage < 0) & (new - old > 1)
    assert (gain[exploded] < 0).all()  # what has become far more probable than it should still loses
    near = (advantage != 0) & ~advantage.isnan() & ((new - old).abs() < 1e-20)
    assert (gain[near] != 0).all()


@pytest.mark.parametrize("estimator", ["k2", "k3"])
def test_the_distance_from_the_start_of_any_log_probabilities_is_finite_and_pulls_back(estimator):
    new, start = (part.flatten() for part in torch.meshgrid(*[torch.tensor(EXTREME)] * 2, indexing="ij"))
    log_prob = new.clone().requires_grad_()
    distance = losses.kl_per_token(log_prob, start, estimator)
    pull = -torch.autograd.grad(distance.sum(), log_prob)[0]
    assert distance.isfinite().all()
    assert (distance >= 0).all()
    assert pull.isfinite().all()
    assert (pull * (start - new) >= 0).all()
    assert (pull[start - new > 1] > 0).all()


@pytest.mark.parametrize("sharpness", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("rewards", [[0.0, 1.0, float("nan")], [float("nan")] * 3, [0.5, 0.5, 0.5], [-1e6, 1e6, 0.0]])
def test_losses_that_compare_samples_are_finite_for_any_log_probabilities(sharpness, rewards):
    rows = torch.cartesian_prod(*[torch.tensor(EXTREME)] * 3)
    rewards = torch.tensor([rewards]).expand_as(rows)
    centred = rewards - rewards.nanmean(-1, keepdim=True)
    for loss_of in (
        lambda scores: losses.minimum_risk(scores, centred, torch.ones_like(scores, dtype=torch.bool), sharpness),
        lambda scores: losses.ranking(scores, rewards, 0.01),
        lambda scores: losses.best_of_n(scores, centred),
        lambda scores: losses.policy_gradient(scores, centred[:, 0], torch.ones(len(scores))),
    ):
        scores = rows.clone().requires_grad_()
        loss = loss_of(scores)
        assert loss.isfinite()
        assert torch.autograd.grad(loss, scores)[0].isfinite().all()


# ---- minimum risk, best of n --------------------------------------------------------------------------------------

SCORES = np.array([[-1.0, -2.5, -0.5], [-3.0, -1.0, -2.0]])
REWARDS = np.array([[0.2, 0.9, 0.4], [0.5, 0.1, 0.8]])
EVERY = torch.ones(2, 3, dtype=torch.bool)


@pytest.mark.parametrize("sharpness", [0.005, 1.0, 3.0])
def test_minimum_risk_against_the_papers_formula(sharpness):
    """R = sum of Q (1 - r), Q = p^alpha / sum p^alpha; the loss differs from it by a constant."""

    def risk(scores):
        powers = np.exp(scores) ** sharpness
        return (powers / powers.sum(1, keepdims=True) * (1 - REWARDS)).sum(1).mean()

    scores = torch.tensor(SCORES, requires_grad=True)
    loss = losses.minimum_risk(scores, torch.tensor(REWARDS), EVERY, sharpness)
    loss.backward()
    assert loss.item() == pytest.approx(risk(SCORES) - 1)
    for place in np.ndindex(2, 3):
        shift = np.zeros_like(SCORES)
        shift[place] = 1e-6
        slope = (risk(SCORES + shift) - risk(SCORES - shift)) / 2e-6
        assert scores.grad[place].item() == pytest.approx(slope, abs=1e-9)
    shifted = losses.minimum_risk(scores, torch.tensor(REWARDS - REWARDS.mean(1, keepdims=True)), EVERY, sharpness)
    torch.testing.assert_close(torch.autograd.grad(shifted, scores)[0], scores.grad)


def test_minimum_risk_leaves_out_texts_without_a_reward_and_texts_that_it_has_already():
    scores, nan = torch.tensor(SCORES, requires_grad=True), float("nan")
    rewards = torch.tensor([[0.2, nan, 0.4], [nan, nan, nan]])
    loss = losses.minimum_risk(scores, rewards, EVERY, 1.0)
    q = np.exp(SCORES[0, [0, 2]]) / np.exp(SCORES[0, [0, 2]]).sum()
    assert loss.item() == pytest.approx(-(q @ [0.2, 0.4]) / 2)
    loss.backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad != 0).tolist() == [[True, False, True], [False] * 3]
    once = losses.minimum_risk(scores, torch.tensor(REWARDS), torch.tensor([[True, True, False], [True] * 3]), 1.0)
    p = np.exp(SCORES)
    means = [p[0, :2] @ REWARDS[0, :2] / p[0, :2].sum(), p[1] @ REWARDS[1] / p[1].sum()]
    assert once.item() == pytest.approx(-np.mean(means))


def test_best_of_n_by_hand():
    scores = torch.tensor(SCORES, requires_grad=True)
    advantages = torch.tensor(REWARDS - REWARDS.mean(1, keepdims=True))
    loss = losses.best_of_n(scores, advantages)
    assert loss.item() == (2.5 + 2.0) / 2
    loss.backward()
    assert scores.grad.tolist() == [[0, -0.5, 0], [0, 0, -0.5]]
    nothing = torch.tensor([[0.0, 0.0, 0.0], [float("nan")] * 3])
    assert losses.best_of_n(scores, nothing).item() == 0
    assert losses.best_of_n(scores, torch.tensor([[-1.0, 0.5, 0.5], [float("nan"), -1, 1]])).item() == (2.5 + 2.0) / 2
