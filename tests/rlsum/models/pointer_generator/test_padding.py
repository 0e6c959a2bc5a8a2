"""What must not matter: padding, company in the batch, later words."""

from dataclasses import replace

import pytest
import tiny
import torch
import torch.nn.functional as F

from rlsum.data.vocabulary import EOS, PAD
from rlsum.models.decoding import Decoding

ROOMY = Decoding(max_length=12)


def padded(batch, source=0, target=0):
    return replace(
        batch,
        src=F.pad(batch.src, (0, source)),
        src_extended=F.pad(batch.src_extended, (0, source)),
        target=F.pad(batch.target, (0, target)),
    )


@pytest.mark.parametrize("sizes", tiny.SIZES)
@torch.no_grad()
def test_scores_depend_on_neither_padding_nor_company(sizes):
    model, batch = tiny.copier(**sizes), tiny.batch(tiny.ARTICLES)
    together = model(batch, batch.target)
    wide = model(padded(batch, source=5, target=3), F.pad(batch.target, (0, 3)))
    for name in ("log_prob", "coverage"):
        full, extra = getattr(together, name), getattr(wide, name)
        torch.testing.assert_close(extra[:, : full.shape[1]], full, atol=1e-6, rtol=1e-5)
        assert extra[:, full.shape[1] :].abs().max() == 0
        for row, pair in enumerate(tiny.ARTICLES):
            alone = tiny.batch([pair])
            own = getattr(model(alone, alone.target), name)[0]
            torch.testing.assert_close(full[row, : len(own)], own, atol=1e-6, rtol=1e-5)
            assert full[row, len(own) :].abs().sum() == 0


@pytest.mark.parametrize("decoding", [ROOMY, replace(ROOMY, method="beam", beam=3, block_ngrams=2)], ids=str)
@pytest.mark.parametrize("sizes", tiny.SIZES)
@pytest.mark.parametrize("seed", [1, 2, 3])
@torch.no_grad()
def test_decoding_depends_on_neither_padding_nor_company(decoding, sizes, seed):
    model, batch = tiny.copier(seed=seed, **sizes), tiny.batch(tiny.ARTICLES)
    together = model.to_text(batch, model.generate(batch, decoding))
    wide = padded(batch, source=6)
    assert model.to_text(wide, model.generate(wide, decoding)) == together
    for row, pair in enumerate(tiny.ARTICLES):
        alone = tiny.batch([pair])
        assert model.to_text(alone, model.generate(alone, decoding)) == [together[row]]
    backwards = tiny.selected(batch, range(len(batch))[::-1])
    assert model.to_text(backwards, model.generate(backwards, decoding)) == together[::-1]


@pytest.mark.parametrize("sizes", tiny.SIZES)
def test_gradients_do_not_depend_on_padding(sizes):
    model, batch = tiny.copier(**sizes), tiny.batch()
    wide = padded(batch, source=4, target=6)
    narrow_loss, wide_loss = model(batch, batch.target).log_prob.sum(), model(wide, wide.target).log_prob.sum()
    narrow_gradients, wide_gradients = (tiny.gradients(model, loss) for loss in (narrow_loss, wide_loss))
    torch.testing.assert_close(wide_gradients, narrow_gradients, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("sizes", tiny.SIZES)
def test_targets_of_different_lengths_score_and_learn_as_each_alone(sizes):
    model, batch = tiny.copier(**sizes), tiny.batch(tiny.ARTICLES)
    target = batch.target.repeat_interleave(3, 0).masked_fill(batch.target.repeat_interleave(3, 0) == EOS, 5)
    for row, length in enumerate([1, 5, 3, 2, 2, 0, 4, 3, 1, 5, 5, 5, 2, 1, 4]):  # one row is empty
        target[row, length:] = PAD
    scored = model(batch, target)
    together = tiny.gradients(model, scored.log_prob.sum() + scored.coverage.sum())
    alone = {name: torch.zeros_like(gradient) for name, gradient in together.items()}
    for row in range(len(target)):
        own = model(tiny.selected(batch, [row // 3]), target[row : row + 1])
        for found, expected in zip(scored[:2], own[:2], strict=True):
            torch.testing.assert_close(found[row : row + 1], expected, atol=1e-5, rtol=1e-5)
        for name, gradient in tiny.gradients(model, own.log_prob.sum() + own.coverage.sum()).items():
            alone[name] += gradient
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)


def test_a_later_word_does_not_change_an_earlier_score():
    model, batch = tiny.copier(coverage=True), tiny.batch()
    other = batch.target.clone()
    other[:, 2:] = torch.where(other[:, 2:] == PAD, PAD, 5)
    first, second = model(batch, batch.target).log_prob, model(batch, other).log_prob
    assert torch.equal(first[:, :2], second[:, :2])
    assert not torch.equal(first[0, 2:], second[0, 2:])
