"""Explanations of one pair by several metrics, as Python and a notebook show them, and as files."""

from __future__ import annotations

import html as escaping
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rewards
from rewards.base import Specs
from rlsum.errors import UserError, option
from rlsum.explain import layout
from rlsum.files import check_free
from rlsum.pages.shown import frame
from rlsum.pages.templates import render

if TYPE_CHECKING:
    from rewards.explain import Explanation


def html(explanations: Sequence[Explanation]) -> str:
    """One page that needs no network, light and dark, with a section for each metric."""
    return render("explain/page.html", {"explanations": explanations, "layout": layout, "max": max})


def _data(explanations: Sequence[Explanation]) -> str:
    return json.dumps([explanation.as_json() for explanation in explanations], indent=2) + "\n"


FORMATS: dict[str, Callable[[Sequence[Explanation]], str]] = {".html": html, ".json": _data}


@dataclass(frozen=True)
class Explained:
    """The explanation of each metric."""

    explanations: tuple[Explanation, ...]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def __repr__(self) -> str:
        return "\n".join(f"{explanation.metric} {explanation.score:.4f}" for explanation in self)

    def _repr_html_(self) -> str:
        page = escaping.escape(html(self.explanations))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 30em; border: 0"></iframe>'

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

    def save(self, out: str | Path, overwrite: bool = False) -> None:
        """Write a page (.html) or data (.json)."""
        out = Path(out)
        check_out(out, overwrite)
        out.write_bytes(FORMATS[out.suffix](self.explanations).encode(errors="replace"))  # half a surrogate pair


def explain(candidate: str, reference: str, metrics: Specs, language: str | None = None) -> Explained:
    """Why a pair has its score: where the weight of its words and sentences moves, or which tokens are similar.

    ``language``: the ISO 639-1 code of the texts. Raises RewardError for one of ``metrics`` that has no explanation.
    """
    from rewards.explain import explain as explanation_of

    scorers = rewards.from_specs(metrics, language)
    return Explained(tuple(explanation_of(scorer, candidate, reference) for scorer in scorers.values()))


def check_out(out: Path, overwrite: bool) -> None:
    """Raise UserError for a file that cannot be written."""
    if out.suffix not in FORMATS:
        raise UserError(f"{option('out', out)}: the ending selects the format; use one of {', '.join(FORMATS)}")
    check_free("out", out, overwrite)
