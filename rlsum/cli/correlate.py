"""``rlsum correlate``: how well metrics agree with human judgments, and which differences are real."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rlsum import api
from rlsum.cli import layout
from rlsum.cli.options import JUDGMENTS, Language, LongSignatures, Metrics, OutFolder, Overwrite, bars, chosen, report
from rlsum.cli.reading import Clean, ReferenceLists
from rlsum.errors import UserError
from rlsum.files import check_folder

Level = Literal["pooled", "input", "system"]
Random = Literal["inputs", "systems", "both"]
Average = Literal["groups", "rows"]
Test = Literal["auto", "williams", "permutation", "clustered permutation"]


def correlate(
    data: Annotated[str, typer.Argument(metavar="DATA", help=JUDGMENTS)],
    metrics: Metrics = "rouge-1,rouge-2,rouge-l",
    language: Language = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[=COLUMN]", help="The human score, with its column. Default: overall, or the only one."
        ),
    ] = None,
    lower_is_better: layout.LowerIsBetter = "",
    clean: Clean = False,
    level: Annotated[Level, typer.Option(help="All rows; within inputs, averaged; system means.")] = "pooled",
    statistic: Annotated[
        str, typer.Option(help="spearman, pearson, kendall, acc-t, spa (systems only), separated by commas.")
    ] = "spearman,pearson,kendall",
    by_group: Annotated[
        bool, typer.Option("--by-group", help="Correlate within each group (language pair, topic) and average.")
    ] = False,
    average: Annotated[
        Average | None, typer.Option(help="With --by-group: weight groups equally (groups, the default) or by rows.")
    ] = None,
    random: Annotated[
        Random | None,
        typer.Option(help="New inputs, new systems, or both (default: both where systems are enough, else inputs)."),
    ] = None,
    test: Annotated[Test, typer.Option(help="Test between metrics; auto chooses by the data.")] = "auto",
    length: Annotated[
        str, typer.Option(help="Text lengths to compare with: letters, words, whitespace, characters.")
    ] = "letters",
    out: OutFolder = None,
    overwrite: Overwrite = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    cache: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Cache (default: ~/.cache/rlsum).")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not cache scores.")] = False,
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap resamples per interval, swaps per test.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of intervals and p-values.")] = 0,
    long_signatures: LongSignatures = False,
    id_column: layout.IdColumn = None,
    system_column: layout.SystemColumn = None,
    candidate: layout.CandidateColumn = None,
    reference: layout.ReferenceColumn = None,
    source: layout.SourceColumn = None,
    group: layout.GroupColumn = None,
    judge_column: layout.JudgeColumn = None,
    criterion_column: layout.CriterionColumn = None,
    reference_lists: ReferenceLists = None,
) -> None:
    """Correlate metrics with human judgments: values with intervals, and tests between metrics.

    The tables also show the length of the candidate and, if the data have single judges' scores, how well one judge
    predicts the others. Intervals and tests are about new systems and new inputs where there are enough systems (8 to
    16 for their means, 24 for texts), otherwise about new inputs for these systems. Differences are tested for each
    pair of metrics, with Holm's correction. Scores are cached on disk. Data in another layout are read as by
    `rlsum data judgments`, which shows what is in them.

    **Examples**

    rlsum correlate judged.jsonl --metrics rouge-l,meteor

    rlsum correlate judged.jsonl --metrics 'rouge-l,rouge-l(direction=recall)' --score grammar --level input -o report

    rlsum correlate wmt-da:wmt17_da_seg.tsv.gz --by-group --statistic kendall,pearson,acc-t --json
    """
    from rlsum.judgments.columns import JudgmentColumns, score_columns
    from rlsum.meta_evaluation.report import FILES, to_json

    texts = (id_column, system_column, candidate, reference, source, group)
    scores = score_columns([score]) if score and ("=" in score or (any(texts) and "." in score)) else {}
    score = next(iter(scores), score)
    columns = JudgmentColumns(*texts, scores, judge_column, reference_lists, criterion_column)
    statistics: Any = chosen("--statistic", statistic, ("spearman", "pearson", "kendall", "acc-t", "spa"))
    units: Any = chosen("--length", length, ("letters", "words", "whitespace", "characters")) if length else []
    if average is not None and not by_group:
        raise UserError(f"--average {average}: it averages over groups; add --by-group")
    if out is not None:
        check_folder("out", out, FILES, overwrite)
    with bars() as advance:
        evaluation = api.correlate(
            data,
            metrics=metrics,
            language=language,
            score=score,
            layout=columns,
            lower_is_better=layout.listed(lower_is_better),
            clean=clean,
            statistics=statistics,
            level=level,
            average=(average or "groups") if by_group else None,
            test=test,
            random=random,
            length=units,
            resamples=resamples,
            seed=seed,
            cache=None if no_cache else cache or "default",
            advance=advance,
        )
    report(evaluation, out, to_json(evaluation) if as_json else None, long_signatures)
