"""Results that Python's prompt and a notebook show as the command line does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rlsum.pages.blocks import LEGEND, Block
from rlsum.pages.table import Table
from rlsum.pages.templates import fragment
from rlsum.pages.terminal import as_text

Advance = Callable[[str, int, int], None]  # called with what is worked on, how much is done, and of how much


def quiet(name: str, done: int, total: int) -> None:
    """No progress."""


class Shown:
    """A result with a report: its text is that of the terminal, and a notebook shows its tables and pictures."""

    def blocks(self, long_signatures: bool = False) -> list[Block]:
        """What is shown; signatures of metrics in their short form, or with the names of their fields."""
        raise NotImplementedError

    def pictures(self) -> Iterable[Block]:
        """What a notebook shows below the tables; nothing where no picture says more."""
        return ()

    @property
    def tables(self) -> list[Table]:
        """The tables of the report, each with ``to_frame()``."""
        return [block for block in self.blocks() if isinstance(block, Table)]

    def __repr__(self) -> str:
        return as_text(self.blocks())

    def _repr_html_(self) -> str | None:
        try:
            drawn = [*self.pictures()]
        except ModuleNotFoundError:  # matplotlib
            drawn = []
        return fragment([*self.blocks(), *drawn], LEGEND)


def frame(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """A pandas DataFrame; pandas must be installed (extra ``train``)."""
    import pandas

    return pandas.DataFrame([list(row) for row in rows], columns=list(header))
