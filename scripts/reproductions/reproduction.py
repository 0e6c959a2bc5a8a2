"""A reproduced table or figure: tables, numbers, pictures and claims, to print and to write into a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reproductions.claims import Claim
from rlsum.pages import formats
from rlsum.pages.blocks import Block, Bullets, Paragraph
from rlsum.pages.markdown import to_markdown
from rlsum.pages.pictures.drawing import Picture
from rlsum.pages.table import Table, text_table
from rlsum.pages.terminal import show


@dataclass(frozen=True)
class Reproduction:
    """A reproduced table or figure of a paper; ``notes`` name choices and what is left out."""

    name: str
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = field(default=())


def claims_table(claims: Sequence[Claim]) -> Table:
    """One row per claim."""
    rows = ((claim.text, claim.verdict, claim.numbers) for claim in claims)
    return text_table("The paper's findings here", ("finding", "verdict", "numbers, with 95% intervals"), rows)


def write(reproduction: Reproduction, folder: Path) -> list[Path]:
    """Write ``NAME.md`` and a PNG per picture. Returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    claims = [claims_table(reproduction.claims)] if reproduction.claims else []
    blocks: list[Block] = [*reproduction.tables, *map(Paragraph, reproduction.notes), *reproduction.pictures, *claims]
    formats.write(folder, {f"{reproduction.name}.md": to_markdown(blocks) + "\n"}, blocks)
    names = [*(f"{picture.name}.png" for picture in reproduction.pictures), f"{reproduction.name}.md"]
    return [folder / name for name in names]


def run(name: str, make: Callable[[], Reproduction], folder: Path) -> Reproduction:
    """Make a reproduction, print it and write it into ``folder``, with the time that it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    reproduction = make()
    print(flush=True)
    print_reproduction(reproduction)
    written = ", ".join(map(str, write(reproduction, folder)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name}: {wall:.0f} seconds, {cpu:.0f} of a processor; {written}", flush=True)
    return reproduction


def print_reproduction(reproduction: Reproduction) -> None:
    """Print tables, notes and claims."""
    from rich.console import Console

    claims = tuple(f"{claim.verdict.upper()}: {claim.text} ({claim.numbers})" for claim in reproduction.claims)
    show([*reproduction.tables, *map(Paragraph, reproduction.notes), Bullets(claims)], Console(soft_wrap=True))
