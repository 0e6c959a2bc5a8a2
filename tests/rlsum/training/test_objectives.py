"""What samples teach: its sign, its zero and its length, under every estimator and for ranking."""

from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch

from rlsum.data.vocabulary import BOS, EOS, PAD
from rlsum.models.summarizer import Tokens
from rlsum.training.objectives import PolicyGradient, Ranking
from rlsum.training.rollout import Rollout, Rollouts, draw, rewarded

NAN = float("nan")
ESTIMATORS = ["self-critical", "rloo", "grpo", "dr-grpo"]
IDS = torch.tensor([[4, EOS, PAD], [5, 6, EOS], [7, 8, EOS], [9, EOS, PAD]])  # two articles, two samples each
LOG_PROB = torch.tensor([[-1.0, -2.0, 0.0], [-1.0, -1.0, -1.0], [-2.0, -1.0, -3.0], [-0.5, -0.5, 0.0]])


def objective(name, **options):
    return Ranking(margin=9.0) if name == "ranking" else PolicyGradient(name, budget=10, **options)


def rollout(rewards, start=None, drawn=LOG_PROB):
    greedy = np.full(len(rewards), 0.5)
    return Rollout(Tokens(IDS, drawn), np.array(rewards, dtype=np.float64), greedy, start)


def learnt(learn, given, log_prob=LOG_PROB):
    """The loss, its log, and how each token of the samples gains by a step down."""
    log_prob = log_prob.clone().requires_grad_()
    loss, log = learn(log_prob, given, PAD)
    gradient = torch.autograd.grad(loss, log_prob)[0]
    return loss, log, -gradient[:, : IDS.shape[1]].masked_fill(IDS == PAD, 0.0)  # a model's scores end with the text


@pytest.mark.parametrize("name", [*ESTIMATORS, "ranking"])
def test_the_better_sample_gains_and_the_worse_one_loses(name):
    _, _, gain = learnt(objective(name), rollout([[0.9, 0.1]] * 2))
    words = IDS != PAD
    for row, sign in enumerate((1, -1, 1, -1)):
        assert (sign * gain[row][words[row]] > 0).all()


@pytest.mark.parametrize("name", [*ESTIMATORS, "ranking"])
def test_equal_rewards_teach_nothing(name):
    loss, log, gain = learnt(objective(name), rollout([[0.5, 0.5]] * 2))
    assert loss.item() == 0
    assert not gain.any()
    assert log["zero_groups"] == 1


@pytest.mark.parametrize("name", [*ESTIMATORS, "ranking"])
def test_a_group_without_defined_rewards_teaches_nothing_and_the_other_goes_on(name):
    _, log, gain = learnt(objective(name), rollout([[NAN, NAN], [0.1, 0.9]]))
    assert not gain[:2].any()
    assert gain[2:].abs().amax(1).min() > 0
    assert (log["undefined_rewards"], log["zero_groups"]) == (0.5, 0.5)


@pytest.mark.parametrize("name", ["rloo", "grpo", "dr-grpo"])
def test_without_the_length_a_token_of_a_long_sample_counts_as_much_as_one_of_a_short_sample(name):
    """Article 1: the short sample is the better one; the advantages of both have the same size."""
    _, _, gain = learnt(objective(name), rollout([[0.9, 0.1], [0.5, 0.5]]))
    short, long = gain[0, 0].item(), gain[1, 0].item()
    assert short / -long == pytest.approx(1.0 if name == "dr-grpo" else 1.5)
    if name == "dr-grpo":
        assert short == pytest.approx(0.4 / 10 / 4)  # advantage, over the budget, over four samples


def test_by_hand():
    loss, log, _ = learnt(PolicyGradient("rloo", scale=2.0, length="sum"), rollout([[0.9, 0.4], [0.1, 0.2]]))
    advantage = [1.0, -1.0, -0.2, 0.2]
    expected = -sum(a * p for a, p in zip(advantage, LOG_PROB.sum(1).tolist(), strict=True)) / 4
    assert loss.item() == pytest.approx(expected)
    assert log["advantage_mean"] == pytest.approx(0.0)
    assert log["advantage_std"] == pytest.approx(np.std(advantage))
    assert (log["advantage_min"], log["advantage_max"]) == (pytest.approx(-1.0), pytest.approx(1.0))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_penalty_pulls_back_what_has_left_the_start(name):
    start = LOG_PROB - 0.7 * (LOG_PROB < 0)  # the policy is surer than it was
    given = rollout([[0.5, 0.5]] * 2, start)
    loss, log, gain = learnt(objective(name, kl=0.3), given)
    distance = np.exp(-0.7) + 0.7 - 1
    assert log["kl"] == pytest.approx(distance, rel=1e-5)
    divisor = {"dr-grpo": (2 + 3 + 3 + 2) / 10 / 4}.get(name, 1.0)
    assert loss.item() == pytest.approx(0.3 * distance * divisor, rel=1e-5)
    assert (gain[IDS != PAD] < 0).all()


def test_the_penalty_holds_samples_whose_reward_is_undefined_too():
    _, _, gain = learnt(objective("rloo", kl=1.0), rollout([[NAN, NAN]] * 2, LOG_PROB * 1.5))
    assert (gain[IDS != PAD] < 0).all()


def test_clipped_ratios_stop_what_has_been_learnt_already():
    drawn = LOG_PROB - 0.5 * (LOG_PROB < 0)  # every token has become more probable since
    learn = objective("rloo", clip=0.2)
    _, log, gain = learnt(learn, rollout([[0.9, 0.1]] * 2, drawn=drawn))
    assert log["ratio_outside"] == 1
    assert not gain[0].any()  # it was raised already
    assert (gain[1] < 0).all()  # it should never have been
    assert learnt(learn, rollout([[0.9, 0.1]] * 2))[1]["ratio_outside"] == 0


def test_rows_wider_than_the_samples_change_nothing():
    """Beside longer references, the samples' rows are padded."""
    wide = torch.nn.functional.pad(LOG_PROB, (0, 4))
    for learn in (objective("grpo", clip=0.2, kl=0.1), Ranking()):
        given = rollout([[0.9, 0.1], [0.3, 0.4]], LOG_PROB * 1.1, LOG_PROB * 0.9)
        assert learnt(learn, given)[0].item() == pytest.approx(learnt(learn, given, wide)[0].item())


def test_the_share_of_pairs_that_are_ranked_right():
    log = learnt(Ranking(), rollout([[0.9, 0.1], [0.1, 0.9]]))[1]  # means of log p: -1.5, -1; -2, -0.5
    assert log["ranked_right"] == 0.5
    assert np.isnan(learnt(Ranking(), rollout([[0.1, 0.1]] * 2))[1]["ranked_right"])


# ---- samples ------------------------------------------------------------------------------------------------------


def test_without_a_greedy_baseline_nothing_greedy_is_decoded_or_rewarded():
    model, batch, asked = tiny.copier(), tiny.batch(), []

    def reward(candidates, references=None, sources=None):
        asked.extend(zip(candidates, references, sources, strict=True))
        return np.arange(len(candidates), dtype=np.float64)

    model.self_critical = None
    (found,) = rewarded([draw(model, batch, samples=3, max_length=6, greedy=False)], reward)
    texts = model.to_text(batch, found.samples)
    assert asked == [(text, batch.references[i // 3], batch.sources[i // 3]) for i, text in enumerate(texts)]
    assert found.rewards.tolist() == np.arange(12).reshape(4, 3).tolist()
    assert found.greedy_rewards is None
    assert "baseline_reward" not in found.log(batch)
    scored = model(batch, found.samples.ids).log_prob
    torch.testing.assert_close(found.samples.log_prob, scored, atol=1e-5, rtol=1e-5)


def test_the_entropy_logged_is_that_of_the_distributions():
    """One step: the mean of -log p over many samples against the sum over all words."""
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:1])
    torch.manual_seed(0)
    drawn = draw(model, batch, samples=20_000, max_length=1, greedy=False)
    found = rewarded([drawn], tiny.Overlap())[0].log(batch)["entropy"]
    with torch.no_grad():
        encoded = model.encode(batch)
        out, _ = model.step(encoded, model.start(encoded), model.embed(torch.tensor([BOS])))
        p = model.distribution(encoded, out, model.word_columns())[0]
    assert found == pytest.approx(-(p * p.clamp(min=1e-30).log()).sum().item(), abs=0.03)


def test_samples_are_drawn_once_for_several_updates_and_for_each_batch():
    kept, made = Rollouts(2), []
    first, second = tiny.batch(tiny.PAIRS[:2]), tiny.batch(tiny.PAIRS[2:])

    def make():
        made.append(len(made))
        return made[-1]

    asked = [(0, first), (0, second), (1, first), (1, second), (2, first), (3, first)]
    assert [kept.of(number, batch, make) for number, batch in asked] == [0, 1, 0, 1, 2, 2]
    always = Rollouts(1)
    assert [always.of(0, first, make), always.of(0, first, make)] == [3, 4]
    again = replace(first, references=first.references[::-1])  # rows of the same articles with other references
    assert [kept.of(number, batch, make) for number, batch in [(4, first), (4, again), (5, first)]] == [5, 6, 5]
