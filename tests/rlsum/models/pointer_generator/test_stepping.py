"""Decoder steps as a CUDA graph. Without a GPU, a stand-in for the graph records and repeats a step's operations."""

import warnings

import gpu
import pytest
import tiny
import torch

from rlsum.data.vocabulary import EOS
from rlsum.models import execution
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pointer_generator import stepping
from rlsum.models.pointer_generator.stepping import EAGER, Steps


@pytest.fixture
def graphs(monkeypatch):
    """Rollouts with the stand-in, if graphs alone are as on a GPU. Returns the graphs that were made."""
    return gpu.forced(monkeypatch, execution.ON_CPU._replace(graphs=True))


def talker(**options):
    """A model whose texts end after about ten tokens."""
    model = tiny.copier(seed=2, **options)
    with torch.no_grad():
        model.word_out.bias[EOS] = -0.5
    return model


def decoded(model, method):
    """Ids and log-probabilities of texts of 20 tokens at most."""
    batch = tiny.batch(tiny.ARTICLES).to(next(model.parameters()).device)
    if method == "greedy":
        return model.generate(batch, Decoding(max_length=20))
    torch.manual_seed(3)
    return model.sample(batch, 6, Sampling(max_length=20))


@pytest.mark.parametrize("coverage", [False, True])
@pytest.mark.parametrize("method", ["greedy", "sampled"])
def test_replayed_steps_give_the_texts_of_the_models_own(method, coverage, request):
    model = talker(coverage=coverage)
    expected = decoded(model, method)
    made = request.getfixturevalue("graphs")
    found = decoded(model, method)
    assert made
    assert torch.equal(found.ids, expected.ids)
    torch.testing.assert_close(found.log_prob, expected.log_prob)


def test_the_model_is_called_until_the_graph_is_recorded_and_not_after(graphs, monkeypatch):
    model, batch = tiny.copier(seed=2), tiny.batch()
    calls, advance = [], model.advance
    monkeypatch.setattr(model, "advance", lambda *arguments: calls.append(1) or advance(*arguments))
    with torch.no_grad():
        steps = Steps(model, model.encode(batch))
        for _ in range(EAGER + 5):
            steps.next(torch.full((len(batch),), 4))
    assert (len(graphs), len(calls)) == (1, EAGER + 2)  # one is recorded, one is what the graph is compared with


def failing(graph, previous):
    raise RuntimeError("no memory")


def wrong(graph, previous):
    return torch.full_like(graph.result[0], 0.5), graph.result[1]


@pytest.mark.parametrize("replay", [failing, wrong])
def test_a_graph_that_cannot_be_used_is_left_with_a_warning(replay, request, monkeypatch):
    model = talker()
    expected = decoded(model, "greedy")
    request.getfixturevalue("graphs")
    monkeypatch.setattr(stepping.Graph, "replay", replay)
    with pytest.warns(UserWarning, match="without a CUDA graph"):
        found = decoded(model, "greedy")
    assert torch.equal(found.ids, expected.ids)


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["greedy", "sampled"])
def test_on_a_gpu_a_graph_gives_the_texts_of_the_models_own_steps(method, monkeypatch):
    model = talker().cuda()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # there is a warning if the graph is not used
        found = decoded(model, method)
    monkeypatch.setattr(stepping, "EAGER", 1000)
    expected = decoded(model, method)
    assert torch.equal(found.ids, expected.ids)
    torch.testing.assert_close(found.log_prob, expected.log_prob, rtol=1e-3, atol=1e-4)
