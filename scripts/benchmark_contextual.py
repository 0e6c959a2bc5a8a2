"""CPU seconds of the contextual metrics beside their encoder alone, and beside bert-score where it is installed.

    OMP_NUM_THREADS=1 python scripts/benchmark_contextual.py outputs.jsonl --candidate candidate --reference reference

Each round takes other pairs of the file (.gz too) and measures everything on them in turn, in one process; printed are
medians of ratios. The encoder alone is a plain loop over length-sorted batches: tokenize, pad, forward.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import torch

import rewards
from rewards.encoder import BATCH, Source, locate

FAMILY = ("bertscore", "twmd", "trwmd", "sbert", "cka", "moverscore")
Pairs = tuple[list[str], list[list[str]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="JSONL with a candidate and a reference a line")
    parser.add_argument("--candidate", default="candidate", help="its key")
    parser.add_argument("--reference", default="reference", help="its key")
    parser.add_argument("--pairs", type=int, default=100, help="in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--encoder", default="minilm")
    options = parser.parse_args()
    torch.set_num_threads(1)
    sets = read_pairs(options.file, options.candidate, options.reference, options.pairs, options.rounds + 1)
    metrics = {name: rewards.load(name, encoder=options.encoder) for name in FAMILY}
    encoder = Source(locate(options.encoder), None).load()
    peer = bert_score(locate(options.encoder), encoder.layers.last)
    for metric in metrics.values():  # warmed up on other texts
        metric(*sets[-1])

    found = defaultdict(list)
    for (candidates, references), (others, _) in pairwise(sets):
        texts = candidates + [text for texts in references for text in texts]
        alone = seconds(encode, encoder, texts)
        found["pairs a second, encoder alone"].append(len(candidates) / alone)
        for name in ("bertscore", "twmd"):
            encoder.forget()
            found[f"{name} / encoder alone"].append(seconds(metrics[name], candidates, references) / alone)
        if peer is not None:
            found["bert-score / encoder alone"].append(seconds(peer, candidates, references) / alone)
        for name, metric in metrics.items():
            found[f"{name} on known texts / encoder alone"].append(seconds(metric, candidates, references) / alone)
        encoder.forget()
        first = seconds(metrics["bertscore"], others, references)
        encoder.forget()
        metrics["bertscore"](candidates, references)
        second = seconds(metrics["bertscore"], others, references)
        found["first pass / pass over known references"].append(first / second)
        texts = others + [text for texts in references for text in texts]
        bound = seconds(encode, encoder, texts) / seconds(encode, encoder, others)
        found["the same, encoder alone (the bound)"].append(bound)
    for label, values in found.items():
        print(f"{label:45} {statistics.median(values):7.3f}   {min(values):.3f} to {max(values):.3f}")


def read_pairs(path: Path, candidate: str, reference: str, size: int, sets: int) -> list[Pairs]:
    """``sets`` lists of ``size`` pairs."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for _, line in zip(range(size * sets), file, strict=False)]
    if len(rows) < size * sets:
        raise SystemExit(f"{path}: {len(rows)} lines, {size * sets} needed")
    texts = [(as_text(row[candidate]), [as_text(row[reference])]) for row in rows]
    parts = [texts[start : start + size] for start in range(0, len(texts), size)]
    return [([one for one, _ in part], [other for _, other in part]) for part in parts]


def as_text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def seconds(work: Callable[..., object], *arguments: object) -> float:
    """CPU seconds of this process."""
    started = time.process_time()
    work(*arguments)
    return time.process_time() - started


def encode(encoder, texts: list[str]) -> None:
    """What every metric must do at least."""
    tokenizer = encoder.windows.tokenizer
    ids = sorted(tokenizer(texts, truncation=True, max_length=encoder.windows.limit)["input_ids"], key=len)
    size = BATCH[encoder.device]
    with torch.inference_mode():
        for start in range(0, len(ids), size):
            batch = tokenizer.pad({"input_ids": ids[start : start + size]}, return_tensors="pt").to(encoder.device)
            encoder.model(**batch)


def bert_score(place: str, layer: int) -> Callable[[list[str], list[list[str]]], object] | None:
    try:
        from bert_score import BERTScorer
    except ImportError:
        return None
    scorer = BERTScorer(model_type=place, num_layers=layer, nthreads=0)
    return lambda candidates, references: scorer.score(candidates, references, batch_size=64)


if __name__ == "__main__":
    main()
