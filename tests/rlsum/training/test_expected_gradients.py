"""Expected gradients by exact enumeration: every text that a tiny model can write, with its probability."""

import itertools

import numpy as np
import pytest
import tiny
import torch

from rlsum.data.vocabulary import EOS, PAD, UNK
from rlsum.models.summarizer import Tokens
from rlsum.training import estimators
from rlsum.training.reward_losses import policy_gradient
from rlsum.training.rollout import Rollout

WORDS = ("ash", "birch")
LONGEST = 4  # tokens at most, the end token included
DIVISOR = 7.0
KEPT = np.array([True])


@pytest.fixture(scope="module")
def world():
    """A model in float64, an article, and all 341 texts: ids, lengths, log-probabilities (with gradient)."""
    patch = pytest.MonkeyPatch()
    patch.setattr(torch.Tensor, "float", torch.Tensor.double)  # the model's float32 steps in float64
    model = tiny.copier(words=WORDS).double()
    batch = tiny.batch([("ash Quercus birch", "Quercus")], WORDS)
    tokens = [UNK, *(model.vocabulary.index[word] for word in WORDS), len(model.vocabulary)]  # the last is Quercus
    texts = [[*text, EOS] for size in range(LONGEST) for text in itertools.product(tokens, repeat=size)]
    texts += [list(text) for text in itertools.product(tokens, repeat=LONGEST)]  # cut off
    ids = torch.tensor([text + [PAD] * (LONGEST - len(text)) for text in texts])
    yield model, ids, np.array([len(text) for text in texts]), model(batch, ids).log_prob
    patch.undo()


def gradient(model, value):
    parameters = list(model.parameters())
    found = torch.autograd.grad(value, parameters, retain_graph=True)
    return torch.cat([part.flatten() for part in found])


def expected_weights(normalisation, lengths, p, samples):
    """The mean weight of each text in an update of one or two samples, where p draws the other one."""
    if samples == 1:
        return np.concatenate(
            [estimators.weights_of(normalisation, np.array([[one]]), DIVISOR, KEPT)[0] for one in lengths]
        )
    pairs = [[estimators.weights_of(normalisation, np.array([[one, two]]), DIVISOR, KEPT)[0, 0] for two in range(1, 5)]
             for one in range(1, 5)]  # fmt: skip
    share = np.array([p[lengths == two].sum() for two in range(1, 5)])
    return (np.array(pairs) @ share)[lengths - 1]


def expected_gradient(world, normalisation, advantages, samples=1, clip=None):
    """The gradient of -L_RL in expectation. The loss is a mean over rows, so advantages carry p times rows."""
    model, ids, lengths, log_prob = world
    p = log_prob.sum(-1).exp().detach().numpy()
    scaled = (advantages * p * len(ids))[None]
    weights = expected_weights(normalisation, lengths, p, samples)[None]
    rollout = Rollout(Tokens(ids, log_prob.detach()), estimators.Earned(scaled, lengths[None]), scaled, weights)
    loss, _ = policy_gradient(tiny.objective(clip=clip), log_prob, rollout)
    return -gradient(model, loss)


def reward_gradient(world, rewards):
    """The gradient of E[r], by differentiating the probabilities themselves."""
    model, _, _, log_prob = world
    return gradient(model, (log_prob.sum(-1).exp() * torch.tensor(rewards)).sum())


def overlap(ids):
    """A reward between 0 and 1 that has nothing to do with length alone: the share of birches among three words."""
    return (ids == 5).sum(-1).double().numpy() / 3 + 0.1 * (ids[:, 0] == UNK).double().numpy()


def test_the_probabilities_of_all_texts_sum_to_one(world):
    assert len(world[1]) == 341
    assert world[3].sum(-1).exp().sum().item() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("clip", [None, 0.2])
@pytest.mark.parametrize("normalisation", ["constant", "sum"])
def test_a_constant_advantage_teaches_nothing_and_a_reward_its_expectation(world, normalisation, clip):
    constant = expected_gradient(world, normalisation, np.full(341, -0.3), clip=clip)
    assert constant.abs().max() < 1e-6
    rewards, known = overlap(world[1]), {"constant": 1 / DIVISOR, "sum": 1.0}[normalisation]
    expected = known * reward_gradient(world, rewards)
    assert expected.norm() > 0.01
    found = expected_gradient(world, normalisation, rewards - 0.8, clip=clip)
    assert (found - expected).abs().max() < 1e-6


def test_the_mean_over_a_samples_tokens_pays_a_negative_constant_for_length(world):
    """Under ``sequence`` the gradient of a constant c is c times that of E[1 / length], as large as a reward's."""
    constant = expected_gradient(world, "sequence", np.full(341, -0.3))
    assert constant.norm() > 0.1 * expected_gradient(world, "sequence", overlap(world[1])).norm()
    torch.testing.assert_close(constant, reward_gradient(world, -0.3 / world[2]), atol=1e-6, rtol=0)
    assert constant @ reward_gradient(world, world[2].astype(float)) > 0, "a step along it makes texts longer"


def test_the_mean_over_the_tokens_of_an_update_does_so_less_with_more_samples(world):
    sequence = expected_gradient(world, "sequence", np.full(341, -0.3))
    one, two = (expected_gradient(world, "token", np.full(341, -0.3), samples) for samples in (1, 2))
    torch.testing.assert_close(one, sequence)
    assert 0.3 * one.norm() < two.norm() < 0.7 * one.norm()
