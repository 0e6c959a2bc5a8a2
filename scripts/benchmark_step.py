"""CPU seconds and memory of one training step: likelihood, self-critical, mixed.

    OMP_NUM_THREADS=1 python scripts/benchmark_step.py

Batch 8, 400 source and 100 target tokens, vocabulary 50,000, hidden 256, embedding 128, nothing stops early. A step is
loss, backward pass, clipping and Adam. Beside ours stand figures published for other implementations at this size (see
docs/results.md for whence and for the machine); compare machines only by a run of each on the same one.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import time
from collections.abc import Callable

import torch

import rewards
from rlsum.data.batch import Batch, collate
from rlsum.data.vocabulary import EOS, Vocabulary
from rlsum.models.pointer_generator import NEVER, PointerGenerator
from rlsum.models.sizes import PointerGeneratorConfig
from rlsum.steps import MixedStep, MLEStep, StepResult

PEERS = {
    "rohithreddy024/Text-Summarizer-Pytorch": (15.2, 19.4, 32.0),
    "the same, attention projection hoisted": (9.0, 11.6, 18.5),
    "atulkum/pointer_summarizer": (8.2, None, None),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--reward", default="rouge-l", help="reward of the self-critical step")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    vocabulary = Vocabulary.build([[f"w{i}" for i in range(49_996)]], 49_996)
    batch = random_batch(vocabulary)
    model = PointerGenerator(PointerGeneratorConfig(embedding=128, hidden=256), vocabulary)
    with torch.no_grad():
        model.word_out.bias[EOS] = NEVER  # nothing ends before 100 tokens
    reward = TimedReward(rewards.from_spec(options.reward))
    mle = MLEStep()
    rl = MixedStep(reward, 1.0, 1.0, 1, 100, mle)
    mixed = MixedStep(reward, 0.97, 1.0, 1, 100, mle)
    steps: dict[str, Callable[[], StepResult]] = {
        "MLE": lambda: mle(model, batch),
        "RL": lambda: rl(model, model, batch),
        "MLE+RL": lambda: mixed(model, model, batch),
    }
    print(f"{'CPU seconds a step':44} {'MLE':>7} {'RL':>7} {'MLE+RL':>7}")
    for name, figures in PEERS.items():
        print(f"{name:44} " + " ".join(f"{x:7.1f}" if x is not None else f"{'-':>7}" for x in figures))
    measured = {name: measure(step, model, reward, options.repeats) for name, step in steps.items()}
    print(f"{'rlsum':44} " + " ".join(f"{seconds:7.2f}" for seconds, _ in measured.values()))
    shares = ", ".join(f"{share:.2%} of the {name} step" for name, (_, share) in measured.items() if share)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"reward {options.reward}: {shares}; peak memory {peak:.2f} GiB")


class TimedReward:
    """A reward that keeps the CPU seconds it took."""

    def __init__(self, reward: rewards.Reward) -> None:
        self.reward, self.name, self.signature, self.seconds = reward, reward.name, reward.signature, 0.0

    def __call__(self, candidates, references=None, sources=None):  # noqa: D102
        started = time.process_time()
        values = self.reward(candidates, references, sources)
        self.seconds += time.process_time() - started
        return values


def random_batch(vocabulary: Vocabulary) -> Batch:
    """Eight articles of 400 random words, one in 33 unknown, with summaries of 99 words and the end token."""
    rng = random.Random(1)
    known = vocabulary.words[4:]

    def text(length: int) -> list[str]:
        return [f"unknown{rng.randrange(30)}" if rng.random() < 0.03 else rng.choice(known) for _ in range(length)]

    articles, summaries = [text(400) for _ in range(8)], [text(99) for _ in range(8)]
    rows = {
        "id": [str(i) for i in range(8)],
        "source": [" ".join(tokens) for tokens in articles],
        "references": [[" ".join(tokens)] for tokens in summaries],
        "src_tokens": articles,
        "tgt_tokens": summaries,
        "tgt_whole": [True] * 8,
    }
    return collate(rows, vocabulary)


def measure(
    step: Callable[[], StepResult], model: PointerGenerator, reward: TimedReward, repeats: int
) -> tuple[float, float]:
    """The median CPU seconds of an update after one to warm up, and the reward's share of them."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    seconds, shares = [], []
    for _ in range(repeats + 1):
        reward.seconds, started = 0.0, time.process_time()
        step().loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.process_time() - started)
        shares.append(reward.seconds / seconds[-1])
    return statistics.median(seconds[1:]), statistics.median(shares[1:])


if __name__ == "__main__":
    main()
