"""``rlsum evaluate``: systems by metrics, with intervals, properties and paired differences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlsum.cli.options import STANDARD, Language, LongSignatures, Metrics, OutFolder, Overwrite, bars, report
from rlsum.cli.reading import CandidateColumn, Clean, ReferenceColumn, ReferenceLists
from rlsum.files import check_folder


def evaluate(
    files: Annotated[list[Path], typer.Argument(metavar="OUT.jsonl...", help="Outputs of systems, JSONL or tables.")],
    metrics: Metrics = STANDARD,
    language: Language = None,
    references: Annotated[
        list[Path] | None,
        typer.Option(metavar="R.txt", help="References, row by row: a text a line, or a column. Repeatable."),
    ] = None,
    candidate_column: CandidateColumn = None,
    reference_column: ReferenceColumn = None,
    reference_lists: ReferenceLists = None,
    clean: Clean = False,
    baseline: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="System to compare the others with (default: the first).")
    ] = None,
    out: OutFolder = None,
    overwrite: Overwrite = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with raw scores (not x 100).")] = False,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples of each interval and each test.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same intervals and p-values.")] = 0,
    long_signatures: LongSignatures = False,
) -> None:
    """Score outputs: a table of systems by metrics, with 95% intervals.

    Several systems (in one file or several) are also compared with the first, or with --baseline, article by
    article: mean difference, interval and permutation p-value. A second table shows length, repetition, novelty,
    copying and invented names, which alone can raise a score. Signatures say what the scores depend on. The column of
    a metric that cannot be loaded on this machine says so, and a note gives the reason.

    The default metrics are what papers report: ROUGE-1, ROUGE-2 and ROUGE-Lsum of stems, one sentence a line.

    **Examples**

    rlsum evaluate outputs.jsonl

    rlsum evaluate mle.jsonl rl.jsonl --metrics 'rouge-l,sms(vectors=vectors.txt.gz, normalize=unit)'

    rlsum evaluate mle.txt rl.txt --references gold.txt

    rlsum evaluate all.jsonl --baseline lead-3 -o report
    """
    from rlsum import api
    from rlsum.scoring.evaluation import FILES, to_json

    if out is not None:
        check_folder("out", out, FILES, overwrite)
    with bars() as advance:
        evaluation = api.evaluate(
            files,
            [*map(str, references or ())],
            metrics=metrics,
            candidate_column=candidate_column,
            reference_column=reference_column,
            reference_lists=reference_lists,
            language=language,
            clean=clean,
            baseline=baseline,
            resamples=resamples,
            seed=seed,
            advance=advance,
        )
    report(evaluation, out, to_json(evaluation) if as_json else None, long_signatures)
