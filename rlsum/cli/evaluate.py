"""``rlsum evaluate``: systems by metrics, with intervals, properties and paired differences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlsum import api
from rlsum.cli.options import STANDARD, Clean, Language, Metrics, Report, Resamples, Seed, bars, expanded
from rlsum.scoring.text_column import TextColumns


@expanded
def evaluate(
    *,
    files: Annotated[list[Path], typer.Argument(metavar="OUT.jsonl...", help="Outputs of systems, JSONL or tables.")],
    metrics: Metrics = STANDARD,
    language: Language = None,
    references: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="R.txt...", help="References, row by row: a text a line, or a column. All up to the next option."
        ),
    ] = None,
    columns: TextColumns,
    clean: Clean = False,
    baseline: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="System to compare the others with (default: the first).")
    ] = None,
    report: Report,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
) -> None:
    """Score outputs: a table of systems by metrics, with intervals.

    Several systems (in one file or several) are also compared with the first, or with --baseline, article by
    article: mean difference, interval and permutation p-value. A second table shows properties, such as length and
    copying, which alone can raise a score. Signatures say what the scores depend on. The column of a metric that cannot
    be loaded on this machine says so, and a note gives the reason.

    The default metrics are what papers report: ROUGE-1, ROUGE-2 and ROUGE-Lsum of stems, one sentence a line.

    **Examples**

    rlsum evaluate outputs.jsonl

    rlsum evaluate mle.jsonl rl.jsonl --metrics 'rouge-l,sms(vectors=vectors.txt.gz, normalize=unit)'

    rlsum evaluate mle.txt rl.txt --references gold.txt gold2.txt

    rlsum evaluate all.jsonl --baseline lead-3 -o report
    """
    from rlsum.scoring.evaluation import FILES, to_json

    report.check(FILES)
    choices = {"language": language, "clean": clean, "baseline": baseline, "resamples": resamples, "seed": seed}
    with bars() as advance:
        gold = [*map(str, references or ())]
        evaluation = api.evaluate(files, gold, metrics, **vars(columns), **choices, advance=advance)  # type: ignore[arg-type]
    report.show(evaluation, to_json)
