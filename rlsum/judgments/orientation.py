"""Which way a human score points: higher is better in every record, so that others are negated, and named so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rewards.options import nearest
from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment

NEGATED = "negated_"  # before the name of a score whose sign was changed: no table shows it as what it was
# What scores are called that are better when lower.
BAD = re.compile(
    "errors?|mistakes?|faults?|defects?|violations?|rank(s|ing)?|h?ter|wer|cer|edits?|distance|cost|time|seconds|minutes|"
    "duration|effort|penalt(y|ies)|loss|perplexity|ppl|hallucinations?|contradictions?|toxicity|severity"
)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def oriented(score: str, lower_is_better: Sequence[str]) -> str:
    """The name under which a score is found where those of ``lower_is_better`` were negated."""
    return f"{NEGATED}{score}" if score in lower_is_better else score


def negated(judgments: Judgments, names: Sequence[str]) -> Judgments:
    """The scores of ``names`` with the other sign, as ``negated_NAME``. Raises RecordError for one that no row has."""
    known = _names(judgments.rows)
    for name in names:
        if name not in known or f"{NEGATED}{name}" in known:
            raise RecordError(
                f"--lower-is-better {name}: no row of {judgments.name} has this score{nearest(name, known)}, or it is "
                f"negated already; the scores are {', '.join(known) or 'none'}"
            )
    if not names:
        return judgments
    scales = {
        oriented(name, names): (-high, -low) if name in names else (low, high)
        for name, (low, high) in judgments.scales.items()
    }
    told = f"lower is better in {', '.join(names)}: negated, as {', '.join(oriented(name, names) for name in names)}"
    rows = tuple(_negated(row, names) for row in judgments.rows)
    return replace(judgments, rows=rows, scales=scales, notes=[*judgments.notes, told])


def _negated(row: Judgment, names: Sequence[str]) -> Judgment:
    scores = {oriented(name, names): _minus(value) if name in names else value for name, value in row.scores.items()}
    raw = {
        oriented(name, names): tuple(map(_minus, values)) if name in names else values
        for name, values in row.raw_scores.items()
    }
    return replace(row, scores=scores, raw_scores=raw)


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value  # no -0


def doubted(judgments: Judgments) -> Judgments:
    """The same, with a note on scores whose names say that lower may be better."""
    names = [
        name
        for name in _names(judgments.rows)
        if not name.startswith(NEGATED) and any(BAD.fullmatch(word.lower()) for word in WORD.findall(name))
    ]
    if not names:
        return judgments
    told = f"higher is taken to be better in {', '.join(names)}; if lower is: --lower-is-better {','.join(names)}"
    return replace(judgments, notes=[*judgments.notes, told])


def _names(rows: Iterable[Judgment]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in (*row.scores, *row.raw_scores)))
