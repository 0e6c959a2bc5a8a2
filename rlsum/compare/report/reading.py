"""What to read: articles on which the systems differ most, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rlsum.compare.cells import Cell
from rlsum.compare.folder import Folder
from rlsum.compare.results import Results
from rlsum.pages.blocks import Block, Example, Examples
from rlsum.records import Output, read_outputs

SHOWN = 4  # articles


def section_for_reading(folder: Folder, cells: Sequence[Cell], results: Results) -> list[Block]:
    """Articles with every system's summary of the first seed."""
    systems = summaries(folder, cells, results.method)
    articles = most_different(results, SHOWN)
    if not systems or not articles:
        return []
    note = (
        f"The {len(articles)} articles on which the start and what was trained from it differ most in seed "
        f"{results.seeds[0]}, whose summaries are shown."
    )
    return [Examples(tuple(side_by_side(systems, articles)), note)]


def one_article(folder: Folder, cells: Sequence[Cell], results: Results) -> list[Block]:
    """An article drawn at random, the same for the same articles, with every system's summary of the first seed."""
    systems = summaries(folder, cells, results.method)
    if not systems or not results.ids:
        return []
    article = results.ids[np.random.default_rng(0).integers(len(results.ids))]
    note = f"Drawn at random, with the summaries of seed {results.seeds[0]}. More articles are at the end."
    return [Examples(tuple(side_by_side(systems, [article])), note)]


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


def summaries(folder: Folder, cells: Sequence[Cell], method: str) -> dict[str, dict[str, Output]]:
    """Row title -> id -> summary, of the first seed."""
    first = folder.comparison.seeds[0]
    paths = {cell.title: folder.outputs(cell).get(method) for cell in cells if cell.seed in (first, None)}
    return {
        title: {output.id: output for output in read_outputs(path)}
        for title, path in paths.items()
        if path is not None and path.exists()
    }


def side_by_side(systems: Mapping[str, Mapping[str, Output]], articles: Sequence[str]) -> list[Example]:
    """``articles`` (ids) with the output of every system that has one; ``systems`` maps name -> id -> output."""
    found = [
        {name: outputs[article] for name, outputs in systems.items() if article in outputs} for article in articles
    ]
    return [_example(outputs) for outputs in found if outputs]


def _example(outputs: Mapping[str, Output]) -> Example:
    """The outputs of every system for one article."""
    first = next(iter(outputs.values()))
    reference = first.references[0] if first.references else ""
    return Example(first.id, first.source, reference, {name: output.candidate for name, output in outputs.items()})
