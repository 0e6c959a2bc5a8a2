"""Speed of the rewards and of their peers: CPU seconds of one process with one thread, medians over rounds.

    OMP_NUM_THREADS=1 python scripts/speed/benchmark_rewards.py outputs.jsonl --vectors vectors.txt.gz

``outputs.jsonl`` has one candidate with its references per line, as written by ``rlsum data outputs``. Peers are
gensim, POT and bert-score (``pip install 'rlsum[bench]'``). Each round measures ours and theirs in turn, after a
warm-up on other pairs. Raw texts are new for each measurement, so that no cache contains them; single words may be
cached.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from ot.lp.emd_wrap import emd_c

import rewards
from rewards.encoding.loading import EncoderSource, locate
from rewards.encoding.vectors import read_vectors
from rewards.mover.items import Rows, items_of, mover_similarity
from rewards.mover.static import WordSpace
from rewards.text.sentences import content_words
from rewards.transport import PIVOTS, exact_cost
from rlsum.records import read_outputs

MEASURED = {"bertscore": {}, "twmd": {}, "bertscore, bfloat16": {"dtype": "bfloat16"}}
Pairs = tuple[list[str], list[list[str]]]  # candidates, their references


@dataclass
class Goal:
    """One line of the table: seconds of ours and of the peer, a round each, for ``size`` items."""

    label: str
    rule: Literal["a second >=", "peer / ours >=", "ours / peer <="]
    bound: float
    size: int = 0
    ours: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)

    def add(self, size: int, ours: float, peer: float = float("nan")) -> None:
        """One more round."""
        self.size = size
        self.ours.append(ours)
        self.peer.append(peer)

    def row(self) -> str:
        """The medians, and whether they meet the goal, as a line of Markdown."""
        ours, peer = (self.size / statistics.median(times) for times in (self.ours, self.peer))
        ratios = [a / b for a, b in zip(self.ours, self.peer, strict=True)]
        if self.rule == "a second >=":
            figure = ours
        else:
            figure = statistics.median(ratios if self.rule == "ours / peer <=" else [1 / ratio for ratio in ratios])
        met = figure <= self.bound if self.rule == "ours / peer <=" else figure >= self.bound
        shown = "" if self.rule == "a second >=" else f"{figure:.2f}"
        theirs = "" if np.isnan(peer) else f"{peer:,.0f}" if peer > 100 else f"{peer:.1f}"
        rate = f"{ours:,.0f}" if ours > 100 else f"{ours:.1f}"
        return f"| {self.label} | {rate} | {theirs} | {shown} | {self.rule} {self.bound:,} | {'yes' if met else 'NO'} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="records with a candidate and references")
    parser.add_argument("--vectors", required=True, help="word2vec text file for the movers")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--pairs", type=int, default=500, help="of the movers, in a measurement")
    parser.add_argument("--encoded-pairs", type=int, default=500, help="of the contextual metrics, in a round")
    parser.add_argument("--warm-up", type=int, default=1500, help="other pairs, read before")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        raise SystemExit("one thread is measured: set OMP_NUM_THREADS=1 before python starts")
    torch.set_num_threads(1)
    outputs = read_outputs(options.file)
    random.Random(0).shuffle(outputs)  # a file may be in order of source or length
    rows = ((output.candidate, [output.references[0]]) for output in outputs)
    print("| what | ours, a second | peer's, a second | ratio | goal | met |\n| :-- | --: | --: | --: | :-- | :-- |")
    for measure in (mover_goals, contextual_goals):
        print("\n".join(goal.row() for goal in measure(partial(take, rows), options)), flush=True)


def take(rows: Iterator[tuple[str, list[str]]], size: int) -> Pairs:
    """The next pairs of the file."""
    records = [row for row, _ in zip(rows, range(size), strict=False)]
    if len(records) < size:
        raise SystemExit("the file holds too few records for so many pairs and rounds")
    return [candidate for candidate, _ in records], [references for _, references in records]


def seconds(work: Callable[..., object], *arguments: object) -> float:
    started = time.process_time()
    work(*arguments)
    return time.process_time() - started


def rows_of(space: WordSpace, text: Sequence[Sequence[str]]) -> Rows:
    """Rows of each sentence's words, without dropped words and empty sentences."""
    get, unknown = space.index.get, space.unknown
    kept = (tuple([row for word in words if (row := get(word, unknown)) is not None]) for words in text)
    return [rows for rows in kept if rows]


def mover_goals(fresh: Callable[[int], Pairs], options: argparse.Namespace) -> list[Goal]:
    """WMS and SMS from raw texts and from tokens, and gensim's ``wmdistance``; both drop unknown words."""
    from gensim.models import KeyedVectors

    wms, sms = (rewards.load(name, vectors=options.vectors, normalize="unit", oov="drop") for name in ("wms", "sms"))
    space = WordSpace.of(read_vectors(options.vectors), "unit", "drop")
    peer = KeyedVectors.load_word2vec_format(options.vectors)
    peer.fill_norms()
    raw = Goal("WMS from raw text", "a second >=", 2500)
    ready = Goal("WMS from ready tokens; gensim", "peer / ours >=", 4)
    sentences = Goal("SMS from raw text", "a second >=", 3500)

    def gensim_from_tokens(*sides: Sequence[Sequence[Sequence[str]]]) -> list[float]:
        flat = [[list(chain.from_iterable(text)) for text in side] for side in sides]
        return [peer.wmdistance(*pair) for pair in zip(*flat, strict=True)]

    def ours_from_tokens(*sides: Sequence[Sequence[Sequence[str]]]) -> list[float]:
        items = ([items_of(rows_of(space, text), space.table, "words") for text in side] for side in sides)
        return [mover_similarity(*pair) for pair in zip(*items, strict=True)]

    warm = fresh(options.warm_up)
    for work in (wms, sms):
        work(*warm)
    for _ in range(options.rounds):
        pairs, size = fresh(options.pairs), options.pairs
        raw.add(size, seconds(wms, *pairs))
        sentences.add(size, seconds(sms, *fresh(size)))
        tokens = [content_words(text) for text in pairs[0]], [content_words(text) for (text,) in pairs[1]]
        ready.add(size, seconds(ours_from_tokens, *tokens), seconds(gensim_from_tokens, *tokens))
        np.testing.assert_allclose(ours_from_tokens(*tokens), np.exp(-np.array(gensim_from_tokens(*tokens))), atol=1e-6)
    return [raw, ready, sentences]


def contextual_goals(fresh: Callable[[int], Pairs], options: argparse.Namespace) -> list[Goal]:
    """BERTScore and TWMD compared with bert-score, and exact transport with POT's solver."""
    from bert_score import BERTScorer

    metrics = {
        name: rewards.load(name.partition(",")[0], encoder=options.encoder, **extra) for name, extra in MEASURED.items()
    }
    space = rewards.load("moverscore", encoder=options.encoder).space
    encoder = EncoderSource(locate(options.encoder), None).load()
    peer = BERTScorer(model_type=locate(options.encoder), num_layers=encoder.layers.last, nthreads=0)
    faster = {name: Goal(f"{name} end to end; bert-score", "peer / ours >=", 1.15) for name in MEASURED}
    solved = Goal("exact transport of tokens; POT's solver alone", "ours / peer <=", 1.2)

    for work in (*metrics.values(), partial(peer.score, batch_size=64)):
        work(*fresh(8))
    for _ in range(options.rounds):
        (candidates, references), size = fresh(options.encoded_pairs), options.encoded_pairs
        theirs = seconds(partial(peer.score, batch_size=64), candidates, references)
        for name in MEASURED:
            metrics[name].space.source.load().forget()
            faster[name].add(size, seconds(metrics[name], candidates, references), theirs)
        problems = transport_problems(space, candidates, references)
        solved.add(size, seconds(solve, exact_cost, problems), seconds(solve, bare_solver, problems))
    return [*faster.values(), solved]


Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def transport_problems(space, candidates: list[str], references: list[list[str]]) -> list[Problem]:
    """Weights and costs of MoverScore."""
    flat = list(chain.from_iterable(references))
    first, second = space.sides(candidates, flat, space.encode(candidates + flat))
    pairs = [(first[candidate], second[reference]) for candidate, reference in zip(candidates, flat, strict=True)]
    return [(a.weights.numpy(), b.weights.numpy(), (1.0 - a.vectors @ b.vectors.T).numpy()) for a, b in pairs]


def solve(solver: Callable[..., object], problems: list[Problem]) -> None:
    for problem in problems:
        solver(*problem)


def bare_solver(first: np.ndarray, second: np.ndarray, cost: np.ndarray) -> object:
    return emd_c(first, second * (first.sum() / second.sum()), cost, PIVOTS, 1)


if __name__ == "__main__":
    main()
