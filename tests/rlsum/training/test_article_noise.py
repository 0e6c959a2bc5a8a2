"""Random numbers of an article do not depend on what shares its batch."""

import pytest
import tiny
import torch
from kinds import TINY

from rlsum.data.vocabulary import UNK
from rlsum.models.decoding import Sampling
from rlsum.training.steps import article_noise


def drawn(batch, samples=3, length=6, seed=1, update=0):
    return article_noise(batch, seed=seed, update=update, samples=samples, length=length)


def test_numbers_belong_to_the_article():
    batch = tiny.batch()
    found = drawn(batch).view(4, 3, 6)
    assert found.dtype == torch.float64
    assert ((found >= 0) & (found < 1)).all()
    assert torch.equal(drawn(tiny.selected(batch, [2, 0])).view(2, 3, 6), found[[2, 0]])
    assert len(found.unique()) == found.numel()


def test_they_change_with_the_seed_the_update_the_id_and_the_text():
    batch = tiny.batch(tiny.PAIRS[:1])
    others = [drawn(batch, seed=2), drawn(batch, update=1)]
    others += [drawn(tiny.batch([("other", "text")])), drawn(tiny.selected(tiny.batch(tiny.PAIRS[:1] * 2), [1]))]
    assert not any(torch.equal(drawn(batch), other) for other in others)


def test_any_text_has_its_numbers():
    batch = tiny.batch([("", ""), ("half a pair \ud800", "x"), ("日本 " * 5000, "y")])
    assert drawn(batch).shape == (9, 6)


@pytest.mark.parametrize("greedy", [True, False])
@pytest.mark.parametrize("kind", TINY)
def test_samples_do_not_depend_on_what_shares_their_batch(kind, greedy, tmp_path):
    model, batch = TINY[kind].made(tmp_path)

    def texts(part):
        own, six = drawn(part), Sampling(max_length=6)
        tokens = model.self_critical(part, 3, six, own)[0] if greedy else model.sample(part, 3, six, own)
        return model.to_text(part, tokens)

    together = texts(batch)
    alone = [text for row in range(len(batch)) for text in texts(tiny.selected(batch, [row]))]
    assert together == alone
    assert len(set(together)) > len(together) / 2
    torch.manual_seed(5)
    assert texts(batch) == together


def test_they_are_drawn_with_the_models_probabilities():
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:1])
    noise = drawn(batch, samples=20_000, length=1)
    first = model.sample(batch, 20_000, Sampling(max_length=1), noise).ids[:, 0]
    with torch.no_grad():
        p = tiny.decoder_distributions(model, batch, batch.target)[0, 0]
    p[UNK] = 0.0  # never drawn
    torch.testing.assert_close(torch.bincount(first, minlength=len(p)) / 20_000, p / p.sum(), atol=0.012, rtol=0)
