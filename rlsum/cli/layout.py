"""Options of commands that read judgments in the layout of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlsum.cli.options import ReferenceLists

if TYPE_CHECKING:
    from rlsum.judgments.columns import JudgmentColumns

HumanScore = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[=COLUMN]",
        help="The human score; with its column, or those of several judges, with commas or *. Default: overall, or the "
        "only one.",
    ),
]
LowerIsBetter = Annotated[
    str, typer.Option(help="Scores to negate, such as errors or ranks, separated by commas; they become negated_NAME.")
]
COLUMNS = "Columns of other layouts"


def _column(meaning: str) -> Any:
    return typer.Option(help=meaning, rich_help_panel=COLUMNS)


@dataclass(frozen=True)
class Layout:
    """The columns of judgments that are not records."""

    id_column: Annotated[str | None, _column("Of the input: a column, or a dotted path into nested values.")] = None
    system_column: Annotated[str | None, _column("Of the system's name.")] = None
    candidate: Annotated[str | None, _column("Of the judged text.")] = None
    reference: Annotated[str | None, _column("Of the references; '' if there are none.")] = None
    source: Annotated[str | None, _column("Of the articles.")] = None
    group: Annotated[str | None, _column("Of the groups, such as topics.")] = None
    judge_column: Annotated[str | None, _column("Of who gave the scores.")] = None
    criterion_column: Annotated[str | None, _column("Of what is rated, where a row is of one criterion.")] = None
    reference_lists: ReferenceLists = None

    def columns(self, scores: Mapping[str, tuple[str, ...]]) -> JudgmentColumns:
        """With the columns of scores."""
        from rlsum.judgments.columns import JudgmentColumns

        texts = self.id_column, self.system_column, self.candidate, self.reference, self.source, self.group
        return JudgmentColumns(*texts, scores, self.judge_column, self.reference_lists, self.criterion_column)

    def with_score(self, score: str | None) -> tuple[JudgmentColumns, str | None]:
        """The columns, and the name of the one score, given with its column, as a path or as columns of judges."""
        from rlsum.judgments.columns import score_columns

        marks = "=*,." if self.columns({}) else "=*,"
        scores = score_columns([score]) if score is not None and not {*marks}.isdisjoint(score) else {}
        return self.columns(scores), next(iter(scores), score)
