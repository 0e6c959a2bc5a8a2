"""Pairs a CPU second of ROUGE-1, 2, L and Lsum together, beside rouge-score, whose scores must be equal bit for bit.

    OMP_NUM_THREADS=1 python scripts/scoring/rouge.py outputs.jsonl --pairs 4000

Also of rouge-score-rs where it is installed, of BLEU beside sacrebleu, of METEOR, and of ROUGE-Lsum of texts of one
line. Texts are new in every round: their lines are in another order. Words are known from the first round on.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU

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
    scorers = {name: rewards.load(name) for name in (*NAMES, "bleu", "meteor", "rouge-lsum")}
    peers: dict[str, Any] = {"rouge-score": RougeScorer([*NAMES.values()], use_stemmer=True)}
    if find_spec("rouge_score_rs"):
        rust = import_module("rouge_score_rs.rouge_scorer")
        peers["rouge-score-rs"] = rust.RougeScorer([*NAMES.values()], use_stemmer=True)
    rounds = []
    for number in range(options.rounds):
        pairs = [(shuffled(row.candidate, chance), shuffled(row.references[0], chance)) for row in outputs]
        rounds.append(rates(pairs, pairs[: options.peer_pairs], scorers, peers))
        print(f"round {number + 1}: {shown(rounds[-1])}", flush=True)
    print(f"median: {shown({name: median(row[name] for row in rounds) for name in rounds[0]})} pairs a CPU second")


def rates(
    pairs: list[tuple[str, str]], some: list[tuple[str, str]], scorers: dict[str, Any], peers: dict[str, Any]
) -> dict[str, float]:
    """Pairs a CPU second: all by ours, some by others."""
    speeds: dict[str, float] = {}

    def timed(name: str, number: int, compute: Callable[[], Any]) -> Any:
        begun = time.process_time()
        result = compute()
        speeds[name] = number / (time.process_time() - begun)
        return result

    texts, lists, sacrebleu = [text for text, _ in pairs], [[text] for _, text in pairs], BLEU(effective_order=True)
    scores = timed("four ROUGE", len(pairs), lambda: [scorers[name](texts, lists) for name in NAMES])
    for peer, theirs in peers.items():
        official = timed(peer, len(some), partial(scored, theirs, some))
        for column, name in zip(scores, NAMES.values(), strict=True):
            assert np.array_equal(column[: len(some)], [row[name].fmeasure for row in official]), (peer, name)
    timed("bleu", len(pairs), lambda: scorers["bleu"](texts, lists))
    timed("sacrebleu", len(some), lambda: [sacrebleu.sentence_score(text, [text]) for text, text in some])
    timed("meteor", len(pairs), lambda: scorers["meteor"](texts, lists))
    lines, others = [" ".join(text.split()) for text in texts], [[" ".join(text.split())] for _, text in pairs]
    timed("rouge-lsum of one line", len(pairs), lambda: scorers["rouge-lsum"](lines, others))
    return speeds


def scored(scorer: Any, pairs: list[tuple[str, str]]) -> list[Any]:
    return [scorer.score(reference, text) for text, reference in pairs]


def shown(speeds: dict[str, float]) -> str:
    return ", ".join(f"{name} {speed:,.0f}" for name, speed in speeds.items())


def shuffled(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    chance.shuffle(lines)
    return "\n".join([*lines, f"number {chance.random()}"])


if __name__ == "__main__":
    main()
