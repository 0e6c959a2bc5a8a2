"""The blocks of reports; a report is a pure function from data to blocks, which the other files here render."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rlsum.pages.pictures.drawing import Picture
from rlsum.pages.table import Table

Mark = Literal["plain", "copied", "invented", "own"]
LEGEND: dict[Mark, str] = {
    "copied": "a word outside the vocabulary, taken from the article",
    "invented": "a name that the article does not contain",
    "own": "a word that no other summary of the article has",
}


@dataclass(frozen=True)
class Heading:
    """The title of a report (level 1) or of a section (level 2)."""

    text: str
    level: Literal[1, 2] = 2


@dataclass(frozen=True)
class Contents:
    """Links to the sections of an HTML page, whose tables can be sorted then; other formats leave them out."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of running text, or of small print."""

    text: str
    small: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list: of findings, of warnings, or of code, such as the signatures of metrics."""

    lines: Sequence[str]
    kind: Literal["finding", "warning", "code"] = "finding"


@dataclass(frozen=True)
class Piece:
    """A stretch of a text; ``LEGEND`` explains its mark."""

    text: str
    mark: Mark


@dataclass(frozen=True)
class Example:
    """An article with its reference and each system's summary: system -> pieces, which joined are its text."""

    id: str
    source: str
    reference: str
    summaries: dict[str, tuple[Piece, ...]]


@dataclass(frozen=True)
class Examples:
    """Articles with their summaries, after a note on their choice and a legend of the marks."""

    examples: tuple[Example, ...]
    note: str = "Articles drawn at random."


@dataclass(frozen=True)
class Fold:
    """Blocks that an HTML page shows on a click; other formats show them without the title."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Beside:
    """Small pictures that an HTML page shows side by side where it is wide enough; other formats, one by one."""

    blocks: tuple[Picture, ...]


Block = Heading | Contents | Paragraph | Bullets | Table | Picture | Examples | Fold | Beside


def small_print(lines: Iterable[str]) -> list[Block]:
    """A paragraph of small print for each line."""
    return [Paragraph(line, small=True) for line in lines]


def section(title: str, *blocks: Block) -> list[Block]:
    """A heading and its blocks, lists without lines left out; [] where nothing remains."""
    filled = [block for block in blocks if not (isinstance(block, Bullets) and not block.lines)]
    return [Heading(title), *filled] if filled else []


def signature_section(signatures: Iterable[str]) -> list[Block]:
    """The section that names what each score depends on; [] without signatures."""
    lines = list(signatures)
    note = Paragraph("What each score depends on, to compute it again.", small=True)
    return section("Signatures", note, Bullets(lines, "code")) if lines else []


def unfolded(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks in order, with those that others hold in their place."""
    for block in blocks:
        yield from unfolded(block.blocks) if isinstance(block, Fold | Beside) else (block,)


def pictures_of(blocks: Iterable[Block]) -> Iterator[Picture]:
    """Every picture among the blocks, folded ones too."""
    return (block for block in unfolded(blocks) if isinstance(block, Picture))
