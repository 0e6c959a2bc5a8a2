"""The report of a comparison: its blocks, and the files of every format."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from rewards.base import labelled
from rewards.specs import as_spec
from rlsum.compare.cells import NONE, START, Cell, commands_of, typed
from rlsum.compare.costs import held
from rlsum.compare.folder import Folder, trainings
from rlsum.compare.report import tables
from rlsum.compare.report.chain import chain, chain_blocks
from rlsum.compare.report.cut import cut_differences
from rlsum.compare.report.degenerate import read_texts
from rlsum.compare.report.designs import power_blocks
from rlsum.compare.report.findings import findings
from rlsum.compare.report.gains import gain_pictures
from rlsum.compare.report.numbers import FILES, numbers
from rlsum.compare.report.overoptimization import frontiers, overoptimization_blocks, paths, sampled_as_is
from rlsum.compare.report.own_reward import verdict_table
from rlsum.compare.report.side_by_side import one_article, section_for_reading
from rlsum.compare.report.side_effects import equal_length_table
from rlsum.compare.report.training_curves import draw_runs
from rlsum.compare.results import Results, best, gather
from rlsum.compare.spent import spent
from rlsum.pages import formats
from rlsum.pages.blocks import (
    Block,
    Bullets,
    Contents,
    Fold,
    Heading,
    Paragraph,
    pictures_of,
    section,
    signature_section,
)
from rlsum.training import checkpoint
from rlsum.training.validation import in_log

ITEMS = 30  # of the study that the report begins


def write_report(folder: Folder, cells: Sequence[Cell], why_failed: Mapping[str, str] | None = None) -> list[Block]:
    """Write ``report/`` from what is finished; returns the blocks. ``why_failed``: as `gather` takes it."""
    results = [gather(folder, cells, method, why_failed) for method in folder.comparison.decoding]
    shown = blocks(folder, cells, results)
    files = formats.file_names(others={".html": "index", ".tex": "tables"})
    texts = {name: text(results) for name, text in FILES.items()}
    formats.write_report(folder.path / "report", files, shown, texts)
    for picture in pictures_of(shown):
        if picture.vector is not None:
            (folder.path / "report" / f"{picture.name}.svg").write_bytes(picture.vector())
    return shown


def blocks(folder: Folder, cells: Sequence[Cell], results: Sequence[Results]) -> list[Block]:
    """The report; ``results`` of every way of decoding, the main one first."""
    main, *others = results
    margin = folder.comparison.margin
    title = Heading(f"Which reward? {folder.path.name}", 1)
    if not main.systems:
        return [title, *section("Cells without a result", tables.failures(main))]
    cut, rewards = cut_differences(folder, cells, main), followed(folder)
    validations = paths(trainings([cell for cell in cells if cell.kind in ("reward", "control")]), rewards)
    sentences = list(findings(main, margin, validations, read_texts(folder, cells, main), cut))
    rules, decoding = folder.comparison.choosing, decoding_of_start(cells)
    as_is = {name: rule for name, rule in rules.items() if sampled_as_is(rule, decoding)}
    otherwise = [name for name in rules if rules[name].best_of and name in main.systems and name not in as_is]
    overoptimized = overoptimization_blocks(validations, rewards, frontiers(as_is, main), otherwise)
    return [
        title,
        Paragraph(about(cells, main)),
        Contents(),
        *section("Findings", Bullets(sentences)),
        *section("Gains", *gain_pictures(main)),
        *section("One article", *one_article(folder, cells, main)),
        *section("Results", verdict_table(main, margin), tables.cross_table(main)),
        *section("Differences", *(tables.difference_table(main, other) for other in main.against)),
        *section("What it could show", *power_blocks(main)),
        *section("Properties", *filter(None, (tables.properties(main), equal_length_table(main)))),
        *section("Over-optimisation", *overoptimized),
        *section("From agreement to preference", *of_chain(folder, results)),
        *(
            block
            for decoded in others
            for block in section(
                f"Decoded by {decoded.method}", verdict_table(decoded, margin), tables.cross_table(decoded)
            )
        ),
        *section("Training", *draw_runs(trainings(cells), rewards, START)),
        *section("Cost", spent(cells), Bullets(held(folder, cells, len(main.ids)))),
        *section("Where they differ most", *section_for_reading(folder, cells, main)),
        *section("Ask people", *for_people(folder, cells, main)),
        *(section("Cells without a result", tables.failures(main)) if main.failed else []),
        *(section("Scores that are missing", tables.missing_table(main)) if main.missing else []),
        *section("To repeat it", *commands(folder, cells)),
        *signature_section(main.signatures.values()),
    ]


def about(cells: Sequence[Cell], results: Results) -> str:
    """What was compared, in a sentence or two."""
    seeds = f"{len(results.seeds)} seeds" if len(results.seeds) > 1 else f"one seed ({results.seeds[0]})"
    scope = "Intervals and tests count seeds and articles as random."
    if len(results.seeds) == 2:
        scope += " Two seeds leave one degree of freedom for the spread between seeds: intervals are wide."
    if len(results.seeds) == 1:
        scope = "With one seed, intervals and tests are over articles alone: another seed may give another order."
    updates = {int(cell.config.get("training", {}).get("steps", 0)) for cell in cells if cell.config and cell.after}
    steps = " to ".join(f"{count:,}" for count in sorted({min(updates, default=0), max(updates, default=0)}))
    articles = f"{len(results.ids):,} test article{'s' * (len(results.ids) != 1)}"
    control = "; continued likelihood gets them without a reward" if NONE in results.systems else ""
    return (
        f"{articles}, {seeds}. Every training begins with the start and takes {steps} updates at most{control}. {scope}"
    )


def decoding_of_start(cells: Sequence[Cell]) -> Mapping[str, Any]:
    """The options of decoding in the configuration of the start; {} where its files are gone."""
    start = next(cell for cell in cells if cell.kind == "start")
    if start.config is not None:
        return start.config.get("decoding", {})
    stored = checkpoint.described(str(start.model))
    return {} if stored is None else asdict(stored.config.decoding)


def followed(folder: Folder) -> list[str]:
    """The names of the rewards in the logs of validation."""
    return [in_log(label) for label in labelled([trained.reward for trained in folder.comparison.rewards.values()])]


def of_chain(folder: Folder, results: Sequence[Results]) -> list[Block]:
    """Agreement with judges, gain by training and preference of each reward, where their results are given."""
    correlation, study = folder.comparison.correlation, folder.comparison.study
    return [] if correlation is study is None else chain_blocks(chain(correlation, numbers(results), study))


def for_people(folder: Folder, cells: Sequence[Cell], results: Results) -> list[Block]:
    """The command that starts a study of the best trained system and its control, wherever both have outputs.

    Best by the first reward that was learned from judgments, else by the first metric.
    """
    rewards = folder.comparison.rewards.items()
    learned = [name for name, trained in rewards if as_spec(trained.reward).name == "learned"]
    reward = next(iter([name for name in learned if name in results.metrics] or results.metrics), "")
    scores = {row.name: row.metrics[reward] for row in results.trained if reward in row.metrics}
    means = {name: float(np.nanmean(values)) for name, values in scores.items() if not np.isnan(values).all()}
    if not means or results.base is None:
        return []
    highest, top = max(means, key=means.__getitem__), best(results, reward)
    if results.systems[highest].same_scores(results.base):
        both_titles = f"{results.systems[highest].title} and {results.base.title}"
        return [Paragraph(f"{both_titles} have the same scores on every article: there is nothing to judge.")]
    both, seed = (highest, results.base.name), results.seeds[0]
    chosen = {cell.system: cell for cell in cells if cell.system in both and cell.seed in (seed, None)}
    files = [str(folder.outputs(chosen[name])[results.method]) for name in both if name in chosen]
    items = min(ITEMS, len(results.ids))
    command = ["human-eval", "build", *files, "-o", str(folder.path / "study"), "--items", str(items)]
    best_title, control = (results.systems[name].title for name in both)
    shown = top is not None and top.shown and top.best == highest
    standing = "the best of the trained models by" if shown else "the trained model with the highest mean by"
    return [
        Paragraph(f"A blind study of {best_title}, {standing} {reward}, and {control} begins with:"),
        Bullets([f"rlsum {shlex.join(command)}"], "code"),
    ]


def commands(folder: Folder, cells: Sequence[Cell]) -> list[Block]:
    """Every command, to repeat a cell by itself."""
    comparison = folder.comparison
    lines = [shlex.join(typed(comparison, words)) for cell in cells for words in commands_of(comparison, cell, cells)]
    note = "The configurations are in the folder of the comparison. A run that exists must be moved away first."
    return [Paragraph(note, small=True), Fold("Commands", (Bullets(lines, "code"),))]
