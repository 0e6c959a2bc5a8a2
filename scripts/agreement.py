"""Judgments for `rlsum correlate` that no reader joins with their texts, and metrics as judges of faithfulness.

    python scripts/agreement.py prepare --data ../shared/data -o runs/agreement
    python scripts/agreement.py faithfulness 'likelihood(model=FOLDER), rouge-2' --data ../shared/data -o runs/agreement

prepare writes judgments as NAME.jsonl: dialsummeval (Gao and Wan 2022, with SAMSum's summaries as references, without
system A, which is these in lower case), squality (Wang et al. 2022, with stories and the first of four references;
negated_errors: the passages that a reviewer marked), and chaganty2018, realsumm and zhang2023, which have readers.
`--inputs realsumm=15` draws inputs.

faithfulness: the SummaC benchmark (Laban et al. 2022) and the 373 sentence pairs of Falke et al. (2019). A metric is
compared with the article: it is the source and the reference. Documents of a data set are drawn, at most DOCUMENTS, and
halved: the threshold of balanced accuracy comes from the first half. Intervals draw documents.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from rewards.base import from_specs
from rlsum.evaluation.rows import Floats
from rlsum.judgments.public.chaganty import chaganty2018
from rlsum.judgments.public.pairwise import zhang2023
from rlsum.judgments.public.realsumm import realsumm
from rlsum.judgments.records import Judgment, write_jsonl
from rlsum.meta_evaluation.cache import cached_scores, scores_file
from rlsum.meta_evaluation.scores import lengths
from rlsum.pages.table import Cell, Table
from rlsum.pages.terminal import show

DIALOGUE = ("consistency", "relevance", "fluency", "coherence")
REVIEW = ("overall", "correctness", "coverage")
SETS = ["cogensumm", "factcc", "frank", "polytope", "xsumfaith"]
RESAMPLES = 2_000


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# ---- prepare --------------------------------------------------------------------------------------------------------


def dialsummeval(data: Path) -> list[Judgment]:
    """Judged summaries of SAMSum's dialogues."""
    references = {row["id"]: row["summary"] for row in read(data / "dialogues/samsum.jsonl.gz")}
    rows = []
    for row in read(data / "human/dialsummeval/dialsummeval.jsonl.gz"):
        raw = {name: tuple(map(float, row[name])) for name in DIALOGUE}
        texts = row["summary"], (references[row["samsum_id"]],), row["article"]
        if row["system"] != "A":
            rows.append(Judgment(row["samsum_id"], row["system"], *texts, "", _means(raw), raw))
    return rows


def squality(data: Path) -> list[Judgment]:
    """Judged answers to questions on stories."""
    stories = {row["story"]: row["text"] for row in read(data / "human/squality/stories.jsonl.gz")}
    rows = []
    for row in read(data / "human/squality/squality_reviews.jsonl.gz"):
        reviews = row["reviews"]
        raw = {name: tuple(float(review[name]) for review in reviews) for name in REVIEW}
        raw["negated_errors"] = tuple(-float(len(review["marks"])) for review in reviews)
        texts = row["candidate"], tuple(row["references"][:1]), stories[row["story"]]
        judges = tuple(str(review["judge"]) for review in reviews)
        rows.append(Judgment(row["id"], row["system"], *texts, "", _means(raw), raw, judges))
    return rows


def _means(raw: dict[str, tuple[float, ...]]) -> dict[str, float | None]:
    return {name: float(np.mean(values)) for name, values in raw.items()}


def sample(rows: Sequence[Judgment], count: int, seed: int) -> list[Judgment]:
    """The rows of so many inputs, drawn."""
    inputs = sorted({row.id for row in rows})
    chosen = set(np.random.default_rng(seed).permutation(inputs)[:count])
    return [row for row in rows if row.id in chosen]


def prepare(options: argparse.Namespace) -> None:
    human = options.data / "human"
    judged: dict[str, Sequence[Judgment]] = {
        "dialsummeval": dialsummeval(options.data),
        "squality": squality(options.data),
        "chaganty2018": chaganty2018(human / "chaganty2018_cnndm/cnndm_lqual.tsv.gz").rows,
        "realsumm": realsumm(human / "realsumm/realsumm.jsonl.gz").rows,
        "zhang2023": zhang2023(human / "pairwise/zhang2023_pairwise.json.gz").rows,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    for name, rows in judged.items():
        rows = sample(rows, options.inputs.get(name, len(rows)), options.seed)
        print(f"{name}.jsonl: {write_jsonl(options.out / f'{name}.jsonl', rows):,} texts")


# ---- faithfulness ---------------------------------------------------------------------------------------------------


def auc(scores: Floats, labels: Floats, weights: Floats) -> float:
    """The share of pairs of a consistent and an inconsistent summary that are in order; ties count half."""
    order = np.argsort(scores, kind="stable")
    values, weights, is_consistent = scores[order], weights[order], labels[order] == 1
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    up, down = (np.add.reduceat(np.where(mask, weights, 0), starts) for mask in (is_consistent, ~is_consistent))
    below = np.cumsum(down) - down
    pairs = up.sum() * down.sum()
    return float((up * (below + down / 2)).sum() / pairs) if pairs else np.nan


def balanced(predicted: Floats, labels: Floats, weights: Floats) -> float:
    """The mean of the accuracies on both classes."""
    shares = []
    for label in (0, 1):
        of_class = weights * (labels == label)
        shares.append((of_class * (predicted == label)).sum() / of_class.sum() if of_class.sum() else np.nan)
    return float(np.mean(shares))


def threshold(scores: Floats, labels: Floats) -> float:
    """The score from which on a text counts as consistent, with the highest balanced accuracy."""
    values, ones = np.unique(scores), np.ones(len(scores))
    cuts = [-np.inf, *(values[1:] + values[:-1]) / 2]
    return float(max(cuts, key=lambda cut: balanced((scores >= cut).astype(float), labels, ones)))


def with_interval(statistic: Callable[[Floats], float], documents: Sequence[str], seed: int) -> Cell:
    """``statistic(weights)`` x 100 of rows, and its percentile interval over their documents."""
    _, owners = np.unique(documents, return_inverse=True)
    count, random = owners.max() + 1, np.random.default_rng(seed)
    draws = (np.bincount(random.integers(count, size=count), minlength=count)[owners] for _ in range(RESAMPLES))
    low, high = 100 * np.nanquantile([statistic(weights.astype(float)) for weights in draws], [0.025, 0.975])
    return Cell(f"{100 * statistic(np.ones(len(owners))):.1f}", f"{low:.1f} to {high:.1f}")


def of_benchmark(rows: Sequence[Judgment], scores: Mapping[str, Floats], seed: int) -> dict[str, list[Cell]]:
    """Balanced accuracy and AUC of each metric on the second half of the documents."""
    documents, labels = np.array([row.source for row in rows]), np.array([row.scores["overall"] for row in rows], float)
    names = np.unique(documents)
    is_test = np.isin(documents, np.random.default_rng(seed).permutation(names)[len(names) // 2 :])
    truth, owners = labels[is_test], list(documents[is_test])
    cells = {"texts, consistent ones": [Cell(f"{len(truth):,}"), Cell(f"{truth.sum():.0f}")]}
    for label, values in scores.items():
        predicted = (values[is_test] >= threshold(values[~is_test], labels[~is_test])).astype(float)
        accuracy, order = partial(balanced, predicted, truth), partial(auc, values[is_test], truth)
        cells[label] = [with_interval(statistic, owners, seed) for statistic in (accuracy, order)]
    return cells


def of_pairs(rows: Sequence[Judgment], scores: Mapping[str, Floats], seed: int) -> dict[str, list[Cell]]:
    """How often each metric prefers the correct sentence; a tie counts half."""
    half, cells = len(rows) // 2, {"texts, consistent ones": [Cell(f"{len(rows) // 2} pairs")]}
    for label, values in scores.items():
        won = (np.sign(values[:half] - values[half:]) + 1) / 2
        statistic = partial(np.average, won)
        cells[label] = [
            with_interval(lambda w, of=statistic: float(of(weights=w)), [r.source for r in rows[:half]], seed)
        ]
    return cells


def faithfulness(options: argparse.Namespace) -> None:
    folder = options.data / "human/faithfulness"
    falke = read(folder / "falke2019_sentence_pairs.jsonl.gz")
    sides = [{"article": row["article"], "summary": row[side]} for side in ("correct", "incorrect") for row in falke]
    parts = {"Falke et al.": _judgments(sides)}
    benchmark = read(folder / "summac_benchmark.jsonl.gz")
    for name in options.sets:
        rows = [row for row in benchmark if row["dataset"] == name]
        articles = np.random.default_rng(options.seed).permutation(sorted({row["article"] for row in rows}))
        chosen = set(articles[: options.documents])
        parts[name] = _judgments([row for row in rows if row["article"] in chosen])
    metrics, cache = from_specs(options.metrics), scores_file(options.out)
    scores = {
        label: cached_scores(metric, [*parts.values()], cache, lambda _: None) for label, metric in metrics.items()
    }
    scores["length (letters)"] = [lengths(rows, "letters") for rows in parts.values()]
    header, lines = ["metric"], {label: [Cell(label)] for label in ("texts, consistent ones", *scores)}
    for place, (name, rows) in enumerate(parts.items()):
        header += [f"{name}: accuracy"] if place == 0 else [f"{name}: balanced accuracy", "AUC"]
        cells_of = of_pairs if place == 0 else of_benchmark
        columns = {label: listed[place] for label, listed in scores.items()}
        for label, cells in cells_of(rows, columns, options.seed).items():
            lines[label] += cells
    show([Table("Faithfulness", tuple(header), tuple(map(tuple, lines.values())))], Console(width=240))


def _judgments(rows: Sequence[dict[str, Any]]) -> list[Judgment]:
    return [
        Judgment(str(n), "", row["summary"], (row["article"],), row["article"], scores={"overall": row.get("label")})
        for n, row in enumerate(rows)
    ]


def counted(text: str) -> tuple[str, int]:
    name, _, count = text.partition("=")
    return name, int(count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for run in (prepare, faithfulness):
        command = commands.add_parser(run.__name__)
        command.set_defaults(run=run)
        command.add_argument("--data", type=Path, required=True)
        command.add_argument("-o", "--out", type=Path, required=True)
        command.add_argument("--seed", type=int, default=0)
        if run is prepare:
            command.add_argument("--inputs", type=counted, nargs="*", default=[], help="NAME=COUNT; default: all")
        else:
            command.add_argument("metrics")
            command.add_argument("--documents", type=int, default=100, help="of a data set")
            command.add_argument("--sets", nargs="*", choices=SETS, default=SETS, help="of the benchmark")
    options = parser.parse_args()
    options.inputs = dict(getattr(options, "inputs", []))
    options.run(options)


if __name__ == "__main__":
    main()
