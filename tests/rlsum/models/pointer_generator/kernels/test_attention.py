"""Attention with gathered gradients against the plain formula under autograd, over several steps."""

import weakref

import pytest
import torch

from rlsum.models.graphs import nothing_collected
from rlsum.models.pointer_generator.kernels import attention
from rlsum.models.pointer_generator.kernels.attention import Memory, PlainMemory


@pytest.fixture(autouse=True)
def double(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)  # the float32 parts in float64


@pytest.fixture(params=["row by row", "all rows at once"], autouse=True)
def rows(request, monkeypatch):
    """Both ways through the rows: that of a processor, and that of a GPU."""
    if request.param == "all rows at once":
        monkeypatch.setattr(attention, "_rows_at_once", len)


def inputs(coverage):
    """States (2, 3, 4), keys (2, 3, 5), queries of 3 steps (3, 2, 5), weight (5,), and with coverage its weight."""
    generator = torch.Generator().manual_seed(1)
    shapes = [(2, 3, 4), (2, 3, 5), (3, 2, 5), (5,)] + [(5,)] * coverage
    return [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]


def steps(kind, states, keys, queries, weight, spent_weight=None):
    """Contexts of steps whose query depends on the context before, as a decoder's does."""
    memory, context, spent, found = kind(states, keys), 0.0, torch.zeros(keys.shape[:2], dtype=keys.dtype), []
    for query in queries.unbind(0):
        attended = memory.energies(query + context, weight, spent, spent_weight).softmax(-1)
        spent = spent + attended
        read = memory.read(attended)
        context = read.sum(-1, keepdim=True)
        found.append(read)
    return torch.stack(found)


@pytest.mark.parametrize("coverage", [False, True])
def test_values_and_gradients_are_those_of_the_plain_formula(coverage):
    tensors = inputs(coverage)
    found, expected = steps(Memory, *tensors), steps(PlainMemory, *tensors)
    torch.testing.assert_close(found, expected)
    upstream = torch.randn(found.shape, dtype=torch.float64)
    ours, theirs = (torch.autograd.grad(value, tensors, upstream) for value in (found, expected))
    torch.testing.assert_close(ours, theirs)


ROWS = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0], [1, 0], [1]]  # article of each row in five steps, of four rows at first
KEPT = [[0, 1, 2, 3], [0, 1, 2, 3], [0, 2, 1], [1, 2], [0]]  # rows of the step before


def shared_steps(memory_of, select, queries, weight, spent_weight):
    """Contexts of steps in which rows share articles, are reordered and end."""
    memory, found = memory_of(ROWS[0]), []
    spent, context = torch.zeros(4, 3, dtype=queries.dtype), torch.zeros(4, 4, dtype=queries.dtype)
    for article, kept, query in zip(ROWS, KEPT, queries.unbind(0), strict=True):
        memory, spent, context = select(memory, kept), spent[kept], context[kept]
        query = query[: len(article)] + context.sum(-1, keepdim=True)
        attended = memory.energies(query, weight, spent, spent_weight).softmax(-1)
        spent, context = spent + attended, memory.read(attended)
        found.append(context)
    return torch.cat(found)


@pytest.mark.parametrize("coverage", [False, True])
def test_rows_that_share_articles_and_end_are_the_plain_formula(coverage):
    generator = torch.Generator().manual_seed(2)
    states, keys, _, weight, *spent_weight = inputs(coverage)
    queries = torch.randn(5, 4, 5, generator=generator, dtype=torch.float64).requires_grad_()
    tensors = [states, keys, queries, weight, *spent_weight]

    def plain(rows):
        return PlainMemory(states[rows], keys[rows])

    def ended(memory, kept):
        return PlainMemory(memory.states[kept], memory.keys[kept])

    options = (queries, weight, *(spent_weight or [None]))
    ours = shared_steps(
        lambda rows: Memory(states, keys).select(torch.tensor(rows)),
        lambda memory, kept: memory.select(torch.tensor(kept)),
        *options,
    )
    theirs = shared_steps(plain, ended, *options)
    torch.testing.assert_close(ours, theirs)
    upstream = torch.randn(ours.shape, generator=generator, dtype=torch.float64)
    gradients = (torch.autograd.grad(value, tensors, upstream) for value in (ours, theirs))
    torch.testing.assert_close(*gradients)


def test_the_gradient_may_lie_in_memory_position_by_position():
    states, keys, queries, weight, spent_weight = inputs(coverage=True)
    spent, upstream = torch.rand(2, 3, dtype=torch.float64).requires_grad_(), torch.randn(3, 2, dtype=torch.float64).t()
    given = queries[0], weight, spent, spent_weight
    ours, theirs = (
        torch.autograd.grad(kind(states, keys).energies(*given), (keys, queries, weight, spent, spent_weight), upstream)
        for kind in (Memory, PlainMemory)
    )
    torch.testing.assert_close(ours, theirs)


def test_a_second_backward_pass_gives_the_same_gradient():
    tensors = inputs(True)
    loss = steps(Memory, *tensors).square().sum()
    first, second = (torch.autograd.grad(loss, tensors, retain_graph=True) for _ in range(2))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_a_backward_pass_that_asks_for_the_queries_alone_leaves_nothing_behind():
    tensors = inputs(True)
    loss = steps(Memory, *tensors).square().sum()
    queries = tensors[2]
    (partial,) = torch.autograd.grad(loss, queries, retain_graph=True)
    whole = torch.autograd.grad(loss, tensors)
    expected = torch.autograd.grad(steps(PlainMemory, *tensors).square().sum(), tensors)
    torch.testing.assert_close((partial, *whole), (expected[2], *expected))


def test_a_step_that_the_loss_does_not_use_adds_nothing():
    tensors = inputs(True)
    ours, theirs = (torch.autograd.grad(steps(kind, *tensors)[1].sum(), tensors) for kind in (Memory, PlainMemory))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("size", [20.0, 100.0, 1e6])
def test_energies_far_from_zero_are_exact_and_have_finite_gradients(size):
    states, keys, queries, weight = (tensor.detach() for tensor in inputs(False))
    keys, queries = (keys * size).requires_grad_(), (queries * 3).requires_grad_()
    ours, theirs = (steps(kind, states, keys, queries, weight) for kind in (Memory, PlainMemory))
    torch.testing.assert_close(ours, theirs)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(ours.sum(), (keys, queries)))


def test_a_memory_dies_with_its_graph_without_the_garbage_collector():
    tensors = inputs(True)
    memory = Memory(*tensors[:2])
    alive = weakref.ref(memory._work)
    with nothing_collected():
        memory.read(torch.ones(2, 3, dtype=torch.float64)).sum().backward()
        del memory
        assert alive() is None
