"""Explanations of one pair by several metrics, as Python and a notebook show them, and as files."""

from __future__ import annotations

import html as escaping
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rewards
from rewards.base import Specs
from rlsum.errors import UserError, option
from rlsum.explain.layout import PictureLayout, layout_of
from rlsum.explain.picture import drawn, html
from rlsum.files import check_free
from rlsum.pages.shown import frame

if TYPE_CHECKING:
    from rewards.explain import Explanation


@dataclass(frozen=True)
class Explained:
    """The explanation of each metric."""

    explanations: tuple[Explanation, ...]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def __repr__(self) -> str:
        return "\n".join(f"{explanation.metric} {explanation.score:.4f}" for explanation in self)

    def _repr_html_(self) -> str:
        page = escaping.escape(html(self.pictures()))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 30em; border: 0"></iframe>'

    def pictures(self) -> list[PictureLayout]:
        """Where everything is in the picture of each explanation."""
        return [*map(layout_of, self)]

    def to_json(self) -> str:
        """All explanations as data."""
        return json.dumps([explanation.as_json() for explanation in self], indent=2) + "\n"

    def to_frame(self) -> Any:
        """A move of weight, a pair of tokens or a match, a row: metric, both texts, weight (None: no plan), value."""
        return frame(("metric", "candidate", "reference", "weight", "value"), self._rows())

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for explanation in self:
            for i, left in enumerate(explanation.candidate):
                for j, right in enumerate(explanation.reference):
                    weight = None if explanation.plan is None else float(explanation.plan[i, j])
                    if weight != 0 and (explanation.form != "matches" or explanation.values[i, j]):
                        yield explanation.metric, left.text, right.text, weight, float(explanation.values[i, j])

    def save(self, out: str | Path, theme: str = "light", overwrite: bool = False) -> bool:
        """Write a picture (.png, of one metric), a page (.html) or data (.json).

        Returns whether the installed fonts have every letter of a picture.
        """
        out = Path(out)
        check_out(out, len(self.explanations), overwrite)
        content, complete = FORMATS[out.suffix](self, theme)
        out.write_bytes(content)
        return complete


# Ending -> what is written in a theme, and whether the installed fonts have every letter.
FORMATS: dict[str, Callable[[Explained, str], tuple[bytes, bool]]] = {
    ".png": lambda explained, theme: drawn(explained.pictures()[0], theme),
    ".html": lambda explained, _: (html(explained.pictures()).encode(errors="replace"), True),  # half a surrogate pair
    ".json": lambda explained, _: (explained.to_json().encode(), True),
}


def explain(
    candidate: str, reference: str, metrics: Specs, language: str | None = None, source: str | None = None
) -> Explained:
    """Why a pair has its score: where the weight of its words and sentences moves, or which tokens are similar.

    ``language``: the ISO 639-1 code of the texts. ``source``: the article, for metrics that read it; None: it is
    ``reference``. Raises RewardError for one of ``metrics`` that has no explanation.
    """
    from rewards.explain import explain as explanation_of

    scorers = rewards.from_specs(metrics, language)
    return Explained(tuple(explanation_of(scorer, candidate, reference, source) for scorer in scorers.values()))


def check_out(out: Path, metrics: int, overwrite: bool) -> None:
    """Raise UserError for a file that cannot be written, or a picture of several metrics."""
    if out.suffix not in FORMATS:
        raise UserError(f"{option('out', out)}: the ending selects the format; use one of {', '.join(FORMATS)}")
    check_free("out", out, overwrite)
    if out.suffix == ".png" and metrics > 1:
        raise UserError(f"{option('out', out)}: a picture shows one metric, {metrics} are given; use .html or .json")
