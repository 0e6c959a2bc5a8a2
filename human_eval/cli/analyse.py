"""``rlsum human-eval analyse``: judgments and the key -> a verdict."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import Field
from pydantic.dataclasses import dataclass
from rich.console import Console

from human_eval.cli.arguments import StudyFolder
from human_eval.votes.exclusion import ExclusionRules
from rlsum.cli.options import JUDGMENTS, Overwrite, expanded
from rlsum.errors import UserError
from rlsum.files import check_folder
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from human_eval.statistics.analysis import Analysis
    from human_eval.statistics.settings import AnalysisSettings


@dataclass(frozen=True)
class Analysing:
    """The choices of an analysis. None: not given."""

    key: Path | None = Field(default=None, title="KEY.json")
    """the key; default: key.json in STUDY"""
    plan: Path | None = Field(default=None, title="PLAN.json")
    """file that `plan` wrote; sets primary, alpha and exclusions"""
    scores: list[Path] | None = Field(default=None, title="SCORED.jsonl")
    """outputs scored by `rlsum score`, ideally the whole test set; repeatable"""
    primary: str | None = None
    """criterion fixed beforehand; default: none, one family"""
    alpha: float | None = None
    """significance level; default: .05"""
    resamples: int = Field(default=10_000, ge=1)
    """resamples of intervals, sign flips of tests"""
    seed: int = Field(default=0, ge=0)
    """seed of intervals and p-values"""


@expanded
def analyse(
    *,
    study: StudyFolder,
    judgments: Annotated[Path, typer.Argument(metavar="JUDGMENTS.jsonl", help="File that `collect` wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the verdict in all formats.")],
    how: Analysing,
    rules: ExclusionRules,
    context: typer.Context,
    overwrite: Overwrite = False,
) -> None:
    """Unblind a study and report which system judges prefer, with intervals and tests.

    For each criterion and pair of systems: the share of votes, whether these judges prefer a system and whether judges
    like them would, with tests after Holm's correction and intervals that agree with them. Also: agreement of the
    judges, a ranking of more than two systems, effects of side, length and single judges, excluded judges, the verdict
    without exclusions.
    With --scores also the accuracy of each metric, and estimates that use its scores as control variates.

    **Examples**

    rlsum human-eval analyse study judgments.jsonl -o verdict

    rlsum human-eval analyse study judgments.jsonl --key ~/key.json --plan plan.json --scores scored.jsonl -o verdict
    """
    from human_eval.report.card import FILES
    from human_eval.statistics.analysis import analyse
    from human_eval.statistics.metrics import read_scores
    from human_eval.votes.unblind import read_votes

    check_folder("out", out, FILES, overwrite)
    names = ("primary", "alpha", *(field.name for field in fields(rules)))
    typed = [name for name in names if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    settings = _settings(how, rules, typed)
    votes = read_votes(study, judgments, how.key or study)
    scores = read_scores(how.scores, votes.systems, votes.texts) if how.scores else None
    _write(analyse(votes, settings, scores), out)


def import_judgments(
    data: Annotated[str, typer.Argument(metavar="DATA", help=JUDGMENTS)],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the verdict in all formats.")],
    primary: Annotated[str | None, typer.Option(help="Criterion fixed beforehand; default: none, one family.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of intervals and p-values.")] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Analyse judgments that people made elsewhere, such as public data, as `analyse` does those of a study.

    Each judge who scored two texts of an input prefers the one with the higher score. Judges must be named. Errors that
    judges marked are analysed, too.

    **Examples**

    rlsum human-eval import-judgments zhang2023:zhang2023_pairwise.json.gz -o verdict --primary overall

    rlsum human-eval import-judgments squality:squality/ -o verdict --primary overall
    """
    from human_eval.report.card import FILES
    from human_eval.statistics.analysis import analyse
    from human_eval.statistics.settings import AnalysisSettings
    from human_eval.votes.imported import votes_of
    from rlsum.judgments.registry import load

    check_folder("out", out, FILES, overwrite)
    _write(analyse(votes_of(load(data)), AnalysisSettings(primary, seed=seed)), out)


def _write(analysis: Analysis, out: Path) -> None:
    from human_eval.report.card import summary, write_card

    write_card(analysis, out)
    show(summary(analysis), Console())
    typer.echo(f"{out}: verdict.html, and the verdict as Markdown, LaTeX, CSV, JSON and PNG")
    if analysis.votes.texts:
        learned = ["--score", analysis.shown, "--metric", "reward-model(model=minilm)", "-o", "runs/preference"]
        command = shlex.join(["rlsum", "fit-metric", str(out), *learned])
        typer.echo(f"next, a reward from these votes: {command}")


def _settings(how: Analysing, rules: ExclusionRules, typed: Sequence[str]) -> AnalysisSettings:
    """Settings from the plan, or from the options ``given``; both together are refused as ambiguous."""
    from human_eval.planning.plan import settings_of
    from human_eval.statistics.settings import AnalysisSettings, Uncertainty

    uncertainty = Uncertainty(resamples=how.resamples, seed=how.seed)
    if how.plan is not None:
        if typed:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in typed)
            raise UserError(f"{options}: the plan sets this; leave out the option, or --plan")
        return settings_of(how.plan, uncertainty)
    chosen: dict[str, Any] = {name: getattr(how, name) for name in ("primary", "alpha") if name in typed}
    return AnalysisSettings(**chosen, rules=rules, **vars(uncertainty))
