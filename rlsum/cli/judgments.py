"""``rlsum data judgments``: look at human judgments, convert public data to our records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rlsum.cli.layout import COLUMNS, Layout, LowerIsBetter
from rlsum.cli.options import expanded, listed
from rlsum.files import check_free
from rlsum.judgments.public import HUB, READERS
from rlsum.pages.blocks import Bullets
from rlsum.pages.table import Table, text_table
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from rlsum.judgments.collection import Judgments

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
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    layout: Layout,
    lower_is_better: LowerIsBetter = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
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
    from rlsum.judgments.columns import score_columns
    from rlsum.judgments.records import write_jsonl
    from rlsum.judgments.registry import load

    if out is not None:
        check_free("out", out, overwrite)
    named = data if path is None else f"{data}:{path}"
    columns = layout.columns(score_columns(score or ()))
    loaded = load(named, layout=columns, lower_is_better=listed(lower_is_better))
    if out is not None:
        write_jsonl(out, loaded.rows)
    show([_counts(loaded), _scores(loaded), Bullets(loaded.notes)], Console())
    if out is not None:
        typer.echo(f"{out}: {len(loaded.rows):,} judgments")


def _counts(loaded: Judgments) -> Table:
    inputs = {(row.group, row.id) for row in loaded.rows}
    systems = Counter(row.system for row in loaded.rows).most_common()
    groups = [*Counter(row.group for row in loaded.rows if row.group).items()]
    rows = [
        ("judgments", f"{len(loaded.rows):,}", ""),
        ("inputs", f"{len(inputs):,}", ""),
        ("systems", f"{len(systems):,}", _named(systems)),
        ("groups", f"{len(groups):,}", _named(groups)),
        ("references each", _spread(len(row.references) for row in loaded.rows), ""),
        ("without a source", f"{sum(not row.source for row in loaded.rows):,}", ""),
        *(("left out", f"{count:,}", reason) for reason, count in loaded.left_out.items()),
    ]
    optional = ("groups", "without a source")
    return text_table(loaded.name, ("", "count", ""), (row for row in rows if row[1] != "0" or row[0] not in optional))


def _scores(loaded: Judgments) -> Table:
    names = "given", "missing", "lowest", "highest", "mean", "scale", "judges each"
    rows = []
    for name in dict.fromkeys(name for row in loaded.rows for name in (*row.scores, *row.raw_scores)):
        values = [value for row in loaded.rows if (value := row.scores.get(name)) is not None]
        told = ["-"] * 3 if not values else [f"{of(values):.3f}" for of in (min, max, fmean)]
        scale = "{:g} to {:g}".format(*loaded.scales[name]) if name in loaded.scales else "-"
        judges = (sum(value is not None for value in row.raw_scores.get(name, ())) for row in loaded.rows)
        counts = f"{len(values):,}", f"{len(loaded.rows) - len(values):,}"
        rows.append((name, *counts, *told, scale, _spread(judges)))
    return text_table("", ("score", *names), rows)


def _named(counts: Sequence[tuple[str, int]]) -> str:
    named = ", ".join(f"{name} {count:,}" for name, count in counts[:MANY])
    return named + (", ..." if len(counts) > MANY else "")


def _spread(numbers: Iterable[int]) -> str:
    """The number if all rows have the same, otherwise each number with its count of rows."""
    counts = sorted(Counter(numbers).items())
    if len(counts) == 1:
        return str(counts[0][0])
    shown = [f"{number} ({rows:,})" for number, rows in counts]
    return ", ".join(shown if len(shown) <= MANY else [shown[0], "...", shown[-1]])
