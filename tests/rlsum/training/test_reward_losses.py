"""What samples teach: its sign, its zero and its length, under every estimator and for ranking."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import tiny
import torch

from rlsum.data.vocabulary import EOS, PAD, UNK
from rlsum.models.decoding import Sampling
from rlsum.models.sampling import Drawn
from rlsum.models.summarizer import Tokens
from rlsum.training import estimators
from rlsum.training.earned import Earned
from rlsum.training.estimators import Credit
from rlsum.training.reward_losses import REWARD_LOSSES
from rlsum.training.rollout import Rollout
from rlsum.training.steps import BufferedStep
from rlsum.training.update import MixedStep, MLEStep, StepResult

NAN = float("nan")
ESTIMATORS = list(estimators.ESTIMATORS)
IDS = torch.tensor([[4, EOS, PAD], [5, 6, EOS], [7, 8, EOS], [9, EOS, PAD]])  # two articles, two samples each
LOG_PROB = torch.tensor([[-1.0, -2.0, 0.0], [-1.0, -1.0, -1.0], [-2.0, -1.0, -3.0], [-0.5, -0.5, 0.0]])


LENGTHS = np.array([[2, 3], [3, 2]])
WITHOUT_ADVANTAGES = {"ranking": {"margin": 9.0}, "minimum-risk": {}, "best-of-n": {}}


def loss_of(kind="mixed", **options):
    return partial(REWARD_LOSSES[kind], tiny.objective(kind, **options))


def objective(name, **options):
    """The loss of an estimator, or of a kind without advantages."""
    return loss_of(name, **WITHOUT_ADVANTAGES[name]) if name in WITHOUT_ADVANTAGES else loss_of(**options)


def rollout(rewards, name="rloo", start=None, drawn=LOG_PROB, scale=1.0, normalisation="sequence"):
    rewards, greedy = np.array(rewards, dtype=np.float64), np.full(len(rewards), 0.5)
    estimator = "rloo" if name in WITHOUT_ADVANTAGES else name
    credit = Credit(tiny.objective(estimator=estimator, normalisation=normalisation, reward_scale=scale), 10)
    earned = Earned(rewards, LENGTHS, greedy)
    return Rollout(Tokens(IDS, drawn), earned, *credit(earned), start, old_log_prob=drawn)


def learnt(rl, given, log_prob=LOG_PROB):
    """The loss, its log, and how each token of the samples gains by a step down."""
    log_prob = log_prob.clone().requires_grad_()
    loss, log = rl(log_prob, given)
    gradient = torch.autograd.grad(loss, log_prob)[0]
    return loss, log, -gradient[:, : IDS.shape[1]].masked_fill(IDS == PAD, 0.0)  # a model's scores end with the text


@pytest.mark.parametrize("name", [*ESTIMATORS, "ranking", "minimum-risk"])
def test_the_better_sample_gains_and_the_worse_one_loses(name):
    _, _, gain = learnt(objective(name), rollout([[0.9, 0.1]] * 2, name))
    words = IDS != PAD
    for row, sign in enumerate((1, -1, 1, -1)):
        assert (sign * gain[row][words[row]] > 0).all()


@pytest.mark.parametrize("rewards", [[[0.5, 0.5]] * 2, [[0.5, 0.1 + 0.2 + 0.2], [0.5 + 1e-12, 0.5]]])
@pytest.mark.parametrize("name", [*ESTIMATORS, *WITHOUT_ADVANTAGES])
def test_equal_rewards_teach_nothing(name, rewards):
    loss, log, gain = learnt(objective(name), rollout(rewards, name))
    assert loss.item() == 0
    assert not gain.any()
    assert log["zero_groups"] == 1


@pytest.mark.parametrize("name", [*ESTIMATORS, *WITHOUT_ADVANTAGES])
def test_a_group_without_defined_rewards_teaches_nothing_and_the_other_goes_on(name):
    _, log, gain = learnt(objective(name), rollout([[NAN, NAN], [0.1, 0.9]], name))
    assert not gain[:2].any()
    assert (gain[2:] != 0).any(1).tolist() == [name != "best-of-n", True]  # which learns only from the better one
    assert (log["undefined_rewards"], log["zero_groups"]) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("normalisation", "short", "long"),
    [("sum", 1.0, 1.0), ("constant", 1 / 10, 1 / 10), ("token", 4 / 10, 4 / 10), ("sequence", 1 / 2, 1 / 3)],
)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_a_token_counts_under_every_normalisation_and_estimator(name, normalisation, short, long):
    """Article 1: the short sample (2 tokens) is the better one."""
    given = rollout([[0.9, 0.1], [0.5, 0.5]], name, normalisation=normalisation)
    _, _, gain = learnt(objective(name), given)
    better, worse = given.advantages[0]
    assert gain[0, 0].item() == pytest.approx(better * short / 4)  # of four samples
    assert gain[1, 0].item() == pytest.approx(worse * long / 4)


def test_by_hand():
    given = rollout([[0.9, 0.4], [0.1, 0.2]], scale=2.0, normalisation="sum")
    loss, log, _ = learnt(loss_of(), given)
    advantage = [1.0, -1.0, -0.2, 0.2]
    expected = -sum(a * p for a, p in zip(advantage, LOG_PROB.sum(1).tolist(), strict=True)) / 4
    assert loss.item() == pytest.approx(expected)
    assert log["advantage_mean"] == pytest.approx(0.0)
    assert log["advantage_std"] == pytest.approx(np.std(advantage))
    assert (log["advantage_min"], log["advantage_max"]) == (pytest.approx(-1.0), pytest.approx(1.0))


@pytest.mark.parametrize("normalisation", ["constant", "sequence", "token", "sum"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_penalty_pulls_back_what_has_left_the_start(name, normalisation):
    start = LOG_PROB - 0.7 * (LOG_PROB < 0)  # the policy is surer than it was
    given = rollout([[0.5, 0.5]] * 2, name, start, normalisation=normalisation)
    loss, log, gain = learnt(objective(name, kl=0.3, kl_estimator="k3"), given)
    distance = np.exp(-0.7) + 0.7 - 1
    assert log["kl"] == pytest.approx(distance, rel=1e-5)
    factor = {"constant": (2 + 3 + 3 + 2) / 10 / 4, "sum": (2 + 3 + 3 + 2) / 4}.get(normalisation, 1.0)
    assert loss.item() == pytest.approx(0.3 * distance * factor, rel=1e-5)
    assert (gain[IDS != PAD] < 0).all()


def test_the_penalty_holds_samples_whose_reward_is_undefined_too():
    given = rollout([[NAN, NAN]] * 2, "rloo", LOG_PROB * 1.5)
    _, _, gain = learnt(objective("rloo", kl=1.0, kl_estimator="k3"), given)
    assert (gain[IDS != PAD] < 0).all()
    _, _, gain = learnt(objective("rloo", kl=1.0), given)
    assert [gain[row].sign().sum().item() for row in range(4)] == [0, 0, -3, 2]  # one of the second article is farther


def test_clipped_ratios_stop_what_has_been_learnt_already():
    drawn = LOG_PROB - 0.5 * (LOG_PROB < 0)  # every token has become more probable since
    clipped = objective("rloo", clip=0.2)
    _, log, gain = learnt(clipped, rollout([[0.9, 0.1]] * 2, drawn=drawn))
    assert log["ratio_outside"] == 1
    assert not gain[0].any()  # it was raised already
    assert (gain[1] < 0).all()  # it should never have been
    assert learnt(clipped, rollout([[0.9, 0.1]] * 2))[1]["ratio_outside"] == 0


TWO_CUT_OFF = np.array([[False, False], [True, True]])  # of 3 and 2 tokens


def masked(rewards, cut_off, kind="mixed", **options):
    """Loss, log and gain with samples that were cut off and masked, and the same without the mask."""
    results = []
    for mask in (True, False):
        asked = tiny.objective(kind, **options, mask_truncated=mask)
        earned = Earned(np.array(rewards), LENGTHS, np.full(2, 0.5), cut_off=cut_off)
        credit = Credit(asked, 10)(earned) if kind == "mixed" else ()
        given = Rollout(Tokens(IDS, LOG_PROB), earned, *credit, LOG_PROB * 1.5, old_log_prob=LOG_PROB)
        results.append(learnt(partial(REWARD_LOSSES[kind], asked), given))
    return results


@pytest.mark.parametrize("terms", [{}, {"clip": 0.2}, {"kl": 0.3}, {"kl": 0.3, "kl_estimator": "k3"}])
@pytest.mark.parametrize(("normalisation", "factor"), [("sum", 1), ("constant", 1), ("sequence", 1), ("token", 10 / 5)])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_masked_samples_teach_nothing_and_the_others_what_they_did(name, normalisation, factor, terms):
    """Advantages are those of all samples, and so is the mean; ``token`` divides by the tokens of the others alone."""
    options = {"estimator": name, "normalisation": normalisation, **terms}
    (_, log, gain), (_, before, whole) = masked([[0.9, 0.1], [0.8, 0.1]], TWO_CUT_OFF, **options)
    assert not gain[2:].any()
    torch.testing.assert_close(gain[:2], factor * whole[:2])
    assert gain[:2].any()
    assert log["advantage_max"] == before["advantage_max"]
    assert (before["zero_groups"], log["zero_groups"]) == (0, 0.5)


def test_the_loss_with_a_masked_sample_by_hand():
    """rloo: the masked sample of 0.9 is still what the other of its article, of 0.1, is compared with."""
    cut_off = np.array([[True, False], [False, False]])
    (loss, _, _), _ = masked([[0.9, 0.1], [0.5, 0.3]], cut_off, estimator="rloo", normalisation="token")
    mean_length = (3 + 3 + 2) / 4  # of all four samples, the masked one with none
    assert loss.item() == pytest.approx(-(-0.8 * -3.0 + 0.2 * -6.0 - 0.2 * -1.0) / mean_length / 4)


def test_other_losses_leave_masked_samples_out_by_hand():
    rewards, cut_off = [[0.9, 0.1], [0.8, 0.1]], np.array([[True, False], [False, False]])
    scores = LOG_PROB.sum(1)
    (loss, log, gain), _ = masked(rewards, cut_off, "ranking", margin=9.0, length="sum")
    assert loss.item() == pytest.approx((9 + scores[3] - scores[2]).item() / 2)  # of one pair, over two articles
    assert (log["zero_groups"], gain[:2].any().item()) == (0.5, False)
    (loss, _, gain), _ = masked(rewards, cut_off, "minimum-risk", length="sum")
    share = scores[2:].softmax(0)
    assert loss.item() == pytest.approx(-0.35 * (share[0] - share[1]).item() / 2)
    assert not gain[:2].any()
    (loss, _, gain), _ = masked(rewards, cut_off, "best-of-n", length="sum")
    assert loss.item() == pytest.approx(-scores[2].item() / 2)  # article 1 has one left, and no best
    assert not gain[:2].any()


def test_rows_wider_than_the_samples_change_nothing():
    """Beside longer references, the samples' rows are padded."""
    wide = torch.nn.functional.pad(LOG_PROB, (0, 4))
    losses = [objective("grpo", clip=0.2, kl=0.1), objective("grpo", clip=0.2, ratio="sequence")]
    for rl in (*losses, *map(objective, WITHOUT_ADVANTAGES)):
        given = rollout([[0.9, 0.1], [0.3, 0.4]], "grpo", LOG_PROB * 1.1, LOG_PROB * 0.9)
        assert learnt(rl, given)[0].item() == pytest.approx(learnt(rl, given, wide)[0].item())


def test_the_share_of_pairs_that_are_ranked_right():
    log = learnt(loss_of("ranking"), rollout([[0.9, 0.1], [0.1, 0.9]]))[1]  # means of log p: -1.5, -1; -2, -0.5
    assert log["ranked_right"] == 0.5
    assert np.isnan(learnt(loss_of("ranking"), rollout([[0.1, 0.1]] * 2))[1]["ranked_right"])


def test_the_best_sample_is_what_best_of_n_learns():
    loss, log, gain = learnt(loss_of("best-of-n", length="sum"), rollout([[0.9, 0.1], [NAN, 0.2]]))
    assert loss.item() == 3.0 / 2  # of two articles; the second has nothing to compare
    assert gain.tolist() == [[0.5, 0.5, 0.0], *[[0.0] * 3] * 3]
    assert (log["best_reward"], log["undefined_rewards"], log["zero_groups"]) == (pytest.approx(0.55), 0.25, 0.5)


@pytest.mark.parametrize("length", ["sum", "mean"])
def test_the_risk_counts_equal_samples_once(length):
    ids = torch.tensor([[4, EOS, PAD], [5, 6, EOS], [4, EOS, PAD]])
    log_prob = torch.tensor([[-1.0, -2.0, 0.0], [-1.0, -1.0, -0.5], [-1.0, -2.0, 0.0]])
    lengths, rewards = np.array([[2, 3, 2]]), np.array([[0.9, 0.1, 0.9]])
    risk = loss_of("minimum-risk", sharpness=2.0, length=length, reward_scale=5.0)
    loss, log = risk(log_prob, Rollout(Tokens(ids, log_prob), Earned(rewards, lengths)))
    scores = np.array([-3.0, -2.5]) / (np.array([2, 3]) if length == "mean" else 1)
    q = np.exp(2 * scores) / np.exp(2 * scores).sum()
    assert loss.item() == pytest.approx(-5 * (q @ [0.9, 0.1] - rewards.mean()), rel=1e-5)
    assert log == {"undefined_rewards": 0, "zero_groups": 0}


@pytest.mark.parametrize(("high", "outside"), [(None, 1.0), (0.7, 0.0)])
def test_the_range_above_one_may_be_wider(high, outside):
    drawn = LOG_PROB - 0.5 * (LOG_PROB < 0)  # ratios of 1.65
    _, log, gain = learnt(loss_of(clip=0.2, clip_high=high), rollout([[0.9, 0.1]] * 2, drawn=drawn))
    assert log["ratio_outside"] == outside
    assert bool(gain[0].any()) == (high is not None)


def test_the_ratio_of_a_sequence_clips_it_as_a_whole():
    drawn = LOG_PROB - torch.tensor([[0.9, 0.0, 0.0], [0.0] * 3, [0.0] * 3, [0.0] * 3])  # one token of the first sample
    given = rollout([[0.9, 0.1]] * 2, drawn=drawn)
    by_token, by_sequence = (learnt(loss_of(clip=0.2, ratio=ratio), given) for ratio in ("token", "sequence"))
    assert (by_token[2][0] != 0).tolist() == [False, True, False]
    assert not by_sequence[2][0].any()
    assert (by_token[1]["ratio_outside"], by_sequence[1]["ratio_outside"]) == (pytest.approx(0.1), pytest.approx(0.2))


# ---- rollouts -----------------------------------------------------------------------------------------------------


def mixed(model, reward, samples, max_length, estimator="rloo", **options):
    objective = tiny.objective(estimator=estimator, normalisation="token", samples=samples, gamma=1.0)
    mle, credit = MLEStep(objective), Credit(objective, max_length)
    sampling = Sampling(max_length=max_length)
    return MixedStep(model, reward, objective, 1, sampling, REWARD_LOSSES["mixed"], mle, credit, **options)


def test_without_a_greedy_baseline_nothing_greedy_is_decoded_or_rewarded():
    model, batch, asked = tiny.copier(), tiny.batch(), []

    def reward(candidates, references=None, sources=None, columns=None):
        asked.extend(zip(candidates, references, sources, strict=True))
        return np.arange(len(candidates), dtype=np.float64)

    model.self_critical = None
    (found,) = mixed(model, reward, 3, 6).rollouts(0, [batch])
    texts = model.to_text(batch, found.tokens)
    assert asked == [(text, batch.references[i // 3], batch.sources[i // 3]) for i, text in enumerate(texts)]
    assert found.earned.rewards.tolist() == np.arange(12).reshape(4, 3).tolist()
    assert found.earned.greedy_rewards is None
    assert "baseline_reward" not in found.log()
    scored = model(batch, found.tokens.ids, Drawn.all(found.tokens.ids, Sampling())).log_prob
    torch.testing.assert_close(found.tokens.log_prob, scored, atol=1e-5, rtol=1e-5)


def test_the_entropy_logged_is_that_of_the_distributions():
    """One step: the mean of -log p over many samples against the sum over all words."""
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:1])
    torch.manual_seed(0)
    (rollout,) = mixed(model, tiny.Overlap(), 20_000, 1).rollouts(0, [batch])
    found = rollout.log()["entropy"]
    with torch.no_grad():
        p = tiny.decoder_distributions(model, batch, batch.target)[0, 0]
        p[UNK] = 0.0  # never drawn
        p /= p.sum()
    assert found == pytest.approx(-(p * p.clamp(min=1e-30).log()).sum().item(), abs=0.03)


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", ["self-critical", "rloo", "reinforce++"])
def test_advantages_and_weights_are_estimated_once_from_all_processes(rank, name):
    rewards = np.array([[0.1, 0.9], [0.4, 0.2], [0.7, 0.6]])
    lengths = np.array([[2, 3], [1, 4], [5, 9]])
    greedy = np.array([0.3, 0.5, 0.1]) if name == "self-critical" else None
    *own, other = Earned(rewards, lengths, greedy).split([1, 1, 1])
    step = mixed(None, None, 2, 6, name, processes=tiny.OneOfTwo(rank, 2, [other]))
    found = step.credited([Rollout(Tokens(IDS, LOG_PROB), earned) for earned in own])
    expected = estimators.advantages_of(name, rewards, greedy)
    assert [part.advantages.tolist() for part in found] == [expected[:1].tolist(), expected[1:2].tolist()]
    for part in found:
        assert part.weights == pytest.approx(6 / 24)  # six samples of 24 tokens in both processes
    assert step.credited([]) == []


def test_samples_are_drawn_once_for_several_updates_and_for_each_batch():
    batches = [tiny.batch(tiny.PAIRS[:2]), tiny.batch(tiny.PAIRS[:2])]  # of the same texts

    class Counting:
        """A step whose rollouts are numbered."""

        gamma, made = staticmethod(lambda number: float(number != 6)), 0

        def rollouts(self, number, batches, divide):
            self.made += 1
            return [Rollout(self.made, place) for place, _ in enumerate(batches)]

        def __call__(self, number, model, batch, rollout):
            return StepResult(None, {}, rollout and replace(rollout, old_log_prob=number))

    def drawn(step, numbers):
        """The round in which the samples of each batch were drawn, and the update that read them before."""
        given = []
        for number in numbers:
            rollouts = step.prepare(number, batches, batches)
            given.append([(made.tokens, made.earned, made.old_log_prob) if made else None for made in rollouts])
            for batch, made in zip(batches, rollouts, strict=True):
                step(number, None, batch, made)
        return given

    first, second = [(1, 0, None), (1, 1, None)], [(2, 0, None), (2, 1, None)]
    again = [(1, 0, 0), (1, 1, 0)]
    assert drawn(BufferedStep(Counting(), 2), [0, 1, 2, 6]) == [first, again, second, [None, None]]
    assert drawn(BufferedStep(Counting(), 1), [0, 1]) == [first, second]
