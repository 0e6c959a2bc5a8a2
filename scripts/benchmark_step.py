"""CPU seconds and memory of one training step: likelihood, self-critical, mixed.

    OMP_NUM_THREADS=1 python scripts/benchmark_step.py

Batch 8, 400 source and 100 target tokens, vocabulary 50,000, hidden 256, embedding 128, nothing stops early. A step is
loss, backward pass, clipping and Adam. The table also shows numbers published for other implementations at this size
(see docs/results/speed.md for their source and the machine); compare implementations only on the same machine.

The reward of the steps is ROUGE-L. For every reward, the seconds for the 16 texts of a step are printed, too. These
texts have 100 words in five sentences, each word with a random vector; none is cached.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import string
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import rewards
from rlsum.data.batch import Batch, collate
from rlsum.data.vocabulary import EOS, Vocabulary
from rlsum.models.pointer_generator import NEVER, PointerGenerator
from rlsum.models.sizes import PointerGeneratorConfig
from rlsum.training.estimators import Credit
from rlsum.training.update import MixedStep, MLEStep, PolicyGradient, StepResult

KNOWN = 5000  # words with vectors in the texts that are rewarded: as many as a file that is written in no time holds
PEERS = {
    "rohithreddy024/Text-Summarizer-Pytorch": (15.2, 19.4, 32.0),
    "the same, attention projection hoisted": (9.0, 11.6, 18.5),
    "atulkum/pointer_summarizer": (8.2, None, None),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rewards", default="rouge-l,wms,sms,s+wms", help="rewards whose seconds are measured")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    words = [word(i) for i in range(49_995)] + ["."]
    vocabulary = Vocabulary.build([words], len(words))
    batch = random_batch(vocabulary, words)
    model = PointerGenerator(PointerGeneratorConfig(embedding=128, hidden=256), vocabulary)
    with torch.no_grad():
        model.word_out.bias[EOS] = NEVER  # nothing ends before 100 tokens
    reward, mle = rewards.from_spec("rouge-l"), MLEStep()
    credit = Credit("self-critical", "constant", 100)
    rl = MixedStep(model, reward, lambda _: 1.0, 1, 100, PolicyGradient(), mle, credit)
    mixed = MixedStep(model, reward, lambda _: 0.97, 1, 100, PolicyGradient(), mle, credit)
    steps: dict[str, Callable[[], StepResult]] = {
        "MLE": lambda: mle(model, batch),
        "RL": lambda: rl(0, model, batch),
        "MLE+RL": lambda: mixed(0, model, batch),
    }
    print(f"{'CPU seconds a step':44} {'MLE':>7} {'RL':>7} {'MLE+RL':>7}")
    for name, figures in PEERS.items():
        print(f"{name:44} " + " ".join(f"{x:7.1f}" if x is not None else f"{'-':>7}" for x in figures))
    seconds = {name: measure(step, model, options.repeats) for name, step in steps.items()}
    print(f"{'rlsum':44} " + " ".join(f"{value:7.2f}" for value in seconds.values()))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    for name, cost in reward_seconds(options.rewards.split(","), words[:KNOWN], options.repeats).items():
        print(f"{name:8} {cost:.3f} s: {cost / seconds['RL']:.1%} of RL, {cost / seconds['MLE+RL']:.1%} of MLE+RL")


def reward_seconds(names: list[str], words: list[str], repeats: int) -> dict[str, float]:
    """The median CPU seconds of each reward for the 16 texts of a step, eight references each given twice."""
    rng, found = random.Random(2), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vectors.txt")
        vectors = np.random.default_rng(1).normal(size=(len(words), 300)) / 300**0.5  # of about unit length
        path.write_text(
            "".join(f"{w} {' '.join(f'{x:.4f}' for x in v)}\n" for w, v in zip(words, vectors, strict=True))
        )
        for name in names:
            reward = rewards.from_spec(f"{name}(vectors={path})" if "wms" in name or "sms" in name else name)
            seconds = []
            for _ in range(repeats + 1):  # the first loads
                candidates, references = ([" ".join(text(99, words, rng)) for _ in range(n)] for n in (16, 8))
                started = time.process_time()
                reward(candidates, [[reference] for reference in references * 2])
                seconds.append(time.process_time() - started)
            found[name] = statistics.median(seconds[1:])
    return found


def word(number: int) -> str:
    """A word of letters, since some rewards weigh no others."""
    letters = ""
    for _ in range(4):
        number, digit = divmod(number, 26)
        letters += string.ascii_lowercase[digit]
    return f"q{letters}"


def text(length: int, words: list[str], rng: random.Random) -> list[str]:
    """Random words in sentences of twenty, the full stop counted, one word in 33 unknown."""
    unknown = [f"unknown{string.ascii_lowercase[i]}" for i in range(26)]
    drawn = [rng.choice(unknown) if rng.random() < 0.03 else rng.choice(words) for _ in range(length)]
    return ["." if i % 20 == 19 else token for i, token in enumerate(drawn)]


def random_batch(vocabulary: Vocabulary, words: list[str]) -> Batch:
    """Eight articles of 400 tokens with summaries of 99 and the end token."""
    rng = random.Random(1)
    articles, summaries = ([text(length, words, rng) for _ in range(8)] for length in (400, 99))
    rows = {
        "id": [str(i) for i in range(8)],
        "source": [" ".join(tokens) for tokens in articles],
        "references": [[" ".join(tokens)] for tokens in summaries],
        "src_tokens": articles,
        "tgt_tokens": summaries,
        "tgt_whole": [True] * 8,
    }
    return collate(rows, vocabulary)


def measure(step: Callable[[], StepResult], model: PointerGenerator, repeats: int) -> float:
    """The median CPU seconds of an update after one to warm up."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    seconds = []
    for _ in range(repeats + 1):
        started = time.process_time()
        step().loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds[1:])


if __name__ == "__main__":
    main()
