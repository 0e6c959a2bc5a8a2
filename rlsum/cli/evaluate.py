"""``rlsum evaluate``: systems by metrics, with intervals, properties and paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rlsum.evaluation.statistics import Interval
    from rlsum.pages.table import Table
    from rlsum.records import Output
    from rlsum.scoring.comparison import Comparison, Resampling
    from rlsum.scoring.outputs import SystemScores

STANDARD = "rouge-1(stemmer=true),rouge-2(stemmer=true),rouge-lsum(stemmer=true)"


def evaluate(
    files: Annotated[list[Path], typer.Argument(metavar="OUT.jsonl...", help="Outputs of one or more systems.")],
    metrics: Annotated[
        str, typer.Option(help="Metrics with their options, separated by commas; `rlsum rewards` lists them.")
    ] = STANDARD,
    baseline: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="What the others are compared with (default: the first).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the same as JSON, with raw scores (not x 100).")
    ] = False,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples of each interval and each test.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same intervals and p-values.")] = 0,
) -> None:
    """Score outputs: a table of systems by metrics, with 95% intervals.

    Several systems (in one file or several) are also compared with the first, or with --baseline, article by
    article: mean difference, interval and permutation p-value. Length, repetition, novelty, copying and invented names
    stand beside the scores, because a reward can be gained by them alone. Signatures say what the scores depend on.

    The default metrics are what papers report: ROUGE-1, ROUGE-2 and ROUGE-Lsum with stemming, one sentence a line.

    **Examples**

    rlsum evaluate outputs.jsonl

    rlsum evaluate mle.jsonl rl.jsonl --metrics 'rouge-l,sms(vectors=vectors.txt.gz, normalize=unit)'

    rlsum evaluate all.jsonl --baseline lead-3 --json > scores.json
    """
    import rewards
    from rlsum.scoring.comparison import Resampling, compare_all
    from rlsum.scoring.outputs import check_columns, read_systems

    scorers = rewards.from_specs(metrics)
    outputs = read_systems(files)
    check_columns(outputs, scorers)
    reference = _baseline(baseline, list(outputs))
    resampling = Resampling(resamples=resamples, seed=seed)
    scores = _score(outputs, scorers)
    comparisons = compare_all(list(scores.values()), scores[reference], resampling)
    signatures = {label: scorer.signature for label, scorer in scorers.items()}
    if as_json:
        typer.echo(_json(scores.values(), comparisons, resampling, signatures))
    else:
        _print(_tables(outputs, scores.values(), comparisons, reference, resampling), signatures)


def _baseline(wanted: str | None, systems: Sequence[str]) -> str:
    from rlsum.errors import UserError

    if wanted is not None and wanted not in systems:
        raise UserError(f"--baseline {wanted!r} is not among the systems; choose one of {', '.join(systems)}")
    return wanted or systems[0]


def _score(outputs: Mapping[str, Sequence[Output]], scorers: Mapping[str, Any]) -> dict[str, SystemScores]:
    """Score each system, telling a watching terminal what is under way."""
    from rich.console import Console

    from rlsum.scoring.outputs import SystemScores, measure_properties, score_outputs

    scores = {}
    with Console(stderr=True).status("") as status:
        for system, members in outputs.items():
            status.update(f"{system}: {', '.join(scorers)}")
            columns = score_outputs(members, scorers)
            ids = tuple(output.id for output in members)
            scores[system] = SystemScores(system, ids, columns, measure_properties(members))
    return scores


def _tables(
    outputs: Mapping[str, Sequence[Output]],
    scores: Iterable[SystemScores],
    comparisons: Sequence[Comparison],
    reference: str,
    resampling: Resampling,
) -> list[Table]:
    from rlsum.scoring.comparison import intervals
    from rlsum.scoring.tables import difference_table, metric_table, property_table

    means = {score.system: intervals(score.metrics, resampling) for score in scores}
    properties = {score.system: intervals(score.properties, resampling) for score in scores}
    how = f"beneath each mean its {resampling.level:.0%} bootstrap interval ({resampling.resamples:,} resamples)"
    sizes = ", ".join(f"{system} {len(members):,}" for system, members in outputs.items())
    tables = [
        metric_table(means, {}, "Scores x 100", [f"Articles: {sizes}; {how}.", *_undefined(means, outputs)]),
        property_table(properties, "What the summaries are like"),
    ]
    if comparisons:
        test = "two-sided sign-flip permutation test, paired by id; Holm: adjusted for all rows of this table."
        notes = [test, *_unpaired(comparisons), *_other_references(outputs, reference)]
        tables.append(difference_table(comparisons, f"Against {reference}", notes))
    return tables


def _undefined(means: Mapping[str, Mapping[str, Interval]], outputs: Mapping[str, Sequence[Output]]) -> list[str]:
    return [
        f"{system}: {name} is defined for {interval.n:,} of {len(outputs[system]):,} articles; "
        "the others are left out (`rlsum score` says why)."
        for system, row in means.items()
        for name, interval in row.items()
        if interval.n < len(outputs[system])
    ]


def _unpaired(comparisons: Sequence[Comparison]) -> list[str]:
    lines = [
        f"{item.system} and {item.baseline} share {item.shared:,} articles; {item.unpaired:,} that only one of them "
        "has are left out of the comparison."
        for item in comparisons
        if item.unpaired
    ]
    return list(dict.fromkeys(lines))


def _other_references(outputs: Mapping[str, Sequence[Output]], reference: str) -> list[str]:
    """Scores against other references are other scores: say so, whoever prepared the files may not know."""
    known = {output.id: output.references for output in outputs[reference]}
    counts = {
        system: sum(output.references != known.get(output.id, output.references) for output in members)
        for system, members in outputs.items()
    }
    return [
        f"Careful: for {count:,} articles {system} is scored against other references than {reference}."
        for system, count in counts.items()
        if count
    ]


def _print(tables: Sequence[Table], signatures: Mapping[str, str]) -> None:
    from rich.console import Console

    from rlsum.pages.terminal import show

    console = Console()
    show(tables, console)
    for signature in signatures.values():
        console.print(signature, style="dim", markup=False, highlight=False, soft_wrap=True)


def _json(
    scores: Iterable[SystemScores],
    comparisons: Sequence[Comparison],
    resampling: Resampling,
    signatures: Mapping[str, str],
) -> str:
    """Raw scores; what is undefined is null."""
    import json
    from dataclasses import asdict

    from rlsum.scoring.comparison import intervals

    def row(columns: Mapping[str, Interval]) -> dict[str, dict[str, float]]:
        return {name: interval._asdict() for name, interval in columns.items()}

    data = {
        "resampling": asdict(resampling),
        "systems": [
            {
                "system": score.system,
                "articles": len(score.ids),
                "metrics": row(intervals(score.metrics, resampling)),
                "properties": row(intervals(score.properties, resampling)),
            }
            for score in scores
        ],
        "differences": [{**asdict(item), "interval": item.interval._asdict()} for item in comparisons],
        "signatures": dict(signatures),
    }
    return json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    """NaN, which JSON lacks, as null."""
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_finite(member) for member in value]
    return None if isinstance(value, float) and math.isnan(value) else value
