"""Which way a human score points: higher is better in every record, so that others are negated, and named so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rewards.options import nearest
from rlsum.errors import RecordError, option
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment

NEGATED = "negated_"  # before the name of a score whose sign was changed: no table shows it as what it was
# What scores are called that are better when lower.
BAD = re.compile(
    "err(or)?s?|mistakes?|faults?|defects?|violations?|omissions?|rank(s|ing)?|position|worst|h?ter|wer|cer|edits?|"
    "distance|cost|time|seconds|minutes|duration|latency|effort|difficulty|penalt(y|ies)|loss|perplexity|ppl|mqm|"
    "toxicity|severity|redundancy|repetitions?|hallucinat(ed|ions?)|contradictions?|in(consistency|consistent|correct)"
)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
USUAL = "overall"  # the name of a score


def oriented(score: str, lower_is_better: Sequence[str]) -> str:
    """The name under which a score is found where those of ``lower_is_better`` were negated."""
    return f"{NEGATED}{score}" if score in lower_is_better else score


def human_score(judgments: Judgments, score: str | None, lower_is_better: Sequence[str]) -> tuple[Judgments, str]:
    """The name of the score to use, as it is oriented: ``score``, else `overall`, else the only one, which a note says.

    Where there are several, `overall`, which no row has.
    """
    names = _names(judgments.rows)
    if score is not None or len(names) != 1:
        return judgments, oriented(score or USUAL, lower_is_better)
    note = f"human score: {names[0]}, the only one"
    return (judgments if names[0] == USUAL else replace(judgments, notes=[*judgments.notes, note])), names[0]


def negated(judgments: Judgments, names: Sequence[str]) -> Judgments:
    """The scores of ``names`` with the other sign, as ``negated_NAME``. Raises RecordError for one that no row has."""
    scores = _names(judgments.rows)
    for name in names:
        if name not in scores or f"{NEGATED}{name}" in scores:
            raise RecordError(
                f"{option('lower_is_better', name)}: no row of {judgments.name} has this score{nearest(name, scores)}, "
                f"or it is negated already; the scores are {', '.join(scores) or 'none'}"
            )
    if not names:
        return judgments
    scales = {
        oriented(name, names): (-high, -low) if name in names else (low, high)
        for name, (low, high) in judgments.scales.items()
    }
    new = ", ".join(oriented(name, names) for name in dict.fromkeys(names))
    notes = [*judgments.notes, f"lower is better in {', '.join(dict.fromkeys(names))}: negated, as {new}"]
    rows = tuple(_negated(row, names) for row in judgments.rows)
    return replace(judgments, rows=rows, scales=scales, notes=notes)


def _negated(row: Judgment, names: Sequence[str]) -> Judgment:
    def turned(name: str, value: float | None) -> float | None:
        return value if value is None or name not in names else 0.0 - value  # no -0

    scores = {oriented(name, names): turned(name, value) for name, value in row.scores.items()}
    raw = {oriented(name, names): tuple(turned(name, v) for v in values) for name, values in row.raw_scores.items()}
    return replace(row, scores=scores, raw_scores=raw)


def doubted(judgments: Judgments) -> Judgments:
    """The same, with a note on scores whose names say that lower may be better."""
    names = [
        name
        for name in _names(judgments.rows)
        if not name.startswith(NEGATED) and any(BAD.fullmatch(word.lower()) for word in WORD.findall(name))
    ]
    note = (
        f"higher is taken to be better in {', '.join(names)}; if lower is: {option('lower_is_better', ','.join(names))}"
    )
    return replace(judgments, notes=[*judgments.notes, *([note] if names else [])])


def _names(rows: Iterable[Judgment]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in (*row.scores, *row.raw_scores)))
