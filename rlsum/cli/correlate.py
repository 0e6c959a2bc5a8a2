"""``rlsum correlate``: how well metrics agree with human judgments, and which differences are real."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rlsum.cli.destination import check_folder
from rlsum.cli.options import JUDGMENTS, HumanScore, LongSignatures, Metrics, chosen, progress
from rlsum.errors import UserError

if TYPE_CHECKING:
    from rlsum.judgments.collection import Judgments
    from rlsum.meta_evaluation.scores import ScoreTable

Level = Literal["pooled", "input", "system"]
Random = Literal["inputs", "systems", "both"]
Average = Literal["groups", "rows"]
Test = Literal["auto", "williams", "permutation", "clustered permutation"]


def correlate(
    data: Annotated[str, typer.Argument(metavar="DATA", help=JUDGMENTS)],
    metrics: Metrics = "rouge-1,rouge-2,rouge-l",
    score: HumanScore = "overall",
    level: Annotated[Level, typer.Option(help="All rows; within inputs, averaged; system means.")] = "pooled",
    statistic: Annotated[
        str, typer.Option(help="spearman, pearson, kendall, acc-t, spa (systems only), separated by commas.")
    ] = "spearman,pearson,kendall",
    by_group: Annotated[
        bool, typer.Option("--by-group", help="Correlate within each group (language pair, topic) and average.")
    ] = False,
    average: Annotated[
        Average | None,
        typer.Option(help="With --by-group: weight groups equally (groups, the default) or by rows."),
    ] = None,
    random: Annotated[
        Random | None,
        typer.Option(help="Generalise to new inputs, new systems, or both (default from 8 systems)."),
    ] = None,
    test: Annotated[Test, typer.Option(help="Test between metrics; auto chooses by the data.")] = "auto",
    length: Annotated[
        str, typer.Option(help="Text lengths to compare with: letters, words, whitespace, characters.")
    ] = "letters",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Write HTML, Markdown, LaTeX, CSV, JSON, PNG.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files of FOLDER.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    cache: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Cache of scores (default: ~/.cache/rlsum).")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not cache scores.")] = False,
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap resamples per interval, swaps per test.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of intervals and p-values.")] = 0,
    long_signatures: LongSignatures = False,
) -> None:
    """Correlate metrics with human judgments: values with intervals, and tests between metrics.

    The tables also show the length of the candidate and, if the data have single judges' scores, how well one judge
    predicts the others. Intervals and tests are about new systems and new inputs where there are enough systems (8, or
    20 for texts), otherwise about new inputs for these systems. Differences are tested for each pair of metrics, with
    Holm's correction. Scores are cached on disk.

    **Examples**

    rlsum correlate judged.jsonl --metrics rouge-l,meteor

    rlsum correlate judged.jsonl --metrics 'rouge-l,rouge-l(direction=recall)' --score grammar --level input -o report

    rlsum correlate wmt-da:wmt17_da_seg.tsv.gz --by-group --statistic kendall,pearson,acc-t --json
    """
    from itertools import chain

    import rewards
    from rewards.scoring import columns_read
    from rlsum.judgments.registry import load
    from rlsum.meta_evaluation.cache import default_folder, scores_file
    from rlsum.meta_evaluation.evaluation import Choices, meta_evaluate
    from rlsum.meta_evaluation.report import FILES

    statistics: Any = chosen("--statistic", statistic, ("spearman", "pearson", "kendall", "acc-t", "spa"))
    units = chosen("--length", length, ("letters", "words", "whitespace", "characters")) if length else []
    if average is not None and not by_group:
        raise UserError(f"--average {average}: it averages over groups; add --by-group")
    _check_test(test, level, statistics, by_group)
    _check_random(random, test, by_group)
    scorers = rewards.from_specs(metrics)
    if out is not None:
        check_folder("-o", out, FILES, overwrite)
    file = None if no_cache else scores_file(cache or default_folder())
    judgments = load(data, columns=[*chain(*columns_read(scorers.values()))])
    table = _score(judgments, scorers, score, units, file)
    choices = Choices(level, (average or "groups") if by_group else None, test, resamples, seed, random)
    _show(meta_evaluate(table, statistics, choices), out, as_json, long_signatures)


def _score(judgments: Judgments, scorers: Any, score: str, units: Any, file: Path | None) -> ScoreTable:
    """The table of scores, with a progress bar on a terminal."""
    from rlsum.meta_evaluation.scores import scored, short_labels

    names = short_labels(scorers)
    with progress() as bar:
        tasks = {name: bar.add_task(name, total=len(judgments.rows)) for name in names.values()}
        return scored(
            judgments,
            {names[label]: scorer for label, scorer in scorers.items()},
            score=score,
            length=units,
            cache=file,
            progress=lambda label, count: bar.advance(tasks[label], count),
        )


def _show(evaluation: Any, out: Path | None, as_json: bool, long_signatures: bool) -> None:
    from rich.console import Console

    from rlsum.meta_evaluation.report import summary, to_json, write_report
    from rlsum.pages.terminal import show

    if out is not None:
        write_report(evaluation, out)
    if as_json:
        typer.echo(to_json(evaluation))
        return
    show(summary(evaluation, long_signatures), Console())
    if out is not None:
        typer.echo(f"{out}: report.html, and the same as Markdown, LaTeX, CSV, JSON and PNG")


def _check_random(random: Random | None, test: Test, by_group: bool) -> None:
    """Raise UserError for random systems with options that take systems as given."""
    if random in ("systems", "both") and (by_group or test != "auto"):
        option = "--by-group" if by_group else f"--test {test}"
        raise UserError(f"--random {random}: {option} takes the systems as given; omit one of the two")


def _check_test(test: Test, level: Level, statistics: list[str], by_group: bool) -> None:
    """Raise UserError for a test that the level or the statistics do not have."""
    if test in ("auto", "clustered permutation"):
        return
    if by_group:
        raise UserError(f"--test {test}: within groups, only 'clustered permutation' is available; omit --test")
    if test == "williams" and (level != "pooled" or not set(statistics) <= {"spearman", "pearson"}):
        raise UserError("--test williams: needs --level pooled and --statistic pearson,spearman; omit --test")
    if test == "permutation" and level == "input":
        raise UserError("--test permutation: swaps rows; for --level input use 'clustered permutation'")
