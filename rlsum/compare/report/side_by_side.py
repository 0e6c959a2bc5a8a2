"""What to read: articles on which the systems differ most, side by side, with the plans behind their scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

import rewards
from rewards.errors import RewardError
from rewards.explain import explain
from rewards.specs import TABLE, as_spec
from rewards.text.words import runs
from rlsum.compare.cells import NONE, START, Cell
from rlsum.compare.folder import Folder
from rlsum.compare.results import Results
from rlsum.data.vocabulary import VOCABULARY, Vocabulary
from rlsum.explain.picture import DPI, SHARPNESS, png
from rlsum.pages.blocks import Block, Example, Examples, Fold, Mark, Paragraph, Piece
from rlsum.pages.pictures.drawing import Picture
from rlsum.records import Output, read_outputs
from rlsum.scoring.properties import invented_names

SHOWN = 4  # articles
EXPLAINED = 2  # of them with plans
PLANS = [name for name, made in TABLE.items() if made.startswith("rewards.mover.")]  # metrics whose plans are drawn


def section_for_reading(folder: Folder, cells: Sequence[Cell], results: Results) -> list[Block]:
    """Articles with every system's summary of the first seed, and transport plans of a system and its control."""
    systems = summaries(folder, cells, results)
    articles = most_different(results, SHOWN)
    if not systems or not articles:
        return []
    note = (
        f"The {len(articles)} articles on which the start and what was trained from it differ most in seed "
        f"{results.seeds[0]}, whose summaries are shown."
    )
    shown = Examples(tuple(side_by_side(systems, vocabulary_of(cells), articles)), note)
    plans = plan_pictures(folder, systems, results, articles[:EXPLAINED])
    return [shown, *([Fold("Transport plans behind the scores", tuple(plans))] if plans else [])]


def one_article(folder: Folder, cells: Sequence[Cell], results: Results) -> list[Block]:
    """An article drawn at random, the same for the same articles, with every system's summary of the first seed."""
    systems = summaries(folder, cells, results)
    if not systems or not results.ids:
        return []
    article = results.ids[np.random.default_rng(0).integers(len(results.ids))]
    note = f"Drawn at random, with the summaries of seed {results.seeds[0]}. More articles are at the end."
    return [Examples(tuple(side_by_side(systems, vocabulary_of(cells), [article])), note)]


def most_different(results: Results, count: int) -> list[str]:
    """Ids of the articles with the widest range of scores between the start and what was trained on a reward, widest
    first, in the first seed: that of the summaries to read.

    The range of each metric is divided by its mean over all articles.
    """
    systems = [system for system in results.systems.values() if system.kind in ("reward", "start")]
    widths = []
    for metric in results.metrics:
        rows = np.array([system.metrics[metric][0] for system in systems if metric in system.metrics])
        rows = rows[np.isfinite(rows).any(axis=1)] if len(rows) else rows  # not a seed that failed
        if len(rows) > 1:
            width = rows.max(axis=0) - rows.min(axis=0)  # (articles,)
            widths.append(width / (np.nanmean(width) or 1.0) if np.isfinite(width).any() else width)
    if not widths:
        return []
    total = np.nan_to_num(np.ma.masked_invalid(widths).mean(axis=0).filled(-np.inf), neginf=-1.0)
    return [results.ids[row] for row in np.argsort(-total, kind="stable")[:count] if total[row] >= 0]


def summaries(folder: Folder, cells: Sequence[Cell], results: Results) -> dict[str, dict[str, Output]]:
    """Row title -> id -> summary, of the first seed; not of files that have no results."""
    of_first = [cell for cell in cells if cell.seed in (results.seeds[0], None) and cell.name not in results.failed]
    paths = {cell.title: folder.outputs(cell).get(results.method) for cell in of_first}
    return {
        title: {output.id: output for output in read_outputs(path)}
        for title, path in paths.items()
        if path is not None and path.exists()
    }


def vocabulary_of(cells: Sequence[Cell]) -> set[str] | None:
    """The words of the start's model; None for a model without a list of words."""
    paths = [Path(str(cell.model)) for cell in cells if cell.kind == "start"]
    files = [path for run in paths for path in (run / "best" / VOCABULARY, run / VOCABULARY) if path.exists()]
    return set(Vocabulary.load(files[0]).words) if files else None


def side_by_side(
    systems: Mapping[str, Mapping[str, Output]], vocabulary: Collection[str] | None, articles: Sequence[str]
) -> list[Example]:
    """``articles`` (ids) with the output of every system that has one; ``systems`` maps name -> id -> output."""
    written = (
        {name: outputs[article] for name, outputs in systems.items() if article in outputs} for article in articles
    )
    return [_example(outputs, vocabulary) for outputs in written if outputs]


def _example(outputs: Mapping[str, Output], vocabulary: Collection[str] | None) -> Example:
    """The outputs of every system for one article, side by side, with what only one of them says marked."""
    first = next(iter(outputs.values()))
    words = {name: set(runs(output.candidate)) for name, output in outputs.items()}
    pieces = {}
    for name, output in outputs.items():
        others = set().union(*(words[writer] for writer in words if writer != name)) if len(words) > 1 else None
        pieces[name] = marked(output.candidate, output.source, vocabulary, others)
    return Example(first.id, first.source, first.references[0] if first.references else "", pieces)


def marked(
    candidate: str, source: str, vocabulary: Collection[str] | None, others: Collection[str] | None = None
) -> tuple[Piece, ...]:
    """The candidate in pieces, whose texts joined are the candidate, character for character.

    "invented" tokens hold a capitalised word that is not in the source. "copied" tokens are in the source and not in
    ``vocabulary``, so that only copying can have produced them. "own" tokens are in none of the ``others`` (tokens of
    other summaries). Without a vocabulary, or without others, nothing is marked as copied, or as own.
    """
    present = set(runs(source))

    def mark(token: str) -> Mark:
        if token.isspace():
            return "plain"
        if vocabulary is not None and token in present and token not in vocabulary:
            return "copied"
        if invented_names(token, source) > 0:
            return "invented"
        return "own" if others is not None and token not in others else "plain"

    return tuple(Piece("".join(tokens), kind) for kind, tokens in groupby(runs(candidate), mark))


def plan_pictures(
    folder: Folder, systems: Mapping[str, Mapping[str, Output]], results: Results, articles: Sequence[str]
) -> list[Block]:
    """Plans of the first mover reward: of the system trained on it, and of its control, for each article."""
    reward, spec = next(
        ((name, spec) for name, spec in folder.comparison.specs.items() if as_spec(spec).name in PLANS), (None, None)
    )
    if spec is None or reward is None:
        return []
    titles = [results.systems[name].title for name in (reward, NONE, START) if name in results.systems][:2]
    blocks: list[Block] = []
    try:
        metric = rewards.from_spec(spec)
        for number, article in enumerate(articles, 1):
            for title in titles:
                output = systems.get(title, {}).get(article)
                if output is not None and output.references:
                    name = f"plan-{number}-{titles.index(title) + 1}"
                    blocks.append(_plan(metric, output, name, f"{title}, article {article}"))
    except RewardError as error:
        return [Paragraph(f"The plans of {reward} cannot be drawn: {error}", small=True)]
    return blocks


def _plan(metric: rewards.Reward, output: Output, name: str, title: str) -> Picture:
    explanation = explain(metric, output.candidate, output.references[0])
    pictures = {theme: png(explanation, theme)[0] for theme in ("light", "dark")}
    pixels = int.from_bytes(pictures["light"][16:20], "big")  # the width in the head of a PNG
    score = f"{explanation.metric} {explanation.score:.4f}: the summary on the left, the reference on the right."
    return Picture(name, title, score, round(pixels * 96 / (DPI * SHARPNESS)), pictures["light"], pictures["dark"])
