"""What is scored and by which examples: judged texts with scores in [0, 1], and tasks made of two sets of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlsum.judgments.collection import Judgments
from rlsum.records import RecordError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Judged:
    """Texts that people judged. ``scores (n,)`` in [0, 1]; ``inputs`` name what rows of one source share.

    ``judgments (n, judges)`` in [0, 1], NaN where a judge did not judge; ``(n, 0)`` where nobody knows them apart.
    """

    name: str
    texts: tuple[str, ...]
    scores: Floats
    inputs: tuple[str, ...]
    judgments: Floats

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def has_judges(self) -> bool:
        """Whether judges are known apart."""
        return self.judgments.shape[1] > 0

    def at(self, places: NDArray[np.intp]) -> Judged:
        """The texts at ``places``, in that order."""
        return replace(
            self,
            texts=tuple(self.texts[place] for place in places),
            scores=self.scores[places],
            inputs=tuple(self.inputs[place] for place in places),
            judgments=self.judgments[places],
        )


@dataclass(frozen=True, eq=False)
class Task:
    """``tested`` texts are scored by their neighbours among ``examples``; where these are one, each is left out.

    ``b`` is the largest share of the examples that may be neighbours. ``note`` says what was drawn.
    """

    name: str
    tested: Judged
    examples: Judged
    b: float = 0.66
    note: str = ""

    @property
    def own(self) -> bool:
        """Whether the examples are the tested texts themselves."""
        return self.tested is self.examples

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Which examples may be neighbours of which texts ``(n, m)``: all but copies of the text itself, if own."""
        if not self.own:
            return np.ones((len(self.tested), len(self.examples)), dtype=bool)
        number = {text: place for place, text in enumerate(dict.fromkeys(self.tested.texts))}
        same = np.array([number[text] for text in self.tested.texts])
        return same[:, None] != same[None, :]


def judged(judgments: Judgments, name: str) -> Judged:
    """Rows with an overall score, brought to [0, 1] by its scale: ``(score - lowest) / (highest - lowest)``.

    Judges are told apart where every row names its own. Raises RecordError where no row has a score, or where the
    scale is unknown and scores lie outside [0, 1].
    """
    rows = [row for row in judgments.rows if row.scores.get("overall") is not None]
    if not rows:
        raise RecordError(f"{name}: no judgment has a score overall")
    given = np.array([row.scores["overall"] for row in rows], dtype=np.float64)
    low, high = judgments.scales.get("overall", (0.0, 1.0))
    if given.min() < low or given.max() > high:
        found = f"{given.min():g} to {given.max():g}"
        raise RecordError(f"{name}: scores overall go from {found}; bring them to {low:g} to {high:g} first")
    names = sorted({judge for row in rows for judge in row.judges})
    column = {judge: place for place, judge in enumerate(names)}
    matrix = np.full((len(rows), len(names)), np.nan)
    for place, row in enumerate(rows):
        for judge, value in zip(row.judges, row.raw_scores.get("overall", ()), strict=False):
            if value is not None:
                matrix[place, column[judge]] = (value - low) / (high - low)
    texts = tuple(row.candidate for row in rows)
    inputs = tuple(f"{row.group}\t{row.id}" for row in rows)
    return Judged(name, texts, (given - low) / (high - low), inputs, matrix)


def joined(parts: Sequence[Judged], name: str) -> Judged:
    """Several sets as one; who judged is forgotten."""
    texts = tuple(text for part in parts for text in part.texts)
    inputs = tuple(f"{part.name}\t{each}" for part in parts for each in part.inputs)
    scores = np.concatenate([part.scores for part in parts])
    return Judged(name, texts, scores, inputs, np.empty((len(texts), 0)))


def drawn(task: Task, pairs: int, seed: int) -> Task:
    """The task with so few examples, drawn without repetition, that there are at most ``pairs`` pairs of texts."""
    tested, examples = task.tested, task.examples
    most = int(pairs**0.5) if task.own else pairs // len(tested)
    if most >= len(examples):
        return task
    most = max(most, 2)
    kept = np.sort(np.random.default_rng(seed).choice(len(examples), most, replace=False))
    fewer = examples.at(kept)
    note = f"{most:,} of {len(examples):,} examples drawn with seed {seed}, for every kernel alike"
    return replace(task, tested=fewer if task.own else tested, examples=fewer, note=note)
