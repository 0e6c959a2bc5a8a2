"""``rlsum data judgments``: look at human judgments, convert public data to our records."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rlsum.cli.options import LowerIsBetter, expanded, listed
from rlsum.files import check_free
from rlsum.judgments.layout import Layout, score_columns
from rlsum.judgments.public import HUB, READERS
from rlsum.pages.blocks import Bullets
from rlsum.pages.table import Table, text_table
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from rlsum.judgments.collection import JudgmentCounts, Judgments

MANY = 8  # systems or groups to list


@expanded
def judgments(
    *,
    data: Annotated[
        str,
        typer.Argument(
            help="A JSONL file, hf://owner/name, NAME:PATH, or NAME followed by PATH. NAME is one of "
            f"{', '.join(name for name in READERS if name != HUB)}."
        ),
    ],
    path: Annotated[str | None, typer.Argument(help="The file or folder for NAME.", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="JSONL to write, or .jsonl.gz.")] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]COLUMN",
            help="Of a score; several, separated by commas or with *, are of one judge each. Repeatable. Default: all "
            "columns of numbers.",
            rich_help_panel=Layout.PANEL,
        ),
    ] = None,
    layout: Layout,
    lower_is_better: LowerIsBetter = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Check human judgments and summarize them; with -o, write them as JSONL for the other commands.

    NAME is that of public data, with options in parentheses; public JSON needs no name. Judgments that a reader leaves
    out are counted by reason.

    A file in another layout needs the names of its columns, where they differ from those of the records: `a.b` is `b`
    in the object, or in every object of the list, `a`. Rows of one text by several judges become one judgment, the mean
    of theirs.

    **Examples**

    rlsum data judgments judged.jsonl

    rlsum data judgments 'asap-aes(references=1, sentences=5-15)' training_set_rel3.tsv -o essays.jsonl

    rlsum data judgments batch.csv --id-column Input.id --system-column Input.system --candidate Input.summary
    --reference Input.reference --score Answer.coherence --judge-column WorkerId -o judged.jsonl
    """
    from rlsum.judgments.records import write_jsonl
    from rlsum.judgments.registry import load

    if out is not None:
        check_free("out", out, overwrite)
    named = data if path is None else f"{data}:{path}"
    columns = layout.columns(score_columns(score or ()))
    loaded = load(named, layout=columns, lower_is_better=listed(lower_is_better))
    if out is not None:
        write_jsonl(out, loaded.rows)
    _show(loaded, as_json)
    if out is not None and not as_json:
        typer.echo(f"{out}: {len(loaded.rows):,} judgments")


def _show(loaded: Judgments, as_json: bool) -> None:
    from rlsum.judgments.collection import describe

    overview = describe(loaded)
    if not as_json:
        show([_counts(loaded, overview), _scores(overview), Bullets(loaded.notes)], Console())
        return
    remarks = {"left_out": dict(loaded.left_out), "notes": list(loaded.notes)}
    typer.echo(json.dumps({"name": loaded.name, **asdict(overview), **remarks}, indent=2, ensure_ascii=False))


def _counts(loaded: Judgments, overview: JudgmentCounts) -> Table:
    rows = [
        ("judgments", f"{overview.rows:,}", ""),
        ("inputs", f"{overview.inputs:,}", ""),
        ("systems", f"{len(overview.systems):,}", _named(overview.systems)),
        ("groups", f"{len(overview.groups):,}", _named(overview.groups)),
        ("references each", _spread(overview.references), ""),
        ("without a source", f"{overview.without_source:,}", ""),
        *(("left out", f"{count:,}", reason) for reason, count in loaded.left_out.items()),
    ]
    optional = ("groups", "without a source")
    return text_table(loaded.name, ("", "count", ""), (row for row in rows if row[1] != "0" or row[0] not in optional))


def _scores(overview: JudgmentCounts) -> Table:
    names = "given", "missing", "lowest", "highest", "mean", "scale", "tied pairs", "judges each"
    rows = []
    for score in overview.scores:
        values = ("-" if value is None else f"{value:.3f}" for value in (score.lowest, score.highest, score.mean))
        scale = f"{score.scale[0]:g} to {score.scale[1]:g}" if score.scale else "-"
        ties = "-" if score.ties is None else f"{score.ties:.1%}"
        counts = f"{score.given:,}", f"{score.missing:,}"
        rows.append((score.name, *counts, *values, scale, ties, _spread(score.judges)))
    return text_table("", ("score", *names), rows)


def _named(counts: dict[str, int]) -> str:
    named = ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:MANY])
    return named + (", ..." if len(counts) > MANY else "")


def _spread(counts: dict[int, int]) -> str:
    """The number if all rows have the same, otherwise each number with its count of rows."""
    if len(counts) == 1:
        return str(next(iter(counts)))
    shown = [f"{number} ({rows:,})" for number, rows in counts.items()]
    return ", ".join(shown if len(shown) <= MANY else [shown[0], "...", shown[-1]])
