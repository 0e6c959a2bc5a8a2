"""Judgments and metrics to a meta-evaluation: what `rlsum correlate` does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import rewards
from rewards import Reward
from rewards.base import Specs
from rewards.scoring import columns_read
from rewards.wrappers.cleaned import all_cleaned, some_raw
from rlsum.errors import UserError
from rlsum.evaluation.coefficients.statistic import Level
from rlsum.evaluation.coefficients.table import DEFAULT
from rlsum.evaluation.statistics import Random, TestOption
from rlsum.judgments import registry
from rlsum.judgments.collection import Judgments
from rlsum.judgments.layout import JudgmentColumns
from rlsum.judgments.orientation import human_score, negated
from rlsum.meta_evaluation.cache import default_folder, scores_file
from rlsum.meta_evaluation.choices import USUAL, Average, Choices
from rlsum.meta_evaluation.evaluation import meta_evaluate
from rlsum.meta_evaluation.report import MetaEvaluation
from rlsum.meta_evaluation.scores import LengthUnit, scored, short_labels
from rlsum.pages.shown import Advance, quiet
from rlsum.parsing import options_checked
from rlsum.scoring.debris import Survey, clean_records


def correlate(
    data: str | Path | Judgments,
    metrics: Specs = "rouge-1,rouge-2,rouge-l",
    *,
    language: str | None = None,
    score: str | None = None,
    layout: JudgmentColumns | None = None,
    lower_is_better: Sequence[str] = (),
    clean: bool = False,
    statistics: Sequence[str] = DEFAULT,
    level: Level = USUAL.level,
    average: Average | None = USUAL.average,
    test: TestOption = USUAL.test,
    random: Random | None = USUAL.random,
    length: Sequence[LengthUnit] = ("letters",),
    resamples: int = USUAL.resamples,
    seed: int = USUAL.seed,
    cache: str | Path | None = None,
    advance: Advance = quiet,
) -> MetaEvaluation:
    """How well metrics agree with people: correlations with intervals, and tests between metrics.

    ``score``: the human score, by default `overall`, or the only one. ``layout``, ``lower_is_better``: as of
    `judgments`. ``clean``, ``language``: as of `evaluate`. ``average``: correlate within each group, and average over
    groups or rows. ``length``: text lengths to compare with. ``cache``: a folder that keeps scores, "default" for that
    of the command line. The others are those of `Choices`.
    """
    with options_checked():
        choices = Choices(level=level, average=average, random=random, test=test, resamples=resamples, seed=seed)
    choices.check(statistics)
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
    if not isinstance(data, Judgments):
        further = [*chain(*columns_read(scorers))]
        return registry.load(data, columns=further, layout=layout, lower_is_better=lower_is_better)
    if layout:
        raise UserError("layout is for a file; these judgments were read already: give it to `judgments`")
    return negated(data, lower_is_better)


def _cleaned(judged: Judgments, scorers: Mapping[str, Reward], clean: bool) -> tuple[Judgments, Mapping[str, Reward]]:
    """The judgments with a note on what the texts hold besides text; with ``clean`` without it, as the rewards."""
    survey = Survey.of((row.system, row.candidate, row.references) for row in judged.rows)
    judged = replace(judged, notes=(*judged.notes, *survey.notes(clean or not some_raw(scorers.values()))))
    if not clean:
        return judged, scorers
    rows = tuple(clean_records(judged.rows, survey.prefixes))
    return replace(judged, rows=rows), all_cleaned(scorers, survey.prefixes)
