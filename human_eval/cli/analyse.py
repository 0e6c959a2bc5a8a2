"""``rlsum human-eval analyse``: judgments and the key -> a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from human_eval.cli.arguments import StudyFolder
from rlsum.cli.options import Overwrite
from rlsum.errors import UserError
from rlsum.files import check_folder
from rlsum.pages.terminal import show

if TYPE_CHECKING:
    from human_eval.statistics.analysis import AnalysisSettings


def analyse(
    study: StudyFolder,
    judgments: Annotated[Path, typer.Argument(metavar="JUDGMENTS.jsonl", help="File that `collect` wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the verdict in all formats.")],
    key: Annotated[Path | None, typer.Option(metavar="KEY.json", help="The key (default: key.json in STUDY).")] = None,
    plan: Annotated[
        Path | None,
        typer.Option(metavar="PLAN.json", help="File that `plan` wrote; sets primary, alpha and exclusions."),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="SCORED.jsonl", help="Outputs scored by `rlsum score`, ideally the whole test set; repeatable."
        ),
    ] = None,
    primary: Annotated[str | None, typer.Option(help="Criterion fixed beforehand (default: none, one family).")] = None,
    alpha: Annotated[float | None, typer.Option(help="Significance level (default: .05).")] = None,
    max_failed: Annotated[
        float | None,
        typer.Option(help="Exclude judges who failed more than this share of checks (default: as `build` states)."),
    ] = None,
    min_seconds: Annotated[
        float | None, typer.Option(help="Exclude judges whose median time per task is below this (default: 0, nobody).")
    ] = None,
    overwrite: Overwrite = False,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples of intervals, sign flips of tests.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of intervals and p-values.")] = 0,
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
    from human_eval.report.card import FILES, summary, write_card
    from human_eval.statistics.analysis import analyse
    from human_eval.statistics.metrics import read_scores
    from human_eval.statistics.unblind import read_votes

    check_folder("out", out, FILES, overwrite)
    given = {"primary": primary, "alpha": alpha, "max_failed": max_failed, "min_seconds": min_seconds}
    settings = _settings(plan, {name: value for name, value in given.items() if value is not None}, resamples, seed)
    votes = read_votes(study, judgments, key or study)
    analysis = analyse(votes, settings, read_scores(scores, votes.systems) if scores else None)
    write_card(analysis, out)
    show(summary(analysis), Console())
    typer.echo(f"{out}: verdict.html, and the verdict as Markdown, LaTeX, CSV, JSON and PNG")


def _settings(plan: Path | None, given: dict[str, Any], resamples: int, seed: int) -> AnalysisSettings:
    """Settings from the plan, or from the options ``given``; both together are refused as ambiguous."""
    from human_eval.planning.plan import settings_of
    from human_eval.statistics.analysis import AnalysisSettings
    from human_eval.statistics.exclusion import ExclusionRules

    if plan is not None:
        if given:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise UserError(f"{options}: the plan sets this; leave out the option, or --plan")
        return settings_of(plan, resamples, seed)
    rules = {name: given.pop(name) for name in ("max_failed", "min_seconds") if name in given}
    return AnalysisSettings(**given, rules=ExclusionRules(**rules), resamples=resamples, seed=seed)
