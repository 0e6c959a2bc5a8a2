"""Samples drawn by steps of fixed shapes, on a GPU by a graph of them: the tokens of transformers' generate."""

import warnings
from dataclasses import replace

import gpu
import language_models as lm
import pretrained as tiny
import pytest
import torch

from rlsum.models import graphs
from rlsum.models.decoding import Sampling
from rlsum.models.pretrained import seq2seq

ENCODER_DECODERS = ("bart", "t5", "mt5", "pegasus")
NAMES = (*ENCODER_DECODERS, "llama", "qwen3", "gpt2", "gpt_neox", "opt")
OPTIONS = ({}, {"min_length": 3, "block_ngrams": 2}, {"temperature": 0.7, "top_k": 9, "top_p": 0.8})


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of each architecture and its batch. Many ids of a language model end a text."""
    place, made = tmp_path_factory.mktemp("pretrained"), {}
    for name in NAMES:
        encodes = name in ENCODER_DECODERS
        saved = tiny.save(place / name, name) if encodes else lm.save(place / name, name, many_ends=True)
        made[name] = tiny.summarizer(saved) if encodes else lm.summarizer(saved)
    return {name: (model, tiny.batch(model)) for name, model in made.items()}


def drawn(model, batch, options, length=24):
    torch.manual_seed(0)
    samples, greedy = model.self_critical(batch, 3, Sampling(max_length=length, **options))
    return samples, greedy


def assert_same(drawn, expected):
    for tokens, others in zip(drawn, expected, strict=True):
        assert torch.equal(tokens.ids, others.ids)
        torch.testing.assert_close(tokens.log_prob, others.log_prob, atol=1e-5, rtol=0)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_steps_draw_the_tokens_of_transformers_generate(models, monkeypatch, name, options):
    model, batch = models[name]
    found = drawn(model, batch, options)
    assert model.steps_alone(batch)
    monkeypatch.setattr(model, "_refusal", "tested")
    assert_same(found, drawn(model, batch, options))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_a_graph_draws_the_tokens_of_the_steps_that_it_was_recorded_from(models, monkeypatch, name, options):
    model, batch = models[name]
    expected = drawn(model, batch, options)
    made = gpu.forced(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # there is one if the graph is not used
        found = drawn(model, batch, options)
    assert made
    assert_same(found, expected)


@pytest.mark.parametrize("name", ["bart", "llama"])
def test_a_graph_that_computes_something_else_is_left_with_a_warning(models, monkeypatch, name):
    model, batch = models[name]
    expected = drawn(model, batch, {})
    gpu.forced(monkeypatch)
    monkeypatch.setattr(graphs.Graph, "replay", lambda graph, *inputs: graph.result + 1.0)
    with pytest.warns(UserWarning, match="without a CUDA graph"):
        found = drawn(model, batch, {})
    assert_same(found, expected)


def test_steps_that_score_otherwise_are_left_and_said(models, monkeypatch, caplog):
    model, batch = models["t5"]
    expected = drawn(model, batch, {})
    monkeypatch.setattr(model, "_refusal", None)
    monkeypatch.setattr(seq2seq, "_hidden", lambda places, like: torch.zeros(places.shape))  # all places are read
    with caplog.at_level("INFO", "rlsum.readers"):
        found = drawn(model, batch, {})
    assert "transformers' generate decodes: log-probabilities of its static cache would differ by" in caplog.text
    assert_same(found, expected)


def test_rules_of_single_tokens_are_followed_as_by_generate(models, monkeypatch):
    """Forced and suppressed tokens, at the beginning and at the end."""
    model, batch = models["mt5"]
    rules = replace(model.rules, forced_first=11, forced_end=(12,), suppressed=(7, 8), suppressed_first=(9, 10))
    monkeypatch.setattr(model, "rules", rules)
    found = drawn(model, batch, {}, length=5)
    assert set(found[0].ids[:, 0].tolist()) == {11}
    monkeypatch.setattr(model, "_refusal", "tested")
    assert_same(found, drawn(model, batch, {}, length=5))


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_on_a_gpu_a_graph_gives_the_texts_of_eager_steps(models, monkeypatch, name):
    model, batch = models[name]
    model, batch = model.cuda(), batch.to("cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = drawn(model, batch, {})
    monkeypatch.setattr(graphs, "EAGER", 1000)
    expected = drawn(model, batch, {})
    assert torch.equal(found[0].ids, expected[0].ids)
    torch.testing.assert_close(found[0].log_prob, expected[0].log_prob, rtol=1e-3, atol=1e-4)
