"""Example summaries side by side, with the words that the model had to copy marked, and those it made up."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from rlsum.records import Output
from rlsum.scoring.properties import invented_names

if TYPE_CHECKING:
    from rich.console import RenderableType

Kind = Literal["plain", "copied", "invented"]
STYLES: Mapping[str, str] = {"plain": "", "copied": "bold green", "invented": "bold red underline"}
LEGEND = "copied = a word outside the vocabulary, taken from the article; invented = a name that the article lacks"


@dataclass(frozen=True)
class Piece:
    """A stretch of text of one kind."""

    text: str
    kind: Kind


@dataclass(frozen=True)
class Sample:
    """One article with its reference and what each system made of it: system -> marked text."""

    id: str
    source: str
    reference: str
    summaries: dict[str, tuple[Piece, ...]]


def marked(candidate: str, source: str, vocabulary: Collection[str] | None) -> tuple[Piece, ...]:
    """The candidate in pieces; joined they give it back, character for character.

    "copied" tokens are in the source and not in ``vocabulary``, so that only copying can have produced them;
    "invented" tokens hold a capitalised word that the source lacks. Without a vocabulary nothing is marked as copied.
    """
    present = set(source.split())

    def kind(token: str) -> Kind:
        if vocabulary is not None and token in present and token not in vocabulary:
            return "copied"
        return "invented" if invented_names(token, source) > 0 else "plain"

    pieces = [Piece(text, "plain" if text.isspace() else kind(text)) for text in re.findall(r"\s+|\S+", candidate)]
    return tuple(Piece("".join(piece.text for piece in run), name) for name, run in groupby(pieces, lambda p: p.kind))


def draw_samples(
    systems: Mapping[str, Sequence[Output]], vocabulary: Collection[str] | None, count: int, seed: int = 0
) -> list[Sample]:
    """``count`` articles drawn at random from those that every system has, so that nobody picked the flattering ones.

    Raises ValueError where no article has an output from every system.
    """
    outputs = {name: {output.id: output for output in members} for name, members in systems.items()}
    first = next(iter(outputs.values()), {})
    shared = [identity for identity in first if all(identity in members for members in outputs.values())]
    if not shared:
        raise ValueError(f"no article has an output from every one of {', '.join(systems) or 'no systems'}")
    chosen = sorted(random.Random(seed).sample(range(len(shared)), min(count, len(shared))))
    return [_sample(shared[place], outputs, vocabulary) for place in chosen]


def _sample(identity: str, systems: Mapping[str, Mapping[str, Output]], vocabulary: Collection[str] | None) -> Sample:
    one = next(iter(systems.values()))[identity]
    summaries = {
        name: marked(members[identity].candidate, members[identity].source, vocabulary)
        for name, members in systems.items()
    }
    return Sample(identity, one.source, one.references[0] if one.references else "", summaries)


def to_rich(samples: Sequence[Sample]) -> RenderableType:
    """The samples for a terminal, one after the other."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shown: list[RenderableType] = []
    for sample in samples:
        grid = Table.grid(padding=(0, 2, 1, 0))
        grid.add_column(style="bold", max_width=24)
        grid.add_column(ratio=1)
        grid.add_row("reference", Text(sample.reference))
        for system, pieces in sample.summaries.items():
            grid.add_row(system, Text.assemble(*((piece.text, STYLES[piece.kind]) for piece in pieces)))
        shown += [Text(f"Example {sample.id}", style="bold"), grid]
    return Group(*shown, Text(LEGEND, style="dim"))


def to_markdown(samples: Sequence[Sample]) -> str:
    """The samples as Markdown: copied words bold, invented names struck out; ends without a newline."""
    blocks = []
    for sample in samples:
        rows = [f"**Example {sample.id}**", f"*reference:* {_inline(sample.reference)}"]
        rows += [f"*{system}:* " + "".join(map(_emphasis, pieces)) for system, pieces in sample.summaries.items()]
        blocks.append("\n\n".join(rows))
    return "\n\n".join([*blocks, f"(Bold: copied; struck out: invented. {LEGEND}.)"])


def _emphasis(piece: Piece) -> str:
    text = _inline(piece.text)
    return {"plain": text, "copied": f"**{text}**", "invented": f"~~{text}~~"}[piece.kind]


def _inline(text: str) -> str:
    """A text as one Markdown line: its characters must not turn into marks."""
    return re.sub(r"([\\`*_~\[\]<>|#])", r"\\\1", re.sub(r"[ \t]*\n", " / ", text))
