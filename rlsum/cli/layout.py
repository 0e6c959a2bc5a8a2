"""Options of commands that read judgments in the layout of others."""

from __future__ import annotations

from typing import Annotated, Any

import typer

LowerIsBetter = Annotated[
    str, typer.Option(help="Scores to negate, such as errors or ranks, separated by commas; they become negated_NAME.")
]
COLUMNS = "Columns of other layouts"


def _column(of: str) -> Any:
    return typer.Option(help=of, rich_help_panel=COLUMNS)


IdColumn = Annotated[str | None, _column("Of the input: a column, or a dotted path into nested values.")]
SystemColumn = Annotated[str | None, _column("Of the system's name.")]
CandidateColumn = Annotated[str | None, _column("Of the judged text.")]
ReferenceColumn = Annotated[str | None, _column("Of the references; '' if there are none.")]
SourceColumn = Annotated[str | None, _column("Of the articles.")]
GroupColumn = Annotated[str | None, _column("Of the groups, such as topics.")]
CriterionColumn = Annotated[str | None, _column("Of what is rated, where a row is of one criterion.")]
JudgeColumn = Annotated[str | None, _column("Of who gave the scores.")]


def listed(written: str) -> list[str]:
    """The names that an option lists, separated by commas."""
    return list(dict.fromkeys(name.strip() for name in written.split(",") if name.strip()))
