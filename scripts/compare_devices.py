"""A trained pointer-generator on the CPU and on the GPU: what it computes, and how long it takes.

    python scripts/compare_devices.py RUN

Prints the largest differences of scores (nats) and gradients (of the largest of their tensor), how many texts are
equal, and seconds. Then seconds of a language model of SmolLM2-135M's sizes with random weights, its articles read once
and as plain rows. Without a GPU it compares the CPU with itself.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pretrained import prefix, rows
from rlsum.models.summarizer import Model
from rlsum.training import build, checkpoint

ARTICLES, SAMPLES = 16, 5
SAMPLING = Sampling(60, temperature=0.7, block_ngrams=3)
BEAM = Decoding(method="beam", beam=4, max_length=60, min_length=5, block_ngrams=3)
SIZES = {  # of SmolLM2-135M
    "vocab_size": 49152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "tie_word_embeddings": True,
}


def main(arguments: Sequence[str]) -> None:
    """Compare with the device that torch sees."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    stored = checkpoint.find(Path(arguments[0]))
    model = build.load_model(stored)
    config = replace(stored.config, data=replace(stored.config.data, train_limit=ARTICLES))
    read = model.read(build.corpus(config, "train").rows, config.data.max_source, config.data.max_target)
    batch = model.collate(read[:ARTICLES])
    compare(model, copy.deepcopy(model).to(device), batch, batch.to(device))
    language_model(device, SIZES, articles=4, samples=(4, 8), lengths=(400, 60))


def compare(model: Model, other: Model, batch: Batch, moved: Batch) -> None:
    """Print what differs between a model and its copy on another device."""
    (scores, gradients), (theirs, their_gradients) = scored(model, batch), scored(other, moved)
    pairs = zip(gradients, their_gradients, strict=True)
    gaps = [(own - their).abs().max() / own.abs().max() for own, their in pairs]
    print(f"scores {(scores - theirs).abs().max():.2g}, gradients {max(gaps):.2g}")
    noise = torch.rand(len(batch) * SAMPLES, SAMPLING.limit, dtype=torch.float64)
    drawn = zip(
        model.self_critical(batch, SAMPLES, SAMPLING, noise),
        other.self_critical(moved, SAMPLES, SAMPLING, noise.to(moved.src.device)),
        strict=True,
    )
    for name, (own, their) in zip(("samples", "greedy"), drawn, strict=True):
        texts = list(zip(model.to_text(batch, own), other.to_text(moved, their), strict=True))
        print(f"{name}: {sum(one == two for one, two in texts)} of {len(texts)} texts are equal")
    print("CPU, seconds:", times_of(model, batch))
    print(f"{moved.src.device.type}, seconds:", times_of(other, moved))


def times_of(model: Model, batch: Batch) -> str:
    """Seconds of what an update does."""
    calls: dict[str, Callable[[], object]] = {
        "scores and gradients": lambda: scored(model, batch),
        "samples and greedy texts": lambda: model.self_critical(batch, SAMPLES, SAMPLING),
        "beam search": lambda: model.generate(batch, BEAM),
    }
    return ", ".join(f"{what} {seconds(call):.3f}" for what, call in calls.items())


def scored(model: Model, batch: Batch) -> tuple[Tensor, list[Tensor]]:
    """Scores of the references, and the gradients of their mean."""
    model.zero_grad()
    scores = model(batch, batch.target).log_prob
    (-scores.sum() / (batch.target != batch.pad).sum()).backward()
    gradients = [weight.grad.cpu() for weight in model.parameters() if weight.grad is not None and weight.grad.any()]
    return scores.detach().cpu(), gradients


def language_model(
    device: torch.device, sizes: dict[str, int], articles: int, samples: Sequence[int], lengths: tuple[int, int]
) -> None:
    """Print seconds of plain rows and of articles that are read once."""
    from transformers import LlamaConfig, LlamaForCausalLM

    network = LlamaForCausalLM(LlamaConfig(**sizes, max_position_embeddings=sum(lengths))).to(device)
    src = torch.randint(5, sizes["vocab_size"], (articles, lengths[0]), device=device)
    src_lengths = torch.full((articles,), lengths[0], device=device)
    for k in samples:
        target = torch.randint(5, sizes["vocab_size"], (articles * k, lengths[1]), device=device)
        of = torch.arange(articles, device=device).repeat_interleave(k)
        for name, way in (("plain rows", rows), ("read once", prefix)):
            learn = partial(_learn, way.logits, network, src, src_lengths, target)
            draw = partial(way.decode, network, src, src_lengths, of, _best, lengths[1], (0,), 0)
            times = f"scores and gradients {seconds(learn):.3f}, drawn {seconds(draw):.3f}"
            print(f"{articles} x {k}, {name}, seconds: {times}")


def _learn(logits: Callable[..., Tensor], network: Any, src: Tensor, src_lengths: Tensor, target: Tensor) -> None:
    logits(network, src, src_lengths, target).log_softmax(-1).gather(-1, target.unsqueeze(-1)).sum().backward()


def _best(ids: Tensor, logits: Tensor) -> Tensor:
    return logits.argmax(-1)


def seconds(call: Callable[[], object], times: int = 3) -> float:
    """Of a call, the mean of some after two others."""
    call(), call()
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    wait()
    begun = time.perf_counter()
    for _ in range(times):
        call()
    wait()
    return (time.perf_counter() - begun) / times


if __name__ == "__main__":
    main(sys.argv[1:])
