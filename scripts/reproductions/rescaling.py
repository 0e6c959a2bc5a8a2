"""Reproduce BERTScore rescaling: random and judged pairs, and the cosines of two sentences, before and after.

    OMP_NUM_THREADS=1 python scripts/reproduce.py rescaling --wmt17 ../shared/data/human/wmt_da/wmt17_da_seg.tsv.gz

Prints the baseline, with the published one if there is one; writes CSV, Markdown and PNG.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.claims import within
from reproductions.estimate import Estimate, estimate
from reproductions.published import ABSENT
from reproductions.reproduction import Reproduction, run
from reproductions.twmd.metrics import TOKENS
from reproductions.twmd.pairs import SentencePairs, pairs_of, score_all
from rewards.embedding.metrics import bertscore
from rewards.embedding.rescaling import PUBLISHED, random_pairs
from rewards.embedding.reward import EmbeddingReward, rescaled
from rewards.encoding.layers import Layer
from rewards.explain import explain
from rlsum.errors import UserError
from rlsum.explain.picture import png
from rlsum.judgments.registry import load
from rlsum.pages.pictures.curves import Curve, Panel, picture
from rlsum.pages.pictures.drawing import COLOURS, Picture
from rlsum.pages.table import Table, text_table

Floats = NDArray[np.float64]

BINS = 60
ROUNDING = 1e-9
HUMAN = Path("../shared/data/human")
EXAMPLE = ("the mayor opened the new bridge on monday .", "a bridge was opened by the city's mayor yesterday .")


def main(arguments: Sequence[str]) -> None:
    options = parsed(arguments)
    pairs = pairs_of(load(f"wmt-da:{options.wmt17}"), "WMT17", options.limit)
    given = options.pairs, tuple(options.example), options.encoder, options.layer, options.baselines, options.seed
    run("rescaling", lambda: rescaling(pairs, *given), options.out)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "reproduce.py rescaling", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wmt17", type=Path, default=HUMAN / "wmt_da/wmt17_da_seg.tsv.gz", metavar="PATH")
    parser.add_argument(
        "--baselines",
        type=Path,
        default=HUMAN / "bertscore_rescale_baseline/bert_score/rescale_baseline/en",
        metavar="FOLDER",
        help="bert-score's published baselines for English",
    )
    parser.add_argument("--out", type=Path, default=Path("runs/rescaling"), help="folder for CSV, Markdown and PNG")
    parser.add_argument("--encoder", default="minilm", help="minilm, a directory, or a hub name")
    parser.add_argument("--layer", help="default: 10 of 12, 19 of 24, otherwise at 5/6 of the depth")
    parser.add_argument("--pairs", type=int, default=10_000, help="random pairs of references for the baseline")
    parser.add_argument("--example", nargs=2, default=EXAMPLE, metavar=("CANDIDATE", "REFERENCE"))
    parser.add_argument("--limit", type=int, metavar="N", help="use only the first N pairs of each group, for a trial")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def rescaling(
    pairs: SentencePairs,
    count: int,
    example: tuple[str, str],
    encoder: str = "minilm",
    layer: Layer = None,
    baselines: Path | None = None,
    seed: int = 0,
) -> Reproduction:
    """A baseline from ``count`` random pairs of references, and its effect on scores, correlations and a matrix.

    ``baselines``: the folder of bert-score's English files, which may have a published baseline for the encoder.
    """
    metrics = [bertscore(encoder=encoder, layer=layer, direction=direction) for direction in TOKENS]
    drawn = random_pairs(pairs.references, count, seed)
    random = score_all(metrics, [one for one, _ in drawn], [other for _, other in drawn])
    judged = score_all(metrics, pairs.candidates, pairs.references)
    base = np.nanmean(random, axis=1)
    loaded = metrics[0].space.source.load()
    short = Path(encoder).name
    what = f"BERTScore, {encoder} ({loaded.name}), layer {loaded.layers}"
    published = [_published(baselines, encoder, str(loaded.layers), direction) for direction in TOKENS]
    caption = f"{what}; {count:,} random pairs and {len(pairs):,} judged pairs of {pairs.name}"
    table = _table(caption, random, judged, base, published)
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
    drawings = (
        picture("rescaling-distribution", "Rescaling", "Densities of BERTScore F1 before and after rescaling", panels),
        *_matrices(metrics[f1], float(base[f1]), example),
    )
    return Reproduction(
        "rescaling", (table,), _records(loaded.name, random, judged, base, published), drawings, (claim,)
    )


def _table(caption: str, random: Floats, judged: Floats, base: Floats, published: Sequence[float]) -> Table:
    header = ("direction", "baseline", "published", "random pairs", "after", "judged pairs", "after")
    rows = []
    for direction, b, known, one, other in zip(TOKENS, base, published, random, judged, strict=True):
        spreads = [_spread(values) for scores in (one, other) for values in (scores, rescaled(scores, float(b)))]
        rows.append((direction, f"{b:.4f}", ABSENT if math.isnan(known) else f"{known:.4f}", *spreads))
    return text_table(f"{caption}; mean and deviation", header, rows)


def _records(
    encoder: str, random: Floats, judged: Floats, base: Floats, published: Sequence[float]
) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "encoder": encoder,
            "direction": direction,
            "baseline": round(float(b), 6),
            "published": ABSENT if math.isnan(known) else known,
            "random_mean": round(float(np.nanmean(one)), 6),
            "random_after": round(float(np.nanmean(rescaled(one, float(b)))), 6),
            "judged_mean": round(float(np.nanmean(other)), 6),
            "judged_after": round(float(np.nanmean(rescaled(other, float(b)))), 6),
        }
        for direction, b, known, one, other in zip(TOKENS, base, published, random, judged, strict=True)
    )


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


def _matrices(metric: EmbeddingReward, base: float, example: tuple[str, str]) -> list[Picture]:
    """The cosines of two sentences, and the same rescaled."""
    before = explain(metric, *example)
    after = replace(before, values=rescaled(before.values, base), score=float(rescaled(np.array(before.score), base)))
    return [
        Picture(
            f"rescaling-matrix-{when}", "Matrix", f"Cosines between two sentences {when} rescaling", 600,
            png(matrix, "light")[0], png(matrix, "dark")[0],
        )
        for when, matrix in (("before", before), ("after", after))
    ]  # fmt: skip


def _published(folder: Path | None, encoder: str, layer: str, direction: str) -> float:
    """The baseline of bert-score for an encoder, NaN if ``folder`` has none."""
    path = None if folder is None else folder / f"{encoder}.tsv"
    if path is None or not path.is_file():
        return math.nan
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["LAYER"]: row for row in csv.DictReader(file)}
    try:
        return float(rows[layer][PUBLISHED[direction]]) if layer in rows else math.nan
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: layer {layer} has no number {error}") from error
