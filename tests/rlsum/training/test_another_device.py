"""Decoding, scoring and every update on a device that is not the CPU, as a stand-in refuses what a GPU would refuse."""

import copy
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import language_models as lm
import pretrained
import pytest
import tiny
import torch

from rlsum.data.vocabulary import EOS
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.sampling import Drawn
from rlsum.training.steps import training_step

SAMPLINGS = ({}, {"temperature": 0.7}, {"temperature": 30.0}, {"top_k": 4, "top_p": 0.8},
             {"min_length": 3, "block_ngrams": 1})  # fmt: skip
OBJECTIVES = {name: tiny.OBJECTIVES[name] for name in ("self-critical", "grpo", "gspo", "ranking", "minimum-risk")}


def test_no_tensor_is_left_on_the_cpu():
    """In a process of its own, in which torch has another device."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parents[2] / "support")])}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["refused", "samples", "texts", "steps", *OBJECTIVES]


def of_samples(models, batches):
    """Both models draw and score the same."""
    for options in SAMPLINGS:
        sampling, noise = Sampling(max_length=12, **options), torch.rand(15, 12, dtype=torch.float64)
        found = []
        for model, batch in zip(models, batches, strict=True):
            own = noise.to(batch.src.device)
            samples, greedy = model.self_critical(batch, 3, sampling, own)
            scored = model(batch, samples.ids, Drawn.all(samples.ids, sampling)).log_prob
            drawn = model.draw_and_score(batch, 3, sampling, own, True, True)
            assert drawn.samples.ids.tolist() == samples.ids.tolist()
            found.append([tensor.detach().to("cpu") for tensor in (samples.ids, greedy.ids, scored)])
        torch.testing.assert_close(*found, atol=1e-4, rtol=1e-4)


def of_texts(models, batches):
    for method in ("greedy", "beam"):
        decoding = Decoding(method=method, min_length=2, block_ngrams=2, max_length=9)
        one, other = (m.to_text(b, m.generate(b, decoding)) for m, b in zip(models, batches, strict=True))
        assert one == other


def of_steps(model, batch, pretrained_models):
    """Between two looks for ended texts, no step waits for the device."""
    import elsewhere

    def waited(call, length):
        elsewhere.WAITED.clear()
        call(length)
        return Counter(elsewhere.WAITED)

    with torch.no_grad():
        model.word_out.bias[EOS] = -1e4  # nothing ends
    for other, _ in pretrained_models.values():
        other.rules = replace(other.rules, ends=(len(other.vocabulary.tokenizer) - 1,))
    calls = {}
    for options in (*SAMPLINGS, {"block_ngrams": 3, "temperature": 0.7}):
        for name, (one, data) in {"pointer-generator": (model, batch), **pretrained_models}.items():
            calls[name, "samples", str(options)] = partial(sampled, one, data, options)
        calls["samples, scored", str(options)] = partial(scored, model, batch, options)
    for decoding in (Decoding(), Decoding(block_ngrams=2), Decoding("beam", beam=3, block_ngrams=2, min_length=3)):
        calls["searched", str(decoding)] = partial(searched, model, batch, decoding)
    for name, (one, data) in pretrained_models.items():
        calls[name, "searched"] = partial(searched, one, data, Decoding(block_ngrams=2))
    for name, call in calls.items():
        _, few, many = waited(call, 8), waited(call, 9), waited(call, 15)  # a look is taken every eight steps
        assert few == many, (name, few, many)


def sampled(model, batch, options, length):
    model.self_critical(batch, 2, Sampling(max_length=length, **options))


def scored(model, batch, options, length):
    model.draw_and_score(batch, 2, Sampling(max_length=length, **options), None, True, True)


def searched(model, batch, decoding, length):
    model.generate(batch, replace(decoding, max_length=length))


def of_updates(models, batches, objective):
    """Losses and gradients of the last of the updates that share samples."""
    config = tiny.config(
        "none", objective["kind"], objective={**objective, "gamma": 0.9}, model={"coverage": True}, row_noise=True
    )
    found = []
    for model, batch in zip(models, batches, strict=True):
        start = torch.no_grad()(copy.deepcopy(model)) if objective.get("kl") else None
        step = training_step(config, model, tiny.Overlap(), start)
        for number in range(config.objective.updates_per_sample):
            (rollout,) = step.prepare(number, [batch], [batch])
            loss = step(number, model, batch, rollout).loss
        found.append([tensor.detach().to("cpu") for tensor in (loss, *tiny.gradients(model, loss).values())])
    torch.testing.assert_close(*found, atol=1e-5, rtol=1e-4)


def main():
    import elsewhere

    with tempfile.TemporaryDirectory() as folder:  # before the device begins, or buffers stay unset
        others = {"causal": lm.summarizer(lm.save(Path(folder) / "llama", "llama"))}
        others |= {name: pretrained.summarizer(pretrained.save(Path(folder) / name, name)) for name in ("bart", "t5")}
    torch.use_deterministic_algorithms(True, warn_only=True)  # memory that nobody set is NaN
    kept = elsewhere.begin()
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(3, device=elsewhere.NAME) + torch.ones(3)
    print("refused")
    own, batch = tiny.copier(seed=3, coverage=True), tiny.batch(tiny.ARTICLES)
    models, batches = (own, copy.deepcopy(own).to(elsewhere.NAME)), (batch, batch.to(elsewhere.NAME))
    of_samples(models, batches)
    print("samples")
    of_texts(models, batches)
    print("texts")
    there = {name: (m, pretrained.batch(m).to(elsewhere.NAME)) for name, m in others.items()}
    for other in others.values():
        other.to(elsewhere.NAME)
    of_steps(copy.deepcopy(models[1]), batches[1], there)
    print("steps")
    for name, objective in OBJECTIVES.items():
        of_updates(models, batches, objective)
        print(name)
    del kept


if __name__ == "__main__":
    main()
