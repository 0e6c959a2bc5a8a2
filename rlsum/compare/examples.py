"""Example summaries of every system, with copied and invented words marked."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from rlsum.pages.blocks import Example, Mark, Piece
from rlsum.records import Output
from rlsum.scoring.properties import invented_names


def draw_examples(
    systems: Mapping[str, Sequence[Output]], vocabulary: Collection[str] | None, count: int, seed: int = 0
) -> list[Example]:
    """Up to ``count`` random articles of those with an output from every system, in their order.

    Raises ValueError where no article has an output from every system.
    """
    outputs = {name: {output.id: output for output in members} for name, members in systems.items()}
    first = next(iter(outputs.values()), {})
    shared = [article for article in first if all(article in members for members in outputs.values())]
    if not shared:
        raise ValueError(f"no article has an output from every one of {', '.join(systems) or 'no systems'}")
    chosen = sorted(random.Random(seed).sample(range(len(shared)), min(count, len(shared))))
    return [_example({name: members[shared[n]] for name, members in outputs.items()}, vocabulary) for n in chosen]


def _example(outputs: Mapping[str, Output], vocabulary: Collection[str] | None) -> Example:
    """The outputs of every system for one article, side by side."""
    first = next(iter(outputs.values()))
    summaries = {name: marked(output.candidate, output.source, vocabulary) for name, output in outputs.items()}
    return Example(first.id, first.source, first.references[0] if first.references else "", summaries)


def marked(candidate: str, source: str, vocabulary: Collection[str] | None) -> tuple[Piece, ...]:
    """The candidate in pieces, whose texts joined are the candidate, character for character.

    "copied" tokens are in the source and not in ``vocabulary``, so that only copying can have produced them;
    "invented" tokens hold a capitalised word that is not in the source. Without a vocabulary nothing is marked as
    copied.
    """
    present = set(source.split())

    def mark(token: str) -> Mark:
        if token.isspace():
            return "plain"
        if vocabulary is not None and token in present and token not in vocabulary:
            return "copied"
        return "invented" if invented_names(token, source) > 0 else "plain"

    return tuple(Piece("".join(tokens), kind) for kind, tokens in groupby(re.findall(r"\s+|\S+", candidate), mark))
