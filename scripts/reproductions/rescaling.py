"""Reproduce BERTScore rescaling: random and judged pairs before and after.

    OMP_NUM_THREADS=1 python scripts/reproduce.py rescaling --wmt17 ../shared/data/human/wmt_da/wmt17_da_seg.tsv.gz

Prints the baseline; writes Markdown and PNG.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reproductions.claims import within
from reproductions.estimate import Estimate, estimate
from reproductions.reproduction import Reproduction, run
from reproductions.twmd.metrics import TOKENS
from reproductions.twmd.pairs import SentencePairs, pairs_of, score_all
from rewards.embedding.metrics import bertscore
from rewards.embedding.rescaling import random_pairs
from rewards.embedding.reward import rescaled
from rewards.encoding.layers import Layer
from rlsum.evaluation.rows import Floats
from rlsum.judgments.registry import load
from rlsum.pages.pictures.curves import Curve, Panel, picture
from rlsum.pages.pictures.drawing import COLOURS
from rlsum.pages.table import Table, text_table

BINS = 60
ROUNDING = 1e-9
HUMAN = Path("../shared/data/human")


def main(arguments: Sequence[str]) -> None:
    options = parsed(arguments)
    pairs = pairs_of(load(f"wmt-da:{options.wmt17}"), "WMT17", options.limit)
    settings = options.pairs, options.encoder, options.layer, options.seed
    run("rescaling", lambda: rescaling(pairs, *settings), options.out)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "reproduce.py rescaling", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wmt17", type=Path, default=HUMAN / "wmt_da/wmt17_da_seg.tsv.gz", metavar="PATH")
    parser.add_argument("--out", type=Path, default=Path("runs/rescaling"), help="folder for Markdown and PNG")
    parser.add_argument("--encoder", default="minilm", help="minilm, a directory, or a hub name")
    parser.add_argument("--layer", help="default: 10 of 12, 19 of 24, otherwise at 5/6 of the depth")
    parser.add_argument("--pairs", type=int, default=10_000, help="random pairs of references for the baseline")
    parser.add_argument("--limit", type=int, metavar="N", help="use only the first N pairs of each group, for a trial")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def rescaling(
    pairs: SentencePairs, count: int, encoder: str = "minilm", layer: Layer = None, seed: int = 0
) -> Reproduction:
    """A baseline from ``count`` random pairs of references, and its effect on scores and correlations."""
    metrics = [bertscore(encoder=encoder, layer=layer, direction=direction) for direction in TOKENS]
    drawn_pairs = random_pairs(pairs.references, count, seed)
    random = score_all(metrics, [first for first, _ in drawn_pairs], [second for _, second in drawn_pairs])
    judged = score_all(metrics, pairs.candidates, pairs.references)
    base = np.nanmean(random, axis=1)
    loaded = metrics[0].space.source.load()
    short = Path(encoder).name
    what = f"BERTScore, {encoder} ({loaded.name}), layer {loaded.layers}"
    caption = f"{what}; {count:,} random pairs and {len(pairs):,} judged pairs of {pairs.name}"
    table = _table(caption, random, judged, base)
    changes: dict[str, Estimate] = {
        direction: estimate(pairs.human, scores, pairs.inputs, "pearson", 200)
        - estimate(pairs.human, rescaled(scores, b), pairs.inputs, "pearson", 200)
        for direction, scores, b in zip(TOKENS, judged, base, strict=True)
    }
    claim = within("Rescaling does not change correlations", changes, -ROUNDING, ROUNDING)
    f1 = list(TOKENS).index("f1")
    panels = [
        _densities(f"{short}, before", random[f1], judged[f1]),
        _densities(f"{short}, after", rescaled(random[f1], base[f1]), rescaled(judged[f1], base[f1])),
    ]
    drawn = picture("rescaling-distribution", "Rescaling", "Densities of BERTScore F1 before and after", panels)
    return Reproduction("rescaling", (table,), (drawn,), (claim,))


def _table(caption: str, random: Floats, judged: Floats, base: Floats) -> Table:
    header = ("direction", "baseline", "random pairs", "after", "judged pairs", "after")
    rows = []
    for direction, b, *kinds in zip(TOKENS, base, random, judged, strict=True):
        spreads = [_spread(values) for scores in kinds for values in (scores, rescaled(scores, float(b)))]
        rows.append((direction, f"{b:.4f}", *spreads))
    return text_table(f"{caption}; mean and deviation", header, rows)


def _spread(scores: Floats) -> str:
    return f"{np.nanmean(scores):.3f} ± {np.nanstd(scores):.3f}"


def _densities(when: str, random: Floats, judged: Floats) -> Panel:
    """Histograms of both kinds of pairs as lines."""
    kinds = {"random pairs": random[~np.isnan(random)], "a translation and its reference": judged[~np.isnan(judged)]}
    curves = []
    for (name, scores), colour in zip(kinds.items(), COLOURS, strict=False):
        heights, edges = np.histogram(scores, BINS, density=True)
        curves.append(Curve(name, colour, (edges[1:] + edges[:-1]) / 2, heights, smooth=True))
    return Panel(f"{when} rescaling", tuple(curves), "BERTScore F1 (density)")
