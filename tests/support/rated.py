"""Judgments of texts in which people count the right words, and a metric that knows some of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rlsum.evaluation.correlation import Correlation
from rlsum.evaluation.significance import MetricTest
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment
from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.evaluation import Result, Results
from rlsum.meta_evaluation.grouped import GroupedCorrelation
from rlsum.meta_evaluation.scores import Column, ScoreTable

NAN = math.nan


def rated(inputs: int = 12, systems: int = 3, groups: tuple[str, ...] = ("",), seed: int = 0) -> Judgments:
    """Texts of 1 to 6 words "right" and up to 4 words "wrong"; people see the share of right ones, give or take."""
    draw = np.random.default_rng(seed)
    rows = []
    for number in range(inputs):
        for system in range(systems):
            right, wrong = int(draw.integers(1, 7)), int(draw.integers(0, 5))
            opinion = right / (right + wrong)
            raw = tuple(float(np.round(opinion + draw.normal(0, 0.15), 3)) for _ in range(2))
            text = " ".join(["right"] * right + ["wrong"] * wrong)
            group = groups[number % len(groups)]
            mean = {"overall": float(np.mean(raw))}
            rows.append(Judgment(f"i{number}", f"s{system}", text, ("right",), "", group, mean, {"overall": raw}))
    return Judgments("rated", tuple(rows))


def changed(judgments: Judgments, place: int, **fields: object) -> Judgments:
    """The same judgments with one row changed."""
    rows = list(judgments.rows)
    rows[place] = replace(rows[place], **fields)  # type: ignore[arg-type]
    return replace(judgments, rows=tuple(rows))


class Share:
    """The share of right words; undefined for a text of one word."""

    name = "share"
    signature = "share|version:1"
    columns = optional_columns = ()

    def __call__(self, candidates, references=None, sources=None, columns=None):
        words = [text.split() for text in candidates]
        return np.array([np.nan if len(each) < 2 else each.count("right") / len(each) for each in words])

    def undefined(self, candidate, references=None, source="", columns=None):
        return "it has one word" if len(candidate.split()) < 2 else None


def evaluated(values, tests=(), statistic="pearson"):
    """Results with ``values`` (label -> value, or value, low and high) and tests (a, b, p)."""
    triples = {label: value if isinstance(value, tuple) else (value, NAN, NAN) for label, value in values.items()}
    columns = {
        label: Column(np.zeros(3), label, "length" if label.startswith("length") else "metric") for label in triples
    }
    names = tuple("abc")
    table = ScoreTable("d", "overall", np.zeros(3), tuple(("", n) for n in names), names, ("",) * 3, columns)
    found = {
        label: GroupedCorrelation(Correlation(statistic, "pooled", *triple, 3, 1.0, 3), {})
        for label, triple in triples.items()
    }
    tested = tuple(
        MetricTest(
            a, b, "clustered t", statistic, "pooled", triples[a][0] - triples[b][0], p, NAN, 3, 3, "", (), "", p
        )
        for a, b, p in tests
    )  # fmt: skip
    return Results(table, Choices(), (Result(statistic, "pooled", found, tested),))
