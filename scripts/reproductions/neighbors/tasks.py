"""Judged texts with scores in [0, 1], and tasks: texts to score and examples to score them by."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlsum.errors import RecordError
from rlsum.evaluation.rows import Floats
from rlsum.judgments.collection import Judgments


@dataclass(frozen=True, eq=False)
class JudgedTexts:
    """Judged texts. ``scores (n,)`` in [0, 1]; rows of one source have the same name in ``inputs``.

    ``judgments (n, judges)`` in [0, 1], NaN where a judge did not judge; ``(n, 0)`` if judges are anonymous.
    """

    name: str
    texts: tuple[str, ...]
    scores: Floats
    inputs: tuple[str, ...]
    judgments: Floats

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, rows: NDArray[np.intp]) -> JudgedTexts:
        """The texts of ``rows``, in that order."""
        return replace(
            self,
            texts=tuple(self.texts[row] for row in rows),
            scores=self.scores[rows],
            inputs=tuple(self.inputs[row] for row in rows),
            judgments=self.judgments[rows],
        )


@dataclass(frozen=True, eq=False)
class NeighborTask:
    """``tested`` texts are scored by their neighbours among ``examples``; if both are the same, a text is not its own.

    ``b`` is the largest share of the examples that may be neighbours.
    """

    name: str
    tested: JudgedTexts
    examples: JudgedTexts
    b: float = 0.66

    @property
    def own(self) -> bool:
        """Whether the examples are the tested texts themselves."""
        return self.tested is self.examples

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The examples that may be neighbours of each text ``(n, m)``: if own, all except copies of the text."""
        if not self.own:
            return np.ones((len(self.tested), len(self.examples)), dtype=bool)
        number = {text: index for index, text in enumerate(dict.fromkeys(self.tested.texts))}
        same = np.array([number[text] for text in self.tested.texts])
        return same[:, None] != same[None, :]


def judged(judgments: Judgments, name: str) -> JudgedTexts:
    """Rows with an overall score, scaled to [0, 1]: ``(score - lowest) / (highest - lowest)``.

    Judges are those that the rows name. Raises RecordError if no row has a score, or if the scale is unknown and scores
    lie outside [0, 1].
    """
    rows = [row for row in judgments.rows if row.scores.get("overall") is not None]
    if not rows:
        raise RecordError(f"{name}: no judgment has a score overall")
    overall = np.array([row.scores["overall"] for row in rows], dtype=np.float64)
    low, high = judgments.scales.get("overall", (0.0, 1.0))
    if overall.min() < low or overall.max() > high:
        bounds = f"{overall.min():g} to {overall.max():g}"
        raise RecordError(f"{name}: scores overall range from {bounds}; scale them to {low:g} to {high:g}")
    names = sorted({judge for row in rows for judge in row.judges})
    column = {judge: number for number, judge in enumerate(names)}
    matrix = np.full((len(rows), len(names)), np.nan)
    for index, row in enumerate(rows):
        for judge, value in zip(row.judges, row.raw_scores.get("overall", ()), strict=False):
            if value is not None:
                matrix[index, column[judge]] = (value - low) / (high - low)
    texts = tuple(row.candidate for row in rows)
    inputs = tuple(f"{row.group}\t{row.id}" for row in rows)
    return JudgedTexts(name, texts, (overall - low) / (high - low), inputs, matrix)
