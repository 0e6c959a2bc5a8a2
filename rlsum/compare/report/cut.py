"""What a system scores when its summaries are cut to the lengths of another's: is its gain more than length?

Where one system is nearly always longer, nothing is left to compare at equal length. Its first words are: they are
scored again on its own reward. A summary that is cut may end in the middle of a sentence, so a loss says little; no
gain says that the gain came with the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rewards.text.words import runs, units
from rlsum.compare.cells import Cell
from rlsum.compare.folder import Folder
from rlsum.compare.report.side_effects import at_equal_length_of, is_longer
from rlsum.compare.results import Results, System
from rlsum.compare.scoring import read_scores, score_file, up_to_date
from rlsum.evaluation.trained.hierarchical import Difference, compare_systems
from rlsum.records import read_outputs, write_outputs
from rlsum.scoring.debris import clean_records


def cut_differences(folder: Folder, cells: Sequence[Cell], results: Results) -> dict[str, Difference]:
    """System -> its summaries cut to the lengths of the base's, less the base, on its own reward.

    Of the systems that are longer and cannot be judged at equal length. The texts and their scores are kept in the
    folder ``cut`` of the comparison.
    """
    base = results.base
    if base is None:
        return {}
    differences = {}
    for system in results.trained:
        pair = at_equal_length_of(system, base, system.reward)
        if pair is not None and pair.reason and is_longer(system, base):
            difference = _difference(folder, cells, results, system, base)
            if difference is not None:
                differences[system.name] = difference
    return differences


def _difference(
    folder: Folder, cells: Sequence[Cell], results: Results, system: System, base: System
) -> Difference | None:
    """None where a file of summaries or the reward is not at hand."""
    name, reward, method = system.name, str(system.reward), results.method
    specs = {reward: folder.comparison.scored[reward]}
    of_system, of_base = ({cell.seed: cell for cell in cells if cell.system == row.name} for row in (system, base))
    rows = []
    for seed in results.seeds:
        pair = of_system.get(seed), of_base.get(seed, of_base.get(None))
        files = [folder.outputs(cell).get(method) for cell in pair if cell and cell.name not in results.failed]
        kept = folder.path / "cut" / f"{name}-{seed}.to-{base.name}.{method}"  # another base has other lengths
        texts, scores = (kept.with_name(f"{kept.name}.{kind}") for kind in ("jsonl", "json"))
        if len(files) < 2 or not all(file is not None and file.exists() for file in files):
            rows.append(np.full(len(results.ids), np.nan))
            continue
        longer, shorter = (read_outputs(str(file)) for file in files)
        if folder.comparison.cleans:
            longer, shorter = clean_records(longer), clean_records(shorter)
        lengths = {output.id: len(units(output.candidate)) for output in shorter}
        write_outputs(
            texts,
            (replace(out, candidate=cut(out.candidate, lengths[out.id])) for out in longer if out.id in lengths),
        )
        if not up_to_date(texts, scores, specs):
            score_file(texts, scores, specs)
        scored = read_scores(scores)
        of_article = dict(zip(scored.ids, scored.metrics.get(reward, ()), strict=False))
        rows.append(np.array([of_article.get(article, np.nan) for article in results.ids]))
    table = np.array(rows)
    return None if np.isnan(table).all() else compare_systems(table, base.metrics[reward])


def cut(text: str, tokens: int) -> str:
    """The first ``tokens`` tokens of a text, as the property ``length`` counts them."""
    kept, left = [], tokens
    for run in runs(text):
        left -= len(units(run))
        if left < 0:
            break
        kept.append(run)
    return "".join(kept).rstrip()
