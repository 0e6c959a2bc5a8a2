"""Scores of words against torch's own log softmax, values and gradients."""

import pytest
import torch
import torch.nn.functional as F

from rlsum.models import execution
from rlsum.models.pointer_generator.kernels import word_scores
from rlsum.models.pointer_generator.kernels.word_scores import WordColumns, plain_log_prob


def inputs(tokens=7, size=11, features=5, scale=1.0):
    generator = torch.Generator().manual_seed(1)
    shapes = (tokens, features), (size, features), (size,)
    parts = [torch.randn(shape, generator=generator, dtype=torch.float64) * scale for shape in shapes]
    return *(part.requires_grad_() for part in parts), torch.randint(size, (tokens,), generator=generator)


def target_log_prob(*tensors):
    return word_scores.target_log_prob(*tensors, None)[0]


@pytest.fixture
def double(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)  # the float32 parts in float64


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("chunk", [1, 25, 2**20])  # one row, two rows and a rest, all rows at once
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_values_and_gradients_are_those_of_log_softmax(chunk, scale, monkeypatch):
    monkeypatch.setattr(execution, "ON_CPU", execution.ON_CPU._replace(chunk=chunk))
    *tensors, targets = inputs(scale=scale)
    found, expected = target_log_prob(*tensors, targets), plain_log_prob(*tensors, targets)
    torch.testing.assert_close(found, expected)
    upstream = torch.linspace(-1, 2, len(found), dtype=torch.float64)
    gradients = (torch.autograd.grad(scores, tensors, upstream) for scores in (found, expected))
    torch.testing.assert_close(*gradients)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_share_of_all_words_but_one_has_the_value_and_gradient_of_its_sum(scale):
    *tensors, targets = inputs(scale=scale)
    found, share = word_scores.target_log_prob(*tensors, targets, 3)
    others = [word for word in range(11) if word != 3]
    expected = F.linear(*tensors[:1], *tensors[1:]).log_softmax(-1)[:, others].logsumexp(-1)
    assert torch.equal(found, target_log_prob(*tensors, targets))
    torch.testing.assert_close(share, expected)
    upstream = torch.linspace(-1, 2, len(found), dtype=torch.float64)
    ours = torch.autograd.grad((found + share * upstream).sum(), tensors)
    theirs = torch.autograd.grad((plain_log_prob(*tensors, targets) + expected * upstream).sum(), tensors)
    torch.testing.assert_close(ours, theirs)


def test_the_share_of_all_words_but_a_very_probable_one_keeps_its_digits():
    features, weight, bias, targets = (tensor.detach().float() for tensor in inputs())
    bias[3] = 20.0
    _, share = word_scores.target_log_prob(features, weight, bias, targets.long(), 3)
    others = F.linear(features, weight, bias).double().log_softmax(-1)[:, [word for word in range(11) if word != 3]]
    torch.testing.assert_close(share.double(), others.logsumexp(-1), rtol=1e-5, atol=0)


@pytest.mark.usefixtures("double")
def test_a_second_backward_pass_gives_the_same_gradient():
    *tensors, targets = inputs()
    loss = target_log_prob(*tensors, targets).sum()
    first, second = (torch.autograd.grad(loss, tensors, retain_graph=True) for _ in range(2))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_a_word_whose_probability_is_zero_in_float32_has_its_log_probability():
    features, weight = torch.ones(1, 1), torch.tensor([[0.0], [500.0], [-1e9]])
    targets = torch.tensor([0]), torch.tensor([2])
    found = [target_log_prob(features, weight, torch.zeros(3), target).item() for target in targets]
    assert found == pytest.approx([-500.0, -1e9])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_gives_float32_scores_and_gradients_near_the_exact_ones(dtype):
    *tensors, targets = inputs()
    tensors = [tensor.detach().float().requires_grad_() for tensor in tensors]
    with torch.autocast("cpu", dtype):
        found = target_log_prob(*tensors, targets)
    expected = plain_log_prob(*tensors, targets)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, atol=0.1, rtol=0.05)
    gradients = (torch.autograd.grad(scores.sum(), tensors) for scores in (found, expected))
    torch.testing.assert_close(*gradients, atol=0.1, rtol=0.05)


@pytest.mark.parametrize("chunk", [1, 30, 10_000])
def test_columns_give_the_share_of_every_word(chunk, monkeypatch):
    monkeypatch.setattr(execution, "ON_CPU", execution.ON_CPU._replace(chunk=chunk))
    features, weight, bias, _ = (tensor.detach().float() for tensor in inputs())
    odds = torch.empty(len(features), len(bias))
    _, total = WordColumns(weight, bias).odds(features, odds)
    torch.testing.assert_close(odds / total.unsqueeze(1), F.linear(features, weight, bias).softmax(-1))


def test_only_the_product_has_the_precision_of_autocast():
    generator = torch.Generator().manual_seed(1)
    features, weight, bias = (torch.randn(shape, generator=generator).bfloat16() for shape in ((9, 64), (500, 64), 500))
    targets = torch.arange(9)
    with torch.autocast("cpu", torch.bfloat16):
        found = target_log_prob(features.float(), weight.float(), bias.float(), targets)
    logits = (features @ weight.t()).double() + bias.double()
    expected = logits.log_softmax(-1).gather(1, targets.unsqueeze(1)).squeeze(1)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-4)


def test_columns_stay_finite_where_logits_are_huge():
    bias = torch.tensor([0.0, -1e9, 300.0])
    odds = torch.empty(1, 3)
    _, total = WordColumns(torch.zeros(3, 2), bias).odds(torch.ones(1, 2), odds)
    torch.testing.assert_close(odds / total, torch.tensor([[0.0, 0.0, 1.0]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("rows", "size", "features"), [(1, 3, 2), (8, 1000, 64), (40, 999, 33)])
def test_a_packed_weight_gives_the_product_of_the_weight(rows, size, features, dtype):
    generator = torch.Generator().manual_seed(1)
    left, weight = (torch.randn(n, features, generator=generator, dtype=torch.float64) for n in (rows, size))
    expected = left @ weight.t()
    left, weight = left.to(dtype), weight.to(dtype)
    tolerance = 4 * features * torch.finfo(dtype).eps
    for given in (weight, word_scores.packed(weight), weight.t().contiguous().t()):
        found = word_scores.times(left, given)
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)
