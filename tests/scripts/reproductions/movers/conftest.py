"""Tables of scores made by hand, and small judged texts in the public layouts."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from encoders import WORDS
from reproductions.movers.correlations import Measured, correlated
from reproductions.movers.metrics import LENGTH
from rows import lines as written

from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment
from rlsum.meta_evaluation.scores import Column, ScoreTable

SCORES = "overall grammar redundancy"
SUMMARY_COLUMNS = f"id system n_judges {SCORES} hter {SCORES.replace(' ', '_raw ')}_raw reference text"
ESSAY_COLUMNS = "essay_id rater1 rater2 domain1_score essay"
SYSTEMS = ("pointer", "seq2seq", "ml")

Make = Callable[..., Measured]


def sentences(draw: random.Random, count: int, words: Sequence[str] = WORDS) -> str:
    """As many sentences of two to four words."""
    return " ".join(" ".join(draw.choices(words, k=draw.randint(2, 4))) + "." for _ in range(count))


def measured_from(human: Sequence[float], columns: Mapping[str, Sequence[float]], name: str = "summaries") -> Measured:
    """Scores as given: ``human`` ``(n,)``, and ``columns`` label -> ``(n,)``; each text has its own input."""
    rows = tuple(
        Judgment(str(place), "system", f"text {place}", (f"reference {place}",), scores={"overall": float(score)})
        for place, score in enumerate(human)
    )
    made = {
        label: Column(np.asarray(scores, dtype=np.float64), label, "length" if label == LENGTH else "metric")
        for label, scores in columns.items()
    }
    inputs, systems = tuple(("", row.id) for row in rows), tuple(row.system for row in rows)
    scores = np.asarray(human, dtype=np.float64)
    table = ScoreTable(name, "overall", scores, inputs, systems, ("",) * len(rows), made)
    return correlated(Judgments(name, rows), table, 200, 0)


@pytest.fixture
def measured() -> Make:
    return measured_from


@pytest.fixture
def human_data(tmp_path: Path) -> Path:
    """36 summaries of 12 articles and 30 essays; a text that keeps more of its reference has the higher score."""
    draw = random.Random(0)
    folder = tmp_path / "human"
    lines = [SUMMARY_COLUMNS.replace(" ", "\t")]
    for article in range(12):
        reference = sentences(draw, 3)
        for system in SYSTEMS:
            kept = draw.randint(0, 3)
            text = " ".join([*reference.split(". ")[:kept], sentences(draw, 3 - kept)])
            judges = [max(-1, min(1, kept - 1 - draw.randint(0, 1))) for _ in range(2)]
            lines.append(_summary(str(article), system, judges, reference, text))
    lines.append(_summary("12", "ml", [1], "red cat.", "red dog."))
    lines.append(_summary("12", "reference", [1, 1], "red cat.", "red cat."))
    written(folder / "chaganty2018_cnndm" / "cnndm_lqual.tsv", *lines)
    essays = [ESSAY_COLUMNS.replace(" ", "\t")]
    for place in range(30):
        score = place % 4
        text = sentences(draw, 5 + score, WORDS[: 6 + 2 * score])
        essays.append(f"{100 + place}\t{score}\t{score}\t{score}\t{text}")
    essays.append(f"200\t3\t3\t3\t{sentences(draw, 2)}")
    written(folder / "asap_aes_set3" / "asap_aes_set3.tsv", *essays)
    return folder


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """Vectors of all words but the last."""
    draw = np.random.default_rng(0)
    lines = [f"{len(WORDS) - 1} 4"]
    lines += [f"{word} {' '.join(f'{value:.4f}' for value in draw.normal(size=4))}" for word in WORDS[:-1]]
    return written(tmp_path / "vectors.txt", *lines)


def _summary(article: str, system: str, judges: list[int], reference: str, text: str) -> str:
    mean = sum(judges) / len(judges)
    return f"{article}\t{system}\t{len(judges)}\t{mean}\t0\t0\t0.1\t{judges}\t[0]\t[0]\t{reference}\t{text}"
