"""``rlsum score``: the scores of pairs, item by item and as means; streaming, resumable, in several processes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import Field
from pydantic.dataclasses import dataclass
from rich.console import Console

from rlsum import api
from rlsum.cli.options import (
    STANDARD,
    Clean,
    Language,
    LongSignatures,
    Metrics,
    Resamples,
    Seed,
    bars,
    expanded,
)
from rlsum.errors import UserError
from rlsum.pages.terminal import show
from rlsum.scoring.shards import Shard
from rlsum.scoring.text_column import TextColumns

if TYPE_CHECKING:
    from rlsum.scoring.pairs import Pairs


@dataclass(frozen=True)
class PairFiles:
    """Files of records, or of candidates and their references."""

    records: Path | None = Field(default=None, title="PAIRS.jsonl", serialization_alias="input")
    """rows with candidate, references or reference"""
    candidates: Path | None = Field(default=None, title="C.txt")
    """candidates, in lines or a column"""
    references: list[Path] | None = Field(default=None, title="R.txt...")
    """references, row i for candidate i; all up to the next option"""

    def pairs(self, files: list[Path], columns: TextColumns) -> Pairs:
        """Those of the options, or of ``files``. Raises UserError."""
        from rlsum.scoring import pairs

        records, candidates, references = self.records, self.candidates, self.references or []
        if candidates is None and references and len(files) == 1:  # as `rlsum evaluate` takes them
            candidates, files = files[0], []
        if references and files:
            typed = " ".join(map(str, filter(None, (candidates, *files))))
            raise UserError(f"--candidates {typed}: one file; of several: `rlsum evaluate {typed} --references R.txt`")
        if candidates is not None or references:
            if records is not None:
                raise UserError(f"--input {records} and --candidates exclude each other; give one")
            if candidates is None or not references:
                raise UserError("--candidates and --references belong together; give both")
            return pairs.TextFiles(candidates, tuple(references), columns)
        named = [*([records] if records is not None else []), *files]
        if len(named) != 1:
            problem = "several files of records; give one" if named else "nothing to score; give a file of records"
            texts = named if len(named) == 2 else ("C.txt", "R.txt")
            raise UserError(f"{problem} (--input PAIRS.jsonl), or --candidates {texts[0]} --references {texts[1]}")
        if column := columns.candidate_column or columns.reference_column:
            fix = "give --candidates and --references, or convert the file with `rlsum data outputs`"
            raise UserError(f"column {column!r}: records have `candidate` and `references`; {fix}")
        return pairs.Records(named[0], columns.reference_lists)


@expanded
def score(
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]", help="Records to score, like --input; with --references: the candidates."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="SCORED.jsonl", help="The items' scores.")] = None,
    metrics: Metrics = STANDARD,
    language: Language = None,
    given: PairFiles,
    columns: TextColumns,
    clean: Clean = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes that score.")] = 1,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Score one of N shards, such as 3/8; all/8 puts the eight together."),
    ] = None,
    resamples: Resamples = 1_000,
    seed: Seed = 0,
    overwrite: Annotated[
        bool,
        typer.Option(
            help="Replace SCORED.jsonl, scores by the same metric with another signature, and what a stopped scoring "
            "with other options has written."
        ),
    ] = False,
    long_signatures: LongSignatures = False,
) -> None:
    """Score pairs of candidates and references: a table of means with intervals, and each item's scores.

    Pairs come from two files, row by row (a text a line, or a column of a table or of JSON), or from records; text may
    be gzip. With --out each row gains `"scores": {"rouge-1": 0.41, ...}`, raw and not times 100; a score that is
    undefined is null, and `"undefined"` says why. The other fields of a row are kept, scores by other metrics too.
    SCORED.jsonl.signatures.json says what each metric's scores depend on. Memory is bounded for any number of pairs.

    To continue a scoring that was stopped or killed, give the same command again. Its rows are in
    SCORED.jsonl.scoring until it is complete.

    Several jobs, on one machine or many, score a shard each with `--shard 1/8` to `--shard 8/8`, or as processes of
    `accelerate launch`. Then the same command with `--shard all/8` writes what one job would have written.

    **Examples**

    rlsum score --candidates c.txt --references r.txt r2.txt --metrics 'rouge-l, twmd(direction=f1)'

    rlsum score --input pairs.jsonl -o scored.jsonl --workers 4

    rlsum score --input pairs.jsonl -o scored.jsonl --shard 3/8

    rlsum score outputs.jsonl -o scored.jsonl --metrics 'rouge-l,wms(vectors=vectors.txt.gz, normalize=unit)'

    rlsum score scored.jsonl -o scored.jsonl --overwrite --metrics meteor
    """
    pairs = given.pairs(files or [], columns)
    choices: dict[str, Any] = {"language": language, "clean": clean, "out": out, "workers": workers, "shard": shard}
    choices |= {"resamples": resamples, "seed": seed, "overwrite": overwrite, "say": partial(typer.echo, err=True)}
    with bars() as advance:
        scored = api.score(pairs, metrics=metrics, **choices, advance=advance)
    show(scored.blocks(long_signatures), Console())
    if out is not None:
        share = Shard.given(shard)
        typer.echo(f"{share.file(out)}: {scored.rows:,} records scored" + f", shard {share} alone" * share.partial)
