"""``rlsum evaluate``: systems by metrics, with intervals, properties and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlsum.cli.options import STANDARD, LongSignatures, Metrics
from rlsum.errors import UserError

if TYPE_CHECKING:
    from rewards.base import Reward
    from rlsum.records import Output
    from rlsum.scoring.outputs import SystemScores


def evaluate(
    files: Annotated[list[Path], typer.Argument(metavar="OUT.jsonl...", help="Outputs of one or more systems.")],
    metrics: Metrics = STANDARD,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="SYSTEM", help="System to compare the others with (default: the first)."),
    ] = None,
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

    rlsum evaluate all.jsonl --baseline lead-3 --json > scores.json
    """
    from rich.console import Console

    from rlsum.pages.terminal import show
    from rlsum.scoring.comparison import Resampling
    from rlsum.scoring.evaluation import evaluate, report, to_json
    from rlsum.scoring.outputs import check_columns, load_available, read_systems

    scorers, missing = load_available(metrics)
    outputs = read_systems(files)
    check_columns(outputs, scorers)
    compared_with = baseline or next(iter(outputs))
    if compared_with not in outputs:
        raise UserError(f"--baseline {baseline!r} is not among the systems; choose one of {', '.join(outputs)}")
    resampling = Resampling(resamples=resamples, seed=seed)
    evaluation = evaluate(outputs, _score(outputs, scorers), compared_with, resampling, scorers, missing)
    if as_json:
        typer.echo(to_json(evaluation))
    else:
        show(report(evaluation, long_signatures), Console())


def _score(outputs: Mapping[str, Sequence[Output]], scorers: Mapping[str, Reward]) -> dict[str, SystemScores]:
    """Score each system, with its progress in a terminal."""
    from rich.console import Console

    from rlsum.scoring.outputs import score_system

    scores = {}
    with Console(stderr=True).status("") as status:
        for system, members in outputs.items():
            status.update(f"{system}: {', '.join(scorers)}")
            scores[system] = score_system(system, members, scorers, {})
    return scores
