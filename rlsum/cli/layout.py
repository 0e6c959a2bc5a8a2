"""Options of commands that read judgments in the layout of others."""

from __future__ import annotations

from typing import Annotated

import typer

LowerIsBetter = Annotated[
    str, typer.Option(help="Scores to negate, such as errors or ranks, separated by commas; they become negated_NAME.")
]
COLUMNS = "Columns of other layouts"
PATH = "a column, or a dotted path into nested values"
IdColumn = Annotated[str | None, typer.Option(help=f"Of the input: {PATH}.", rich_help_panel=COLUMNS)]
SystemColumn = Annotated[str | None, typer.Option(help="Of the system's name.", rich_help_panel=COLUMNS)]
CandidateColumn = Annotated[str | None, typer.Option(help="Of the judged text.", rich_help_panel=COLUMNS)]
ReferenceColumn = Annotated[
    str | None, typer.Option(help="Of the references; '' if there are none.", rich_help_panel=COLUMNS)
]
SourceColumn = Annotated[str | None, typer.Option(help="Of the articles.", rich_help_panel=COLUMNS)]
GroupColumn = Annotated[str | None, typer.Option(help="Of the groups, such as topics.", rich_help_panel=COLUMNS)]
CriterionColumn = Annotated[
    str | None, typer.Option(help="Of what is rated, where a row is of one criterion.", rich_help_panel=COLUMNS)
]
JudgeColumn = Annotated[str | None, typer.Option(help="Of who gave the scores.", rich_help_panel=COLUMNS)]


def listed(written: str) -> list[str]:
    """The names that an option lists, separated by commas."""
    return list(dict.fromkeys(name.strip() for name in written.split(",") if name.strip()))
