"""Pairs a CPU second of ROUGE-1, 2, L and Lsum together, beside rouge-score, whose scores must be equal bit for bit.

    OMP_NUM_THREADS=1 python scripts/scoring/rouge.py outputs.jsonl --pairs 4000

Texts are new in every round: their lines are in another order. Words are known from the first round on.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from statistics import median

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

import rewards
from rlsum.records import read_outputs

NAMES = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL", "rouge-lsum(split=lines)": "rougeLsum"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", type=Path)
    parser.add_argument("--pairs", type=int, default=4000)
    parser.add_argument("--peer-pairs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    outputs = read_outputs(options.outputs)[: options.pairs]
    scorers = [rewards.load(name) for name in NAMES]
    theirs = RougeScorer([*NAMES.values()], use_stemmer=True)
    ours, peers = [], []
    for number in range(options.rounds):
        pairs = [(shuffled(row.candidate, chance), shuffled(row.references[0], chance)) for row in outputs]
        begun = time.process_time()
        scores = [scorer([c for c, _ in pairs], [[r] for _, r in pairs]) for scorer in scorers]
        ours.append(len(pairs) / (time.process_time() - begun))
        begun = time.process_time()
        official = [theirs.score(reference, candidate) for candidate, reference in pairs[: options.peer_pairs]]
        peers.append(len(official) / (time.process_time() - begun))
        for column, name in zip(scores, NAMES.values(), strict=True):
            assert np.array_equal(column[: len(official)], [row[name].fmeasure for row in official]), name
        print(f"round {number + 1}: ours {ours[-1]:,.0f}, rouge-score {peers[-1]:,.0f}", flush=True)
    print(f"median: ours {median(ours):,.0f}, rouge-score {median(peers):,.0f} pairs a CPU second")


def shuffled(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    chance.shuffle(lines)
    return "\n".join([*lines, f"number {chance.random()}"])


if __name__ == "__main__":
    main()
