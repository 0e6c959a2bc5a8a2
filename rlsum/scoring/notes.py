"""What is said below the tables of an evaluation: warnings, and what its reader cannot see of the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from rlsum.evaluation.statistics import Interval
from rlsum.pages.table import joined
from rlsum.records import Output
from rlsum.scoring.comparison import OF_CORPUS, PairedDifference
from rlsum.scoring.degeneration import SIGNS, degeneration

Outputs = Mapping[str, Sequence[Output]]  # by system


def notes_on_scores(metrics: Mapping[str, Mapping[str, Interval]], outputs: Outputs) -> list[str]:
    """All that is said below the table of scores."""
    return [*_undefined(metrics, outputs), *_identical(outputs), *_no_text(outputs)]


def notes_on_differences(comparisons: Sequence[PairedDifference], outputs: Outputs, compared_with: str) -> list[str]:
    """All that is said below the table of differences."""
    test = "Two-sided sign-flip permutation test, paired by id; Holm: adjusted for all rows of this table."
    if any(item.metric.endswith(OF_CORPUS) for item in comparisons):
        test += " Of the corpus: outputs of random articles are swapped between the two systems."
    return [test, *_unpaired(comparisons), *_other_references(outputs, compared_with)]


def _identical(outputs: Outputs) -> list[str]:
    """Systems that wrote the same texts: two names of one model, such as a run whose best weights are its start."""
    texts = {system: {output.id: output.candidate for output in members} for system, members in outputs.items()}
    return [
        f"Warning: {first} and {second} wrote the same text for all {len(texts[first]):,} articles; a run that "
        "never beat its start leaves the weights of the start."
        for first, second in combinations(texts, 2)
        if texts[first] == texts[second]
    ]


def _no_text(outputs: Outputs) -> list[str]:
    """Systems whose outputs are no text, by the signs that their references do not have."""
    warnings = []
    for system, members in outputs.items():
        references = [replace(output, candidate=output.references[0]) for output in members if output.references]
        usual, shares = degeneration(references), degeneration(members)
        signs = [
            f"{shares[name]:.0%} {sign.predicate}"
            for name, sign in SIGNS.items()
            if shares[name] >= sign.alarm > usual[name]
        ]
        warnings += [f"Warning: read the outputs of {system} before its scores: {joined(signs)}."] if signs else []
    return warnings


def _undefined(metrics: Mapping[str, Mapping[str, Interval]], outputs: Outputs) -> list[str]:
    """Metrics without a score for some of the texts."""
    return [
        f"{system}: {name} is defined for {interval.n:,} of {len(outputs[system]):,} articles; the others are left out "
        "(`rlsum score` gives the reasons)."
        for system, row in metrics.items()
        for name, interval in row.items()
        if interval.n < len(outputs[system])
    ]


def _unpaired(comparisons: Sequence[PairedDifference]) -> list[str]:
    """Articles that only one of two systems has."""
    lines = [
        f"{item.system} and {item.baseline} share {item.shared:,} articles; {item.unpaired:,} articles with an output "
        "of only one of them are left out of the comparison."
        for item in comparisons
        if item.unpaired
    ]
    return list(dict.fromkeys(lines))


def _other_references(outputs: Outputs, compared_with: str) -> list[str]:
    """Scores against other references are not comparable, which the reader may not know of the files."""
    references = {output.id: output.references for output in outputs[compared_with]}
    counts = {
        system: sum(output.references != references.get(output.id, output.references) for output in members)
        for system, members in outputs.items()
    }
    return [
        f"Warning: for {count:,} articles the references of {system} differ from those of {compared_with}."
        for system, count in counts.items()
        if count
    ]
