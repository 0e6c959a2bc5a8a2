"""The Python interface: what each command does, as a function. The commands call these.

Results show themselves at Python's prompt and in a notebook, and have ``to_frame()``. Messages name an argument as the
command line does: ``--out`` is ``out``. Importing this loads nothing heavy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rlsum.rewards  # first: `rewards` then means ours, whatever else is called so  # noqa: F401
from rewards import Description, Reward, describe
from rewards import from_spec as load
from rlsum.explain.explained import explain
from rlsum.generation.job import Generated, generate
from rlsum.generation.options import Generating
from rlsum.pages.shown import Advance, quiet
from rlsum.scoring.scored import STANDARD, score

if TYPE_CHECKING:
    from rewards.references import Lists
    from rlsum.compare.config import Comparison
    from rlsum.compare.running import Compared
    from rlsum.evaluation.population import Random
    from rlsum.evaluation.significance import TestOption
    from rlsum.evaluation.weighted import Level, Statistic
    from rlsum.judgments.collection import Judgments
    from rlsum.judgments.columns import JudgmentColumns
    from rlsum.meta_evaluation.grouped import Average
    from rlsum.meta_evaluation.report import MetaEvaluation
    from rlsum.meta_evaluation.scores import Unit
    from rlsum.records import Output
    from rlsum.scoring.evaluation import Evaluation
    from rlsum.training.run import Run

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
    "judgments",
    "load",
    "score",
    "train",
]

Specs = str | Sequence[str]  # metrics: "rouge-l, sms(vectors=v.gz)", or a list of such
Overrides = Sequence[str] | Mapping[str, Any]  # ["training.steps=5"] or {"training.steps": 5}
Texts = Sequence[str]
File = str | PathLike[str]  # a path, or what `train` and `generate` return


def evaluate(
    outputs: File | Sequence[File] | Mapping[str, Texts] | Mapping[str, Sequence[Output]],
    references: Sequence[Sequence[str] | str] = (),
    metrics: Specs = STANDARD,
    *,
    language: str | None = None,
    sources: Texts = (),
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
    texts, with the ``references`` and ``sources`` of all systems. ``reference_lists``: what a list of texts in a column
    of references is, ``alternatives`` or the ``sentences`` of one text, where its name does not say so. ``language``:
    the ISO 639-1 code of the texts. ``clean``: score and measure texts without what is no part of them, see
    ``cleaned``.
    """
    from rewards.wrappers.cleaned import all_cleaned, some_raw
    from rlsum.errors import UserError
    from rlsum.scoring.comparison import Resampling
    from rlsum.scoring.debris import Survey, clean_records
    from rlsum.scoring.evaluation import evaluate as evaluated
    from rlsum.scoring.outputs import check_columns, load_available, outputs_of, read_systems, score_system

    scorers, missing = load_available(metrics, language)
    if isinstance(outputs, Mapping):
        systems = outputs_of(outputs, references, sources)
    else:
        paths = [outputs] if isinstance(outputs, str | PathLike) else outputs
        columns = candidate_column, reference_column, reference_lists
        systems = read_systems([*map(Path, paths)], [*map(Path, references)], *columns)  # type: ignore[arg-type]
    survey = Survey.of((row.system, row.candidate, row.references) for row in chain.from_iterable(systems.values()))
    scorers = all_cleaned(scorers, survey.prefixes) if clean else scorers
    check_columns(systems, scorers)
    compared_with = baseline or next(iter(systems))
    if compared_with not in systems:
        raise UserError(f"--baseline {baseline!r} is not among the systems; choose one of {', '.join(systems)}")
    scores = {}
    for number, (system, members) in enumerate(systems.items()):
        advance("systems", number, len(systems))
        read = clean_records(members, survey.prefixes) if clean else members
        scores[system] = score_system(system, read, scorers, {})
    resampling = Resampling(resamples=resamples, seed=seed)
    debris = survey.sentences(clean or not some_raw(scorers.values()))
    return evaluated(systems, scores, compared_with, resampling, scorers, missing, debris)


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
    score: str = "overall",
    layout: JudgmentColumns | None = None,
    lower_is_better: Sequence[str] = (),
    clean: bool = False,
    statistics: Sequence[Statistic] = ("spearman", "pearson", "kendall"),
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

    ``score``: the human score. ``layout``, ``lower_is_better``: as of `judgments`. ``clean``: as of `evaluate`.
    ``average``: correlate within each group, and average over groups or rows. ``length``: text lengths to compare with.
    ``cache``: a folder that keeps scores, "default" for that of the command line. ``language``: as of `evaluate`.
    """
    import rewards
    from rewards.scoring import columns_read
    from rewards.wrappers.cleaned import all_cleaned, some_raw
    from rlsum.errors import UserError
    from rlsum.judgments.collection import Judgments
    from rlsum.judgments.orientation import negated, oriented
    from rlsum.judgments.registry import load as loaded
    from rlsum.meta_evaluation.cache import default_folder, scores_file
    from rlsum.meta_evaluation.evaluation import Choices, check_choices, meta_evaluate
    from rlsum.meta_evaluation.report import MetaEvaluation
    from rlsum.meta_evaluation.scores import scored, short_labels
    from rlsum.scoring.debris import Survey, clean_records

    choices = Choices(level, average, test, resamples, seed, random)
    check_choices(choices, statistics)
    scorers = rewards.from_specs(metrics, language)
    file = None if cache is None else scores_file(default_folder() if cache == "default" else Path(cache))
    if not isinstance(data, Judgments):
        further = [*chain(*columns_read(scorers.values()))]
        data = loaded(data, columns=further, layout=layout, lower_is_better=lower_is_better)
    elif layout:
        raise UserError("layout is for a file; these judgments were read already: give it to `judgments`")
    else:
        data = negated(data, lower_is_better)
    score = oriented(score, lower_is_better)
    survey = Survey.of((row.system, row.candidate, row.references) for row in data.rows)
    data = replace(data, notes=(*data.notes, *survey.notes(clean or not some_raw(scorers.values()))))
    if clean:
        scorers = all_cleaned(scorers, survey.prefixes)
        data = replace(data, rows=tuple(clean_records(data.rows, survey.prefixes)))
    done, total = dict.fromkeys(short_labels(scorers).values(), 0), len(data.rows)

    def count(label: str, more: int) -> None:
        done[label] += more
        advance(label, done[label], total)

    named = {short: scorers[label] for label, short in short_labels(scorers).items()}
    table = scored(data, named, score=score, length=length, cache=file, progress=count)
    return MetaEvaluation(**vars(meta_evaluate(table, statistics, choices)))


def train(
    config: str | Path | None = None,
    overrides: Overrides = (),
    *,
    init: File | None = None,
    resume: File | None = None,
    auto_resume: bool = False,
) -> Run:
    """Train a summarizer by likelihood, or on a reward; ``config`` is a YAML file or a name of `rlsum configs`.

    ``init``: the run or checkpoint to start from. ``resume``: a run to continue where it stopped, with more
    training.steps if they are given; ``auto_resume``: do so if the folder of the run holds one.
    """
    from rlsum.training.run import train as trained

    return trained(config, _overrides(overrides), _path(init), _path(resume), auto_resume)


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

    if isinstance(config, str | Path):
        config = configs.load(Path(config), _overrides(overrides))
    return run(config, jobs, report_only, retry, task, timed)


def _path(path: File | None) -> Path | None:
    return None if path is None else Path(path)


def _overrides(given: Overrides) -> list[str]:
    if isinstance(given, Mapping):
        return [f"{key}={json.dumps(value)}" for key, value in given.items()]
    return list(given)
