"""``rlsum score``: per-item scores into the records."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlsum.cli.evaluate import STANDARD
from rlsum.records import Output

if TYPE_CHECKING:
    from rewards import Reward
    from rlsum.evaluation.scoring import Floats


@dataclass(frozen=True)
class ScoredOutput(Output):
    """A record with its scores; ``undefined`` says why a score is None."""

    undefined: dict[str, str] = field(default_factory=dict)


def score(
    file: Annotated[Path, typer.Argument(metavar="OUT.jsonl", help="Outputs to score.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="SCORED.jsonl", help="Where to write the scored records.")
    ],
    metrics: Annotated[
        str, typer.Option(help="Metrics with their options, separated by commas; `rlsum rewards` lists them.")
    ] = STANDARD,
) -> None:
    """Add each output's scores to its record.

    A record gains `"scores": {"rouge-1": 0.41, ...}`, raw and not times 100; a score that is undefined is null, and
    `"undefined"` says why. Scores that the records hold already are kept. Signatures are printed.

    **Examples**

    rlsum score outputs.jsonl -o scored.jsonl

    rlsum score outputs.jsonl -o scored.jsonl --metrics 'rouge-l,wms(vectors=vectors.txt.gz, normalize=unit)'
    """
    from rich.console import Console

    import rewards
    from rlsum.evaluation.scoring import score_outputs
    from rlsum.records import read_outputs, write_outputs

    scorers = rewards.from_specs(metrics)
    check_writable("--out", out)
    outputs = read_outputs(file)
    with Console(stderr=True).status(", ".join(scorers)):
        columns = score_outputs(outputs, scorers)
    scored = [scored_output(output, row, columns, scorers) for row, output in enumerate(outputs)]
    count = write_outputs(out, scored)
    typer.echo(f"{out}: {count:,} records scored")
    for label, scorer in scorers.items():
        empty = sum(label in output.undefined for output in scored)
        typer.echo(scorer.signature + (f"  ({empty:,} undefined)" if empty else ""))


def scored_output(
    output: Output, row: int, columns: Mapping[str, Floats], scorers: Mapping[str, Reward]
) -> ScoredOutput:
    """The record with row ``row`` of the score columns, and the reasons for those that are NaN."""
    scores = dict(output.scores)
    reasons = {}
    for label, column in columns.items():
        value = float(column[row])
        scores[label] = None if value != value else value
        if scores[label] is None:
            reasons[label] = scorers[label].undefined(output.candidate, output.references) or "no reason given"
    known = {item.name: getattr(output, item.name) for item in fields(Output)}
    return ScoredOutput(**{**known, "scores": scores}, undefined=reasons)


def check_writable(option: str, path: Path) -> None:
    """Raise UserError unless ``path`` can be written: found out before hours of work, not after."""
    from rlsum.errors import UserError

    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"{option} {path}: cannot be written there; give a file in a folder you may write to")
