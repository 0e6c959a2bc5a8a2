"""What each form of the KL penalty descends, by exact enumeration of all texts that a tiny model can write."""

import copy
import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import tiny
import torch
from kinds import TINY

from rlsum.models.summarizer import Tokens
from rlsum.training.earned import Earned
from rlsum.training.reward_losses import policy_gradient
from rlsum.training.rollout import Rollout

LONGEST = 3  # tokens at most, the end token included


@dataclass
class World:
    """All texts, and their token log-probabilities under the policy (with gradient), an older policy and the start."""

    model: torch.nn.Module
    texts: list[list[int]]
    end: int
    log_prob: torch.Tensor  # (N, LONGEST)
    old: torch.Tensor
    start: torch.Tensor

    def gradient(self, value):
        found = torch.autograd.grad(value, list(self.model.parameters()), retain_graph=True, allow_unused=True)
        return torch.cat([part.flatten() for part in found if part is not None])

    def of_texts(self):
        """The gradient of KL(policy || start) over whole texts."""
        log_p = self.log_prob.sum(-1)
        return self.gradient((log_p.exp() * (log_p - self.start.sum(-1))).sum())

    def of_next_tokens(self, reverse=False, drawn=None):
        """That of KL(policy || start), or its reverse, of next tokens: the mean over prefixes that ``drawn`` wrote."""
        drawn, value = (self.log_prob if drawn is None else drawn).detach(), 0.0
        bodies = {tuple(text[:t]) for text in self.texts for t in range(min(len(text), LONGEST))}
        for body in sorted(body for body in bodies if self.end not in body):
            t, rows = len(body), {}
            for row, text in enumerate(self.texts):
                if tuple(text[:t]) == body and len(text) > t:
                    rows.setdefault(text[t], row)
            index = list(rows.values())
            p, q = self.log_prob[index, t], self.start[index, t].detach()
            if reverse:
                p, q = q, p
            value = value + drawn[index[0], :t].sum().exp() * (p.exp() * (p - q)).sum()
        return self.gradient(value)

    def descended(self, estimator, samples=1, old=None, **options):
        """The expected gradient of the penalty alone, over all texts, or over all pairs of texts."""
        chosen = torch.tensor(list(itertools.product(range(len(self.texts)), repeat=samples)))  # (B, k)
        drawn = (self.log_prob if old is None else old).detach()
        p = drawn.sum(-1).exp()[chosen].prod(-1, keepdim=True).expand(chosen.shape).numpy()
        rows, lengths = chosen.flatten(), np.array([len(text) for text in self.texts])[chosen.numpy()]
        rollout = Rollout(
            Tokens(torch.zeros(len(rows), LONGEST), drawn[rows]), Earned(np.zeros(chosen.shape), lengths),
            np.zeros(chosen.shape), p * len(rows) / samples, self.start[rows],
            old_log_prob=None if old is None else old[rows],
        )  # fmt: skip
        objective = tiny.objective(kl=1.0, kl_estimator=estimator, **options)
        loss, log = policy_gradient(objective, self.log_prob[rows], rollout)
        return self.gradient(loss), log


@pytest.fixture(scope="module", params=TINY)
def world(request, tmp_path_factory):
    patch = pytest.MonkeyPatch()
    model, batch, words = TINY[request.param].two_words(tmp_path_factory.mktemp("model"))
    end, pad = batch.ends[0], batch.pad
    patch.setattr(torch.Tensor, "float", torch.Tensor.double)
    texts = [[*text, end] for size in range(LONGEST) for text in itertools.product(words, repeat=size)]
    texts += [list(text) for text in itertools.product(words, repeat=LONGEST)]
    ids, found = torch.tensor([text + [pad] * (LONGEST - len(text)) for text in texts]), []
    for step in (0.0, 0.05, 0.3):  # the policy, an older one, the start
        other = copy.deepcopy(model).double()
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in other.parameters():
                parameter += step * parameter.abs().mean() * torch.randn(parameter.shape, generator=generator).double()
        found.append((other, other(batch, ids).log_prob))
    (policy, log_prob), (_, old), (_, start) = found
    yield World(policy, texts, end, log_prob, old.detach(), start.detach())
    patch.undo()


def same(found, expected):
    assert expected.norm() > 1e-3
    return (found - expected).norm() / expected.norm() < 1e-4


def cosine(one, two):
    return torch.nn.functional.cosine_similarity(one, two, dim=0).item()


def test_the_worlds_are_whole(world):
    for log_prob in (world.log_prob, world.old, world.start):
        assert log_prob.sum(-1).exp().sum().item() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("samples", [1, 2])
def test_k1_has_the_gradient_of_the_kl_of_whole_texts(world, samples):
    assert same(world.descended("k1", samples)[0], world.of_texts())


def test_k2_has_the_gradient_of_the_kl_of_next_tokens(world):
    found, _ = world.descended("k2")
    assert same(found, world.of_next_tokens())
    assert cosine(found, world.of_texts()) > 0.8
    assert not same(found, world.of_texts()), "what a token leads to is left out"


def test_k3_has_the_gradient_of_the_reversed_kl(world):
    found, _ = world.descended("k3")
    assert same(found, world.of_next_tokens(reverse=True))
    assert cosine(found, world.of_texts()) < cosine(world.descended("k2")[0], world.of_texts())


@pytest.mark.parametrize(("estimator", "reverse"), [("k2", False), ("k3", True)])
def test_samples_of_an_older_policy_count_by_their_ratio(world, estimator, reverse):
    found, _ = world.descended(estimator, old=world.old, clip=0.9)
    assert same(found, world.of_next_tokens(reverse, drawn=world.old))


@pytest.mark.parametrize("ratio", ["token", "sequence"])
def test_k1_with_samples_of_an_older_policy_nearly_has_its_gradient(world, ratio):
    found, _ = world.descended("k1", old=world.old, clip=0.999, clip_high=1e6, ratio=ratio)
    assert cosine(found, world.of_texts()) > 0.8


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
def test_the_log_is_the_kl_of_the_policy_that_drew_the_samples(world, estimator):
    for old in (None, world.old):
        drawn = (world.log_prob if old is None else old).detach()
        p, lengths = drawn.sum(-1).exp(), torch.tensor([len(text) for text in world.texts])
        log_ratio = drawn - world.start
        k3 = torch.expm1(-log_ratio) + log_ratio
        _, log = world.descended(estimator, old=old, clip=0.5)
        assert log["kl"] == pytest.approx((k3.sum() / lengths.sum()).item(), rel=1e-5)  # each text counts once
        exact = (p * log_ratio.sum(-1)).sum()
        torch.testing.assert_close((p * k3.sum(-1)).sum(), exact)
