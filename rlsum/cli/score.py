"""``rlsum score``: the scores of pairs, item by item and as means; streaming, resumable, in several processes."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlsum.cli.destination import check_free
from rlsum.cli.options import STANDARD, LongSignatures, Metrics, progress
from rlsum.errors import UserError

if TYPE_CHECKING:
    from rlsum.scoring.journal import Journal
    from rlsum.scoring.pairs import Pairs, Row
    from rlsum.scoring.streaming import Scoring


def score(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...", help="Records to score, like --input; with --references: more files of references."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="SCORED.jsonl", help="File of each item's scores.")
    ] = None,
    metrics: Metrics = STANDARD,
    records: Annotated[
        Path | None,
        typer.Option("--input", metavar="PAIRS.jsonl", help="Rows with candidate, references or reference."),
    ] = None,
    candidates: Annotated[Path | None, typer.Option(metavar="C.txt", help="Candidates, a text a line.")] = None,
    references: Annotated[
        list[Path] | None,
        typer.Option(metavar="R.txt [R2.txt]", help="References, line i for candidate i; several files, or repeated."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that score.")] = 1,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples of each interval.")] = 1_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same intervals.")] = 0,
    overwrite: Annotated[
        bool, typer.Option(help="Replace SCORED.jsonl, and scores by the same metric with another signature.")
    ] = False,
    long_signatures: LongSignatures = False,
) -> None:
    """Score pairs of candidates and references: a table of means with 95% intervals, and each item's scores.

    Pairs come from text files, a text a line, or from JSONL; either may be gzip. With --out each row gains
    `"scores": {"rouge-1": 0.41, ...}`, raw and not times 100; a score that is undefined is null, and `"undefined"` says
    why. The other fields of a row are kept, scores by other metrics too. SCORED.jsonl.signatures.json says what each
    metric's scores depend on. Memory is bounded for any number of pairs.

    To continue a scoring that was stopped or killed, give the same command again. Its rows are in
    SCORED.jsonl.scoring until it is complete.

    **Examples**

    rlsum score --candidates c.txt --references r.txt r2.txt --metrics 'rouge-l, twmd(direction=f1)'

    rlsum score --input pairs.jsonl -o scored.jsonl --workers 4

    rlsum score outputs.jsonl -o scored.jsonl --metrics 'rouge-l,wms(vectors=vectors.txt.gz, normalize=unit)'

    rlsum score scored.jsonl -o scored.jsonl --overwrite --metrics meteor
    """
    from contextlib import closing

    import rewards
    from rewards.scoring import headings, short_signature
    from rlsum.scoring import signatures as recorded
    from rlsum.scoring.journal import Journal
    from rlsum.scoring.streaming import CHUNK, Scoring

    scorers = rewards.from_specs(metrics)  # raises for an unknown name or a missing file before anything is read
    pairs = _pairs(files or [], records, candidates, references or [])
    if out is not None:
        check_free("--out", out, overwrite)
        if out.suffix == ".gz":
            raise UserError(f"--out {out}: rows are written as plain text; leave .gz out of the name")
    identity = pairs.check(scorers.values())
    columns = ScoredPairs()
    with Scoring(metrics, workers) as scoring:
        signatures = scoring.signatures()
        if out is None:
            _run(pairs, scoring, columns, None, identity.rows)
        else:
            _check_kept(recorded.changed(identity.scored, signatures), overwrite)
            kept = {metric: known for metric, known in identity.scored.items() if known is not None}
            origin = {"signatures": signatures, "input": identity.content, "rows": identity.rows}
            with closing(Journal(out, origin, CHUNK)) as journal:
                _run(pairs, scoring, columns, journal, identity.rows)
                recorded.write(out, {**kept, **signatures})
                journal.finish()
    _print(columns, headings(scorers), resamples, seed)
    if out is not None:
        typer.echo(f"{out}: {identity.rows:,} records scored")
    for label, signature in signatures.items():
        undefined = columns.undefined(label)
        shown = signature if long_signatures else short_signature(signature)
        typer.echo(shown + (f"  ({undefined:,} undefined)" if undefined else ""))


class ScoredPairs:
    """Scores by system and label, eight bytes each."""

    def __init__(self) -> None:
        self.by_system: dict[str, dict[str, array[float]]] = {}

    def add(self, row: Row, scores: dict[str, float | None]) -> None:
        """Add one row's scores; None becomes NaN."""
        columns = self.by_system.setdefault(str(row.get("system") or "candidates"), {})
        for label, value in scores.items():
            columns.setdefault(label, array("d")).append(float("nan") if value is None else value)

    def undefined(self, label: str) -> int:
        """Number of rows without a score by this label."""
        return sum(value != value for columns in self.by_system.values() for value in columns[label])


def _pairs(files: list[Path], records: Path | None, candidates: Path | None, references: list[Path]) -> Pairs:
    """The pairs that the options name."""
    from rlsum.scoring.pairs import Records, Texts

    if candidates is not None or references:
        if records is not None:
            raise UserError(f"--input {records} and --candidates exclude each other; give one")
        if candidates is None or not references:
            raise UserError("--candidates and --references belong together; give both")
        return Texts(candidates, (*references, *files))
    given = [*([records] if records is not None else []), *files]
    if len(given) != 1:
        problem = "several files of records; give one" if given else "nothing to score; give a file of records"
        raise UserError(f"{problem} (--input PAIRS.jsonl), or --candidates C.txt --references R.txt")
    return Records(given[0])


def _check_kept(changed: list[str], overwrite: bool) -> None:
    """Raise UserError where existing scores would be replaced by others without --overwrite."""
    problem = f"rows already have scores by {', '.join(changed)}, with another signature or none recorded"
    if changed and not overwrite:
        fix = "add --overwrite to replace them, or name both variants in one --metrics to keep both"
        raise UserError(f"{problem}; {fix}")
    if changed:
        typer.echo(f"{problem}; they are replaced", err=True)


def _run(pairs: Pairs, scoring: Scoring, columns: ScoredPairs, journal: Journal | None, total: int) -> None:
    """Score the rows that are not in the journal, with progress in a terminal."""
    import itertools

    from rlsum.scoring.streaming import chunked

    done = 0 if journal is None else journal.done
    if journal is not None and done:
        typer.echo(f"{journal.path}: {done:,} of {total:,} rows are already scored; continuing", err=True)
        for row in itertools.islice(journal.written(), done):
            columns.add(row, {label: row["scores"][label] for label in journal.origin["signatures"]})
    with progress() as bar:
        task = bar.add_task("scoring", total=total, completed=done)
        for rows, scored in scoring.chunks(chunked(itertools.islice(pairs, done, None))):
            for row, result in zip(rows, scored, strict=True):
                columns.add(row, result.scores)
            if journal is not None:
                journal.append([_joined(row, *result) for row, result in zip(rows, scored, strict=True)])
            bar.advance(task, len(rows))


def _joined(row: Row, scores: dict[str, float | None], undefined: dict[str, str]) -> dict[str, Any]:
    """The row with its new scores and reasons; those of other metrics stay."""
    others = {metric: reason for metric, reason in row.get("undefined", {}).items() if metric not in scores}
    return {**row, "scores": {**row.get("scores", {}), **scores}, "undefined": {**others, **undefined}}


def _print(columns: ScoredPairs, headings: dict[str, str], resamples: int, seed: int) -> None:
    """One row a system: means with intervals."""
    import numpy as np
    from rich.console import Console

    from rlsum.pages.terminal import show
    from rlsum.scoring.comparison import Resampling
    from rlsum.scoring.tables import metric_table

    resampling = Resampling(resamples=resamples, seed=seed)
    means = {
        system: {label: resampling.interval(np.frombuffer(scores[label])) for label in headings}
        for system, scores in columns.by_system.items()
    }
    sizes = ", ".join(f"{system} {len(next(iter(scores.values()))):,}" for system, scores in columns.by_system.items())
    show([metric_table(means, {}, "Scores x 100", [f"Items: {sizes}; {resampling.note}."], headings)], Console())
