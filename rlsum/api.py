"""The Python interface: what each command does, as a function. The commands call these.

Results show themselves at Python's prompt and in a notebook, there with their pictures, and have ``to_frame()``. A
function is a reward wherever the name of one is. Importing this loads nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rlsum.rewards  # first: `rewards` then means ours, whatever else is called so  # noqa: F401
from rewards import Description, Reward, describe
from rewards import from_spec as load
from rewards.base import Specs
from rlsum.drafts.drafted import init
from rlsum.errors import UserError, option
from rlsum.explain.explained import explain
from rlsum.generation.job import Generated, generate
from rlsum.generation.options import Generating
from rlsum.pages.shown import Advance, quiet
from rlsum.scoring.scored import STANDARD, score
from rlsum.training.run import train
from rlsum.yaml_files import File, Overrides, written

if TYPE_CHECKING:
    from rewards.references import Lists
    from rlsum.compare.config import Comparison
    from rlsum.compare.running import Compared
    from rlsum.evaluation.coefficients.statistic import Level
    from rlsum.evaluation.population import Random
    from rlsum.evaluation.significance import TestOption
    from rlsum.judgments.collection import Judgments
    from rlsum.judgments.columns import JudgmentColumns
    from rlsum.meta_evaluation.grouped import Average
    from rlsum.meta_evaluation.report import MetaEvaluation
    from rlsum.meta_evaluation.scores import Unit
    from rlsum.records import Output
    from rlsum.scoring.evaluation import Evaluation

__all__ = [
    "STANDARD",
    "Advance",
    "Description",
    "Generated",
    "Generating",
    "Reward",
    "compare",
    "correlate",
    "describe",
    "evaluate",
    "explain",
    "generate",
    "init",
    "judgments",
    "load",
    "score",
    "train",
]

Texts = Sequence[str]


def evaluate(
    outputs: File | Sequence[File] | Mapping[str, Texts] | Mapping[str, Sequence[Output]],
    references: Sequence[Sequence[str] | str] = (),
    metrics: Specs = STANDARD,
    *,
    language: str | None = None,
    sources: Texts = (),
    columns: Mapping[str, Sequence[Any]] | None = None,
    candidate_column: str | None = None,
    reference_column: str | None = None,
    reference_lists: Lists | None = None,
    clean: bool = False,
    baseline: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    advance: Advance = quiet,
) -> Evaluation:
    """Systems by metrics with intervals, properties, and differences from ``baseline`` (by default the first system).

    ``outputs``: files of outputs, or of texts (a line, or in a column) with files of ``references``; or system -> its
    texts, with the ``references``, ``sources`` and further ``columns`` of all systems. ``reference_lists``: what a list
    of texts in a column of references is, ``alternatives`` or the ``sentences`` of one text, where its name does not
    say so. ``language``: the ISO 639-1 code of the texts. ``clean``: score and measure texts without what is no part of
    them, see ``cleaned``.
    """
    from rlsum.scoring.comparison import Resampling
    from rlsum.scoring.evaluation import evaluate as evaluated
    from rlsum.scoring.outputs import load_available, outputs_of, read_systems, score_systems

    scorers, missing = load_available(metrics, language)
    if isinstance(outputs, Mapping):
        systems = outputs_of(outputs, references, sources, columns)
    else:
        paths = [outputs] if isinstance(outputs, str | PathLike) else outputs
        named = candidate_column, reference_column, reference_lists
        systems = read_systems([*map(Path, paths)], [*map(Path, references)], *named)  # type: ignore[arg-type]
    baseline = baseline or next(iter(systems))
    if baseline not in systems:
        known = ", ".join(systems)
        raise UserError(f"{option('baseline', baseline)}: not among the systems; choose one of {known}")
    resampling = Resampling(resamples=resamples, seed=seed)
    scores, used, debris = score_systems(systems, scorers, clean, advance)
    return evaluated(systems, scores, baseline, resampling, used, missing, debris)


def judgments(
    data: str | Path, layout: JudgmentColumns | None = None, lower_is_better: Sequence[str] = ()
) -> Judgments:
    """Human judgments: a file of records, ``hf://owner/name``, a known public file, or ``NAME:PATH`` for its reader.

    ``layout``: the columns of a file in another layout. ``lower_is_better``: scores to negate, as ``negated_NAME``.
    """
    from rlsum.judgments.registry import load as loaded

    return loaded(data, layout=layout, lower_is_better=lower_is_better)


def correlate(
    data: str | Path | Judgments,
    metrics: Specs = "rouge-1,rouge-2,rouge-l",
    *,
    language: str | None = None,
    score: str | None = None,
    layout: JudgmentColumns | None = None,
    lower_is_better: Sequence[str] = (),
    clean: bool = False,
    statistics: Sequence[str] = ("spearman", "pearson", "kendall"),
    level: Level = "pooled",
    average: Average | None = None,
    test: TestOption = "auto",
    random: Random | None = None,
    length: Sequence[Unit] = ("letters",),
    resamples: int = 2_000,
    seed: int = 0,
    cache: str | Path | None = None,
    advance: Advance = quiet,
) -> MetaEvaluation:
    """How well metrics agree with people: correlations with intervals, and tests between metrics.

    ``score``: the human score, by default `overall`, or the only one. ``layout``, ``lower_is_better``: as of
    `judgments`. ``clean``, ``language``: as of `evaluate`. ``average``: correlate within each group, and average over
    groups or rows. ``length``: text lengths to compare with. ``cache``: a folder that keeps scores, "default" for that
    of the command line.
    """
    import rewards
    from rlsum.judgments.orientation import human_score
    from rlsum.meta_evaluation.cache import default_folder, scores_file
    from rlsum.meta_evaluation.evaluation import Choices, check_choices, meta_evaluate
    from rlsum.meta_evaluation.report import MetaEvaluation
    from rlsum.meta_evaluation.scores import scored, short_labels

    choices = Choices(level, average, test, resamples, seed, random)
    check_choices(choices, statistics)
    scorers = rewards.from_specs(metrics, language)
    file = None if cache is None else scores_file(default_folder() if cache == "default" else Path(cache))
    judged, used = _cleaned(_judged(data, scorers.values(), layout, lower_is_better), scorers, clean)
    named = {short: used[label] for label, short in short_labels(used).items()}
    done, total = dict.fromkeys(named, 0), len(judged.rows)

    def count(label: str, more: int) -> None:
        done[label] += more
        advance(label, done[label], total)

    judged, human = human_score(judged, score, lower_is_better)
    table = scored(judged, named, score=human, length=length, cache=file, progress=count)
    return MetaEvaluation(**vars(meta_evaluate(table, statistics, choices)))


def _judged(
    data: str | Path | Judgments,
    scorers: Iterable[Reward],
    layout: JudgmentColumns | None,
    lower_is_better: Sequence[str],
) -> Judgments:
    """The judgments, with the further columns that rewards read."""
    from rewards.scoring import columns_read
    from rlsum.judgments.collection import Judgments
    from rlsum.judgments.orientation import negated
    from rlsum.judgments.registry import load as loaded

    if not isinstance(data, Judgments):
        further = [*chain(*columns_read(scorers))]
        return loaded(data, columns=further, layout=layout, lower_is_better=lower_is_better)
    if layout:
        raise UserError("layout is for a file; these judgments were read already: give it to `judgments`")
    return negated(data, lower_is_better)


def _cleaned(judged: Judgments, scorers: Mapping[str, Reward], clean: bool) -> tuple[Judgments, Mapping[str, Reward]]:
    """The judgments with a note on what the texts hold besides text; with ``clean`` without it, as the rewards."""
    from rewards.wrappers.cleaned import all_cleaned, some_raw
    from rlsum.scoring.debris import Survey, clean_records

    survey = Survey.of((row.system, row.candidate, row.references) for row in judged.rows)
    judged = replace(judged, notes=(*judged.notes, *survey.notes(clean or not some_raw(scorers.values()))))
    if not clean:
        return judged, scorers
    rows = tuple(clean_records(judged.rows, survey.prefixes))
    return replace(judged, rows=rows), all_cleaned(scorers, survey.prefixes)


def compare(
    config: str | Path | Comparison,
    overrides: Overrides = (),
    *,
    jobs: int = 2,
    report_only: bool = False,
    retry: bool = False,
    task: int | None = None,
    timed: bool = True,
) -> Compared:
    """Train on each of several rewards from one start, and report which is better by which metric.

    A stopped comparison continues when the same call is made again. ``retry``: try failed cells again. ``task``: one
    cell alone. ``timed``: first measure and print what the cells cost. Cells are processes that start Python anew.
    """
    from rlsum.compare import config as configs
    from rlsum.compare.running import run

    if isinstance(config, str | PathLike):
        changes = written(overrides)
        if named := next((text for text in changes if '"__main__:' in text), None):
            fix = "put the function in a file of its own; cells are processes that start Python anew"
            raise UserError(f"{named}: a function of this script or notebook, which no other process has; {fix}")
        config = configs.load(Path(config), changes)
    return run(config, jobs, report_only, retry, task, timed)
