"""A trained pointer-generator on the CPU and on the GPU: what it computes, and how long it takes.

    python scripts/gpu/compare_devices.py RUN

Prints the largest differences of scores (nats) and gradients (of the largest of their tensor), how many texts are
equal (samples of the same random numbers, greedy texts, beams), and seconds. Then, for a language model of
SmolLM2-135M's sizes with random weights, how its scores differ from plain rows on the CPU, seconds and memory, its
articles read once and as plain rows; and for one of BART-base's, how long texts take by our steps, as a graph and not,
and by transformers' generate. Without a GPU it compares the CPU with itself.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.data.subwords import IGNORED
from rlsum.models import graphs
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pretrained import prefix, rows
from rlsum.models.pretrained.seq2seq import FixedSteps
from rlsum.models.pretrained.steps import decode
from rlsum.models.sampling import Drawn
from rlsum.models.summarizer import DrawsAndScores, Model
from rlsum.training import build, checkpoint
from rlsum.training.start.origin import load_model

ARTICLES, SAMPLES = 16, 5
SAMPLING = Sampling(60, temperature=0.7, block_ngrams=3)
BEAM = Decoding(method="beam", beam=4, max_length=60, min_length=5, block_ngrams=3)
WAYS = {"plain rows": rows, "read once": prefix}
SIZES = {  # of SmolLM2-135M
    "vocab_size": 49152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "tie_word_embeddings": True,
}


def main() -> None:
    """Compare with the device that torch sees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run of a pointer-generator")
    parser.add_argument("--layers", type=int, default=SIZES["num_hidden_layers"], help="of the language model")
    parser.add_argument("--samples", type=int, nargs="+", default=[4, 8, 16], help="of an article, of this model")
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    stored = checkpoint.find(options.run)
    model = load_model(stored)
    config = replace(stored.config, data=replace(stored.config.data, train_limit=ARTICLES))
    read = model.read(build.corpus(config, "train").rows, config.tokenization)
    batch = model.collate(read[:ARTICLES])
    compare(model, copy.deepcopy(model).to(device), batch, batch.to(device))
    sizes = {**SIZES, "num_hidden_layers": options.layers}
    language_model(device, sizes, articles=4, samples=options.samples, lengths=(400, 60))
    encoder_decoder(device, min(6, options.layers), articles=4, samples=options.samples, lengths=(400, 60))


def compare(model: Model, copy: Model, batch: Batch, moved: Batch) -> None:
    """Print what differs between a model and its copy on another device."""
    (scores, gradients), (theirs, their_gradients) = scored(model, batch), scored(copy, moved)
    pairs = zip(gradients, their_gradients, strict=True)
    gaps = [(value - moved_value).abs().max() / value.abs().max() for value, moved_value in pairs]
    print(f"scores {(scores - theirs).abs().max():.2g}, gradients {max(gaps):.2g}")
    noise = torch.rand(len(batch) * SAMPLES, SAMPLING.limit, dtype=torch.float64)
    drawn = zip(
        model.self_critical(batch, SAMPLES, SAMPLING, noise),
        copy.self_critical(moved, SAMPLES, SAMPLING, noise.to(moved.src.device)),
        strict=True,
    )
    for name, (texts, their_texts) in zip(("samples", "greedy"), drawn, strict=True):
        tell_equal(name, model.to_text(batch, texts), copy.to_text(moved, their_texts))
    beams = (network.to_text(data, network.generate(data, BEAM)) for network, data in ((model, batch), (copy, moved)))
    tell_equal("beams", *beams)
    print("CPU, seconds:", times_of(model, batch))
    print(f"{moved.src.device.type}, seconds:", times_of(copy, moved))


def tell_equal(name: str, ours: Sequence[str], theirs: Sequence[str]) -> None:
    """Print how many texts are equal."""
    print(f"{name}: {sum(a == b for a, b in zip(ours, theirs, strict=True))} of {len(ours)} texts are equal")


def times_of(model: Model, batch: Batch) -> str:
    """Seconds of what an update does."""
    calls: dict[str, Callable[[], object]] = {
        "scores and gradients": lambda: scored(model, batch),
        "samples and greedy texts": lambda: model.self_critical(batch, SAMPLES, SAMPLING),
        "beam search": lambda: model.generate(batch, BEAM),
        "drawn, then scored, with gradients": lambda: drawn_then_scored(model, batch),
    }
    if isinstance(model, DrawsAndScores):
        calls["scored while drawn, with gradients"] = lambda: backward(
            model.draw_and_score(batch, SAMPLES, SAMPLING, None, True, False).scores[0].log_prob
        )
    return ", ".join(f"{what} {seconds(call):.3f}" for what, call in calls.items())


def drawn_then_scored(model: Model, batch: Batch) -> None:
    """As an update does that cannot score samples while it draws them."""
    samples, _ = model.self_critical(batch, SAMPLES, SAMPLING)
    backward(model(batch, samples.ids, Drawn.all(samples.ids, SAMPLING)).log_prob)


def backward(log_prob: Tensor) -> None:
    """Gradients of a mean."""
    log_prob.mean().backward()


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

    torch.manual_seed(0)
    network = LlamaForCausalLM(LlamaConfig(**sizes, max_position_embeddings=sum(lengths)))
    src = torch.randint(5, sizes["vocab_size"], (articles, lengths[0]))
    src_lengths = torch.tensor([lengths[0] - lengths[0] * i // 40 for i in range(articles)])
    target = torch.randint(5, sizes["vocab_size"], (2 * articles, lengths[1]))
    target[1, lengths[1] // 2 :] = IGNORED
    with torch.no_grad():
        expected = rows.logits(network, src, src_lengths, target)[target != IGNORED].log_softmax(-1)
        network, src, src_lengths, target = (x.to(device) for x in (network, src, src_lengths, target))
        for name, way in WAYS.items():
            scores = way.logits(network, src, src_lengths, target)[target != IGNORED].log_softmax(-1)
            print(f"{name}: scores differ from plain rows on the CPU by {(scores.cpu() - expected).abs().max():.2g}")
    for k in samples:
        target = torch.randint(5, sizes["vocab_size"], (articles * k, lengths[1]), device=device)
        owners = torch.arange(articles, device=device).repeat_interleave(k)
        for name, way in WAYS.items():
            learn = partial(_learn, way.logits, network, src, src_lengths, target)
            draw = partial(way.decode, network, src, src_lengths, owners, _best, lengths[1], (0,), 0)
            times = f"scores and gradients {seconds(learn):.3f}, drawn {seconds(draw):.3f}, {graph_or_not(draw)}"
            print(f"{articles} x {k}, {name}, seconds: {times}{memory(learn)}", flush=True)


@torch.no_grad()
def encoder_decoder(
    device: torch.device, layers: int, articles: int, samples: Sequence[int], lengths: tuple[int, int]
) -> None:
    """Print seconds of greedy texts, which end nowhere, of an encoder-decoder."""
    from transformers import BartConfig, BartForConditionalGeneration

    torch.manual_seed(0)
    sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), layers) | {"d_model": 768, "encoder_ffn_dim": 3072}
    config = BartConfig(**sizes, decoder_ffn_dim=3072, encoder_attention_heads=12, decoder_attention_heads=12)
    network = BartForConditionalGeneration(config).eval().to(device)
    network.generation_config.forced_eos_token_id = None
    src = torch.randint(5, config.vocab_size, (articles, lengths[0]), device=device)
    for k in samples:
        rows_of = src.repeat_interleave(k, 0)
        inputs = {"encoder_outputs": network.get_encoder()(rows_of), "attention_mask": torch.ones_like(rows_of)}
        options = {"max_new_tokens": lengths[1], "do_sample": False, "num_beams": 1, "eos_token_id": None}

        def ours(inputs: dict[str, Any] = inputs, rows: int = articles * k) -> Tensor:
            steps = FixedSteps(network, inputs, lengths[1])
            first = steps.next(torch.full((rows,), config.decoder_start_token_id, device=device), 0)
            return decode(steps, first, _best, lengths[1], (-1,), config.pad_token_id, start=1)

        theirs = partial(network.generate, **inputs, **options)
        equal = (ours() == theirs()[:, 1:]).all(1).sum()
        times = f"ours {seconds(ours):.3f}, {graph_or_not(ours)}, transformers' generate {seconds(theirs):.3f}"
        print(f"encoder-decoder, {articles} x {k}: {equal} of {articles * k} texts equal; seconds: {times}", flush=True)
        if device.type == "cuda":
            static = partial(theirs, cache_implementation="static")
            print(f"  generate with a compiled static cache {seconds(static):.3f}", flush=True)


def graph_or_not(draw: Callable[[], object]) -> str:
    """Seconds without a graph of the steps."""
    usual, graphs.EAGER = graphs.EAGER, 10**9
    time_taken = seconds(draw)
    graphs.EAGER = usual
    return f"without a graph {time_taken:.3f}"


def memory(call: Callable[[], object]) -> str:
    """GiB that a call takes of a GPU at most, weights included."""
    if not torch.cuda.is_available():
        return ""
    torch.cuda.reset_peak_memory_stats()
    call()
    return f", GiB {torch.cuda.max_memory_allocated() / 2**30:.1f}"


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
    main()
