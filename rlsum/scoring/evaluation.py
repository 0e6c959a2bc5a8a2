"""Systems evaluated: means, properties and differences as a report, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

from rewards.base import Reward
from rewards.scoring import headings, short_signature
from rlsum.evaluation.statistics import Interval
from rlsum.pages.blocks import Block, Bullets
from rlsum.records import Output, finite
from rlsum.scoring.comparison import Comparison, Resampling, compare_all, intervals
from rlsum.scoring.outputs import SystemScores
from rlsum.scoring.tables import difference_table, metric_table, property_table

Means = Mapping[str, Mapping[str, Interval]]  # system -> metric or property -> mean with interval


@dataclass(frozen=True)
class Evaluated:
    """Systems with their outputs, in one order throughout; all others are compared with ``compared_with``."""

    outputs: Mapping[str, Sequence[Output]]
    metrics: Means
    properties: Means
    comparisons: Sequence[Comparison]
    compared_with: str
    resampling: Resampling
    signatures: Mapping[str, str]
    headings: Mapping[str, str]
    corpus: Mapping[str, Mapping[str, float]]
    missing: Mapping[str, str]


def evaluate(
    outputs: Mapping[str, Sequence[Output]],
    scores: Mapping[str, SystemScores],
    compared_with: str,
    resampling: Resampling,
    rewards: Mapping[str, Reward],
    missing: Mapping[str, str] | None = None,
) -> Evaluated:
    """Means of every system, and its differences from ``compared_with`` on every metric of ``rewards``.

    ``missing`` maps metric -> why it cannot be computed.
    """
    missing = {**(missing or {}), **{name: reason for each in scores.values() for name, reason in each.missing.items()}}
    return Evaluated(
        outputs,
        {system: intervals(each.metrics, resampling) for system, each in scores.items()},
        {system: intervals(each.properties, resampling) for system, each in scores.items()},
        compare_all(list(scores.values()), scores[compared_with], resampling),
        compared_with,
        resampling,
        {label: reward.signature for label, reward in rewards.items() if label not in missing},
        headings(rewards),
        {system: each.corpus for system, each in scores.items() if each.corpus},
        missing,
    )


def report(evaluation: Evaluated, long_signatures: bool = False) -> list[Block]:
    """Tables of scores, properties and differences, then the signatures, by default their short forms."""
    sizes = ", ".join(f"{system} {len(outputs):,}" for system, outputs in evaluation.outputs.items())
    articles = f"Articles: {sizes}; {evaluation.resampling.note}."
    tables = [
        metric_table(
            evaluation.metrics,
            evaluation.missing,
            "Scores x 100",
            [articles, *_undefined(evaluation), *_identical(evaluation)],
            evaluation.headings,
            evaluation.corpus,
        ),
        property_table(evaluation.properties, "Properties of the summaries"),
    ]
    if evaluation.comparisons:
        test = "Two-sided sign-flip permutation test, paired by id; Holm: adjusted for all rows of this table."
        notes = [test, *_unpaired(evaluation.comparisons), *_other_references(evaluation)]
        tables.append(difference_table(evaluation.comparisons, f"Against {evaluation.compared_with}", notes))
    signatures = list(evaluation.signatures.values())
    return [*tables, Bullets(signatures if long_signatures else [short_signature(text) for text in signatures], "code")]


def to_json(evaluation: Evaluated) -> str:
    """Raw scores, not times 100; what is undefined is null."""
    data = {
        "resampling": asdict(evaluation.resampling),
        "systems": [
            {
                "system": system,
                "articles": len(outputs),
                "metrics": {name: mean._asdict() for name, mean in evaluation.metrics[system].items()},
                "properties": {name: mean._asdict() for name, mean in evaluation.properties[system].items()},
                "corpus": dict(evaluation.corpus.get(system, {})),
            }
            for system, outputs in evaluation.outputs.items()
        ],
        "differences": [{**asdict(item), "interval": item.interval._asdict()} for item in evaluation.comparisons],
        "signatures": dict(evaluation.signatures),
        "missing": dict(evaluation.missing),
    }
    return json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def _identical(evaluation: Evaluated) -> list[str]:
    """Systems that wrote the same texts: two names of one model, such as a run whose best weights are its start."""
    texts = {system: {each.id: each.candidate for each in outputs} for system, outputs in evaluation.outputs.items()}
    return [
        f"Warning: {first} and {second} wrote the same text for all {len(texts[first]):,} articles; a run that "
        "never beat its start leaves the weights of the start."
        for first, second in combinations(texts, 2)
        if texts[first] == texts[second]
    ]


def _undefined(evaluation: Evaluated) -> list[str]:
    sizes = {system: len(outputs) for system, outputs in evaluation.outputs.items()}
    return [
        f"{system}: {name} is defined for {interval.n:,} of {sizes[system]:,} articles; the others are left out "
        "(`rlsum score` gives the reasons)."
        for system, row in evaluation.metrics.items()
        for name, interval in row.items()
        if interval.n < sizes[system]
    ]


def _unpaired(comparisons: Sequence[Comparison]) -> list[str]:
    lines = [
        f"{item.system} and {item.baseline} share {item.shared:,} articles; {item.unpaired:,} articles with an output "
        "of only one of them are left out of the comparison."
        for item in comparisons
        if item.unpaired
    ]
    return list(dict.fromkeys(lines))


def _other_references(evaluation: Evaluated) -> list[str]:
    """Scores against other references are not comparable, which the reader may not know of the files."""
    known = {output.id: output.references for output in evaluation.outputs[evaluation.compared_with]}
    counts = {
        system: sum(output.references != known.get(output.id, output.references) for output in outputs)
        for system, outputs in evaluation.outputs.items()
    }
    return [
        f"Warning: for {count:,} articles the references of {system} differ from those of {evaluation.compared_with}."
        for system, count in counts.items()
        if count
    ]
