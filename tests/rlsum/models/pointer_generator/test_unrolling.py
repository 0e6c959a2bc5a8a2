"""Samples scored while they are drawn have the texts, scores and gradients of samples drawn first and scored then."""

import pytest
import tiny
import torch
import torch.nn.functional as F

from rlsum.data.vocabulary import EOS
from rlsum.models import execution
from rlsum.models.decoding import Sampling
from rlsum.models.pointer_generator.kernels.shared_weight import SharedWeight
from rlsum.models.sampling import Drawn


def apart(model, batch, k, sampling, noise=None):
    """Samples, greedy texts, and scores of samples and references, by the methods that do one thing each."""
    samples, greedy = model.self_critical(batch, k, sampling, noise)
    of_samples = model(batch, samples.ids, Drawn.all(samples.ids, sampling))
    return samples, greedy, of_samples, model(batch, batch.target)


def gradients(model, of_samples, of_references):
    """Those of a loss in which every score has another weight."""
    loss = 0.0
    for number, scored in enumerate((of_samples, of_references)):
        if scored is not None:
            weight = torch.randn(scored.log_prob.shape, generator=torch.Generator().manual_seed(number))
            loss = loss + (weight * (scored.log_prob + 0.3 * scored.coverage)).sum()
    return tiny.gradients(model, loss)


def assert_same(model, batch, k, sampling, noise=None):
    if noise is None and not execution.ON_CPU.drops_ended:  # other rows share torch's generator
        noise = torch.rand(k * len(batch), sampling.max_length, dtype=torch.float64)
    torch.manual_seed(4)
    samples, greedy, *scores = apart(model, batch, k, sampling, noise)
    torch.manual_seed(4)
    drawn = model.draw_and_score(batch, k, sampling, noise, True, True)
    assert torch.equal(drawn.samples.ids, samples.ids)
    assert torch.equal(drawn.greedy.ids, greedy.ids)
    torch.testing.assert_close(drawn.samples.log_prob, samples.log_prob, atol=1e-5, rtol=0)
    torch.testing.assert_close(drawn.scores[0].log_prob, drawn.samples.log_prob, atol=1e-5, rtol=0)
    for ours, theirs in zip(drawn.scores, scores, strict=True):
        torch.testing.assert_close(ours.log_prob, theirs.log_prob, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours.coverage, theirs.coverage, atol=1e-5, rtol=1e-5)
    expected = gradients(model, *scores)
    rounding = 1e-6 * max(gradient.abs().max().item() for gradient in expected.values())
    torch.testing.assert_close(gradients(model, *drawn.scores), expected, atol=rounding, rtol=1e-4)
    return drawn


@pytest.mark.parametrize("coverage", [False, True])
@pytest.mark.parametrize("cut", tiny.CUTS)
def test_drawing_and_scoring_together_is_drawing_and_scoring(cut, coverage):
    model, batch = tiny.copier(seed=3, coverage=coverage, decoder_layers=1 + coverage), tiny.batch(tiny.ARTICLES)
    with torch.no_grad():
        model.word_out.bias[EOS] = 4.0
    drawn = assert_same(model, batch, 4, Sampling(**tiny.CUTS[cut], max_length=8))
    assert (drawn.samples.ids == EOS).any()


@pytest.mark.parametrize("ends", [-9.0, 0.0, 2.0, 30.0])  # no text ends; some do; many do; all are empty
@pytest.mark.parametrize("length", [2, 12])  # references are longer; samples are
def test_texts_of_any_length(ends, length):
    model, batch = tiny.copier(seed=5, coverage=True), tiny.batch(tiny.ARTICLES)
    with torch.no_grad():
        model.word_out.bias[EOS] = ends
        model.gate.bias.fill_(30.0 if ends == 30 else 0.0)
    drawn = assert_same(model, batch, 3, Sampling(max_length=length))
    if ends == 30:
        assert drawn.samples.ids.tolist() == [[EOS]] * 15


def test_without_greedy_texts_and_without_references():
    model, batch, sampling = tiny.copier(seed=3), tiny.batch(tiny.ARTICLES), Sampling(max_length=8)
    torch.manual_seed(4)
    samples = model.sample(batch, 3, sampling)
    torch.manual_seed(4)
    drawn = model.draw_and_score(batch, 3, sampling, None, False, False)
    assert torch.equal(drawn.samples.ids, samples.ids)
    assert drawn.greedy is None
    assert drawn.scores[1] is None
    scored = model(batch, samples.ids, Drawn.all(samples.ids, sampling))
    ours, theirs = (gradients(model, each, None) for each in (drawn.scores[0], scored))
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("steps", [3, 8, 100])
@pytest.mark.parametrize("length", [8, 40])
def test_rare_looks_for_ended_rows_change_nothing(steps, length, monkeypatch):
    model, batch = tiny.copier(seed=3, coverage=True), tiny.batch(tiny.ARTICLES)
    with torch.no_grad():
        model.word_out.bias[EOS] = 8.0
        model.gate.bias.fill_(4.0)
        model.gate.weight.mul_(0.1)
    noise = torch.rand(15, length, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    sampling = Sampling(max_length=length)
    first = assert_same(model, batch, 3, sampling, noise)
    rarely = execution.ON_CPU._replace(steps_between_looks=steps, drops_ended=False)
    monkeypatch.setattr(execution, "ON_CPU", rarely)
    found = assert_same(model, batch, 3, sampling, noise)
    assert torch.equal(found.samples.ids, first.samples.ids)
    assert found.samples.ids.shape[1] < 20, "texts end long before the last of 40 steps"


def test_half_precision_gives_gradients_near_those_of_separate_scoring():
    """Greedy texts are decoded without gradient: what autocast has cast for them must not cut the graph."""
    model, batch, sampling = tiny.copier(seed=3, coverage=True), tiny.batch(tiny.ARTICLES), Sampling(max_length=6)
    noise = torch.rand(10, 6, dtype=torch.float64)
    with torch.autocast("cpu", torch.bfloat16):
        drawn = model.draw_and_score(batch, 2, sampling, noise, True, True)
        of_samples = model(batch, drawn.samples.ids, Drawn.all(drawn.samples.ids, sampling))
        scores = of_samples, model(batch, batch.target)
    expected = gradients(model, *scores)
    for name, gradient in gradients(model, *drawn.scores).items():
        assert (gradient - expected[name]).norm() <= 0.05 * expected[name].norm() + 1e-3, name


# ---- weights of all steps: values and gradients are those of autograd ------------------------------------------------


def inputs(*shape):
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def test_rows_looked_up_in_several_steps():
    weight = inputs(5, 3)
    steps = [torch.tensor([0, 4, 4]), torch.tensor([1, 0])]
    shared = SharedWeight(weight, without=0)
    ours = sum((shared.rows(ids) ** 2).sum() for ids in steps)
    theirs = sum((F.embedding(ids, weight, 0) ** 2).sum() for ids in steps)
    torch.testing.assert_close(ours, theirs)
    (expected,) = torch.autograd.grad(theirs, weight)
    for _ in range(2):  # a second pass over the graph adds nothing to the first
        torch.testing.assert_close(torch.autograd.grad(ours, weight, retain_graph=True), (expected,))


def test_what_a_failed_backward_pass_left_is_discarded():
    weight, other = inputs(3, 3), inputs(3)

    def stop(_):
        raise RuntimeError("stop")

    shared = SharedWeight(weight)
    before = other * 1.0  # made after the root and before the look-up: its gradient is due between theirs
    hook = before.register_hook(stop)
    total = shared.rows(torch.tensor([2, 2])).sum() + before.sum()
    with pytest.raises(RuntimeError, match="stop"):
        torch.autograd.grad(total, [other, weight], retain_graph=True)
    assert shared._steps.parts
    hook.remove()
    _, gradient = torch.autograd.grad(total, [other, weight])
    assert gradient[:, 0].tolist() == [0.0, 0.0, 2.0]


def test_a_weight_that_nothing_read_has_no_gradient():
    weight = inputs(3, 3)
    shared = SharedWeight(weight)
    assert torch.autograd.grad(shared._weight.sum() * 0, weight, allow_unused=True) == (None,)
