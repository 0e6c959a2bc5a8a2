"""``rlsum correlate``: how well metrics agree with human judgments, and which differences are real."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlsum import api
from rlsum.cli.options import (
    JUDGMENTS,
    Clean,
    HumanScore,
    Language,
    LowerIsBetter,
    Metrics,
    Report,
    bars,
    chosen,
    expanded,
    listed,
)
from rlsum.errors import UserError
from rlsum.evaluation.coefficients.table import DEFAULT, STATISTICS
from rlsum.judgments.layout import Layout
from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.scores import COUNTS


@expanded
def correlate(
    *,
    data: Annotated[str, typer.Argument(metavar="DATA", help=JUDGMENTS)],
    metrics: Metrics = "rouge-1,rouge-2,rouge-l",
    language: Language = None,
    score: HumanScore = None,
    lower_is_better: LowerIsBetter = "",
    clean: Clean = False,
    statistic: Annotated[str, typer.Option(help=f"Of {', '.join(STATISTICS)}.")] = ",".join(DEFAULT),
    by_group: Annotated[
        bool, typer.Option("--by-group", help="Correlate within each group (language pair, topic) and average.")
    ] = False,
    choices: Choices,
    length: Annotated[str, typer.Option(help=f"Text lengths to compare with: {', '.join(COUNTS)}.")] = "letters",
    report: Report,
    cache: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Cache (default: ~/.cache/rlsum).")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not cache scores.")] = False,
    layout: Layout,
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
    from rlsum.meta_evaluation.report import FILES, to_json

    columns, named = layout.with_score(score)
    if choices.average is not None and not by_group:
        raise UserError(f"--average {choices.average}: it averages over groups; add --by-group")
    options = {**vars(choices), "average": (choices.average or "groups") if by_group else None}
    options["statistics"] = chosen("--statistic", statistic, tuple(STATISTICS))
    options["length"] = chosen("--length", length, tuple(COUNTS)) if length else []
    options |= {"layout": columns, "score": named, "lower_is_better": listed(lower_is_better)}
    options |= {"language": language, "clean": clean, "cache": None if no_cache else cache or "default"}
    report.check(FILES)
    with bars() as advance:
        evaluation = api.correlate(data, metrics, **options, advance=advance)
    report.show(evaluation, to_json)
