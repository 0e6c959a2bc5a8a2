"""Example summaries of every system, with copied and invented words marked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from rlsum.pages.blocks import Example, Mark, Piece
from rlsum.records import Output
from rlsum.scoring.properties import invented_names


def side_by_side(
    systems: Mapping[str, Mapping[str, Output]], vocabulary: Collection[str] | None, articles: Sequence[str]
) -> list[Example]:
    """``articles`` (ids) with the output of every system that has one; ``systems`` maps name -> id -> output."""
    found = [
        {name: outputs[article] for name, outputs in systems.items() if article in outputs} for article in articles
    ]
    return [_example(outputs, vocabulary) for outputs in found if outputs]


def _example(outputs: Mapping[str, Output], vocabulary: Collection[str] | None) -> Example:
    """The outputs of every system for one article, side by side, with what only one of them says marked."""
    first = next(iter(outputs.values()))
    words = {name: set(output.candidate.split()) for name, output in outputs.items()}
    summaries = {}
    for name, output in outputs.items():
        others = set().union(*(each for other, each in words.items() if other != name)) if len(words) > 1 else None
        summaries[name] = marked(output.candidate, output.source, vocabulary, others)
    return Example(first.id, first.source, first.references[0] if first.references else "", summaries)


def marked(
    candidate: str, source: str, vocabulary: Collection[str] | None, others: Collection[str] | None = None
) -> tuple[Piece, ...]:
    """The candidate in pieces, whose texts joined are the candidate, character for character.

    "invented" tokens hold a capitalised word that is not in the source. "copied" tokens are in the source and not in
    ``vocabulary``, so that only copying can have produced them. "own" tokens are in none of the ``others`` (tokens of
    other summaries). Without a vocabulary, or without others, nothing is marked as copied, or as own.
    """
    present = set(source.split())

    def mark(token: str) -> Mark:
        if token.isspace():
            return "plain"
        if vocabulary is not None and token in present and token not in vocabulary:
            return "copied"
        if invented_names(token, source) > 0:
            return "invented"
        return "own" if others is not None and token not in others else "plain"

    return tuple(Piece("".join(tokens), kind) for kind, tokens in groupby(re.findall(r"\s+|\S+", candidate), mark))
