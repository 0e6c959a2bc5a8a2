"""Numbers at their limits: gates of 0 and 1, empty articles, half precision."""

import pytest
import tiny
import torch

from rlsum.data.vocabulary import PAD
from rlsum.models.decoding import Decoding

HARD = (*tiny.ARTICLES, ("Lone", "Lone"))


def check_finite(model, batch, target):
    scored = model(batch, target)
    assert scored.log_prob.isfinite().all()
    assert (scored.log_prob <= 1e-6).all()
    loss = -scored.log_prob.mean() + scored.coverage.mean()
    for name, gradient in tiny.gradients(model, loss).items():
        assert gradient.isfinite().all(), name
    for method in ("greedy", "sample", "beam"):
        tokens = model.generate(batch, Decoding(method=method, beam=3, max_length=6, samples=2))
        assert tokens.log_prob.isfinite().all(), method
        assert (tokens.ids < len(model.vocabulary) + 4).all(), method
        model.to_text(batch, tokens)


@pytest.mark.parametrize("bias", [-1e4, -100.0, 100.0, 1e4])
@pytest.mark.parametrize("coverage", [False, True])
def test_p_gen_of_zero_and_one_gives_no_nan(bias, coverage):
    model, batch = tiny.model(coverage=coverage), tiny.batch(HARD)
    with torch.no_grad():
        model.gate.bias.fill_(bias)
    check_finite(model, batch, batch.target)


@torch.no_grad()
def test_p_gen_of_zero_only_copies_and_p_gen_of_one_only_generates():
    model, batch = tiny.model(), tiny.batch(tiny.PAIRS)
    model.gate.bias.fill_(-1e4)
    for method in ("greedy", "sample"):
        tokens = model.generate(batch, Decoding(method=method, max_length=6))
        for ids, article in zip(tokens.ids, batch.src_extended, strict=True):
            assert set(ids.tolist()) <= set(article.tolist()) - {PAD}
    model.gate.bias.fill_(1e4)
    ids = model.generate(batch, Decoding(method="sample", samples=50, max_length=6)).ids
    assert ids.max() < len(model.vocabulary)


@torch.no_grad()
def test_an_empty_article_leaves_the_vocabulary_whole():
    model, batch = tiny.model(), tiny.batch([tiny.EMPTY, tiny.PAIRS[0]])
    model.gate.bias.fill_(-50.0)  # wants to copy, but there is nothing
    p = tiny.decoder_distributions(model, batch, batch.target)[0]
    torch.testing.assert_close(p[:, : len(model.vocabulary)].sum(-1), torch.ones(len(p)), atol=1e-5, rtol=0)


def test_rows_that_are_all_padding_give_zeros_and_no_nan():
    model, batch = tiny.copier(coverage=True), tiny.batch([tiny.EMPTY, tiny.PAIRS[0]])
    target = batch.target.clone()
    target[0] = PAD
    scored = model(batch, target)
    assert scored.log_prob[0].abs().sum() == scored.coverage[0].abs().sum() == 0
    check_finite(model, batch, target)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("sizes", tiny.SIZES)
@pytest.mark.parametrize("bias", [None, -1e4, 1e4])
def test_half_precision_weights_give_no_nan(dtype, sizes, bias):
    model, batch = tiny.copier(**sizes), tiny.batch(HARD)
    if bias is not None:
        with torch.no_grad():
            model.gate.bias.fill_(bias)
    check_finite(model.to(dtype), batch, batch.target)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("sizes", tiny.SIZES)
def test_autocast_gives_no_nan_and_nearly_the_same_scores(dtype, sizes):
    model, batch = tiny.copier(**sizes), tiny.batch(HARD)
    exact = model(batch, batch.target).log_prob
    with torch.autocast("cpu", dtype):
        check_finite(model, batch, batch.target)
        rough = model(batch, batch.target).log_prob
    assert rough.dtype == torch.float32
    torch.testing.assert_close(rough, exact, atol=0.15, rtol=0.05)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("sizes", tiny.SIZES)
def test_gradients_of_autocast_scores_taken_outside_of_it_are_near_the_exact_ones(dtype, sizes):
    model, batch = tiny.copier(**sizes), tiny.batch(HARD)
    with torch.autocast("cpu", dtype):
        rough = model(batch, batch.target).log_prob
    ours, exact = (tiny.gradients(model, scores.mean()) for scores in (rough, model(batch, batch.target).log_prob))
    assert all(ours[name].dtype == gradient.dtype for name, gradient in exact.items())
    ours, exact = (torch.cat([gradient.flatten() for gradient in found.values()]) for found in (ours, exact))
    assert (ours - exact).norm() <= 12 * torch.finfo(dtype).eps * exact.norm()  # autograd's own: up to 5
