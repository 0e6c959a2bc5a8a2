"""Every sentence must be true of the numbers in the tables, whatever these are."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rated import Share, rated

from rlsum.evaluation.correlation import Correlation
from rlsum.evaluation.significance import MetricTest
from rlsum.meta_evaluation.evaluation import Choices, Result, Results, meta_evaluate
from rlsum.meta_evaluation.findings import findings
from rlsum.meta_evaluation.grouped import GroupedCorrelation
from rlsum.meta_evaluation.scores import Column, ScoreTable, scored
from rlsum.meta_evaluation.tables import correlation_table, matrix_table

NAN = math.nan


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


@pytest.mark.parametrize(
    ("values", "tests", "said", "not_said"),
    [
        ({"a": 0.5}, (), ["a reaches 0.500"], ["highest"]),
        ({"a": 0.5, "b": 0.5, "c": 0.5}, (), ["a, b and c all reach 0.500"], ["highest"]),
        ({"a": 0.5, "b": 0.5}, (), ["a and b reach 0.500."], ["highest"]),
        ({"a": 0.5, "b": 0.5001, "c": 0.1}, (), ["a and b reach 0.500, the highest value"], []),
        ({"a": 0.5, "b": 0.4}, [("a", "b", 0.2)], ["highest at 0.500; no difference detected between it and b"], []),
        ({"a": 0.5, "b": 0.4}, [("a", "b", 0.01)], ["highest at 0.500.", "in 1 of 1 tested pair"], ["no difference"]),
        ({"a": 0.5, "b": NAN}, (), ["a reaches 0.500; b is undefined"], ["highest"]),
        ({"a": 0.5, "b": 0.1, "c": NAN, "d": NAN}, (), ["a is highest at 0.500; c and d are undefined"], []),
        ({"a": NAN, "b": NAN, "length": 0.5}, (), ["undefined for every metric"], ["alone"]),
        ({"a": -0.2, "b": -0.3}, (), ["a is highest at -0.200; a value below 0 is disagreement"], []),
        ({"a": (-0.2, -0.4, 0.1)}, (), ["disagreement with people; its interval includes 0"], []),
        ({"a": -0.0001, "b": -0.3}, (), ["at 0.000"], ["-0.000"]),
        ({"a": (0.2, -0.1, 0.5), "b": (0.1, -0.2, 0.4)}, (), ["highest at 0.200; its interval includes 0"], []),
        ({"a": (0.2, 0.1, 0.5), "b": 0.1}, (), ["highest at 0.200."], ["includes 0"]),
        ({"a": 0.1, "b": 0.2, "length": 0.3}, (), ["length alone reaches 0.300, more than every metric; not"], []),
        (
            {"a": 0.1, "b": 0.2, "length": 0.3},
            [("a", "length", 0.2), ("b", "length", 0.3)],
            ["more than every metric; no difference detected"],
            ["significantly", "beats"],
        ),
        (
            {"a": 0.1, "b": 0.4, "length": 0.3},
            [("a", "length", 0.01), ("b", "length", 0.3)],
            ["more than a, less than b; significantly more than a."],
            [],
        ),
        ({"a": 0.3, "b": 0.3, "length": 0.3}, (), ["as much as every metric"], []),
        ({"a": 0.1, "length": 0.3}, [("a", "length", 0.01)], ["more than a; significantly more than a"], ["every"]),
        ({"a": 0.1, "b": NAN, "length": 0.3}, [("b", "length", NAN)], ["more than a; not tested"], ["tested pair"]),
        (
            {"a": 0.5, "b": 0.4, "c": 0.3},
            [("a", "b", 0.2), ("a", "c", 0.01), ("b", "c", 0.3)],
            ["detected in 1 of 3 tested pairs", "in 2 none: a and b; b and c"],
            [],
        ),
    ],
)  # fmt: skip
def test_what_is_said_of_some_numbers(values, tests, said, not_said):
    lines = " ".join(findings(evaluated(values, tests)))
    assert [text for text in said if text not in lines] == []
    assert [text for text in not_said if text in lines] == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([NAN, -0.4, -0.2, 0, 0.2, 0.2001, 0.7]), min_size=1, max_size=5))
def test_more_and_less_hold_for_the_printed_numbers(values):
    labels = {f"m{number}": value for number, value in enumerate(values)}
    printed = {label: round(value, 3) for label, value in labels.items() if value == value}
    lines = findings(evaluated({**labels, "length": 0.2}))
    if not printed:
        assert len(lines) == 1
        return
    shown = float(re.search(r"(?:reach|reaches|at) (-?\d\.\d+)", lines[0])[1])
    assert shown == max(printed.values())
    named = {
        label for label in printed if re.search(rf"\b{label}\b", lines[0].partition("reach")[0].partition(" at ")[0])
    }
    assert named == {label for label, value in printed.items() if value == shown}
    for place, holds in (("more than", (0.2).__gt__), ("as much as", (0.2).__eq__), ("less than", (0.2).__lt__)):
        match = re.search(rf"{place} ([^;]*?)(?:, (?:as much|less)|;)", lines[1])
        told = set(re.findall(r"m\d", match[1])) if match else set()
        if match and "every metric" in match[1]:
            told = set(printed)
        assert told == {label for label, value in printed.items() if holds(value)}


@pytest.mark.parametrize(
    ("value", "statistic", "bold"),
    [
        ((0.3, 0.1, 0.5), "pearson", True),
        ((-0.3, -0.5, -0.1), "pearson", True),
        ((0.3, -0.1, 0.5), "pearson", False),
        ((0.3, 0.0, 0.5), "pearson", False),
        (0.3, "pearson", False),
        (NAN, "pearson", False),
        ((0.6, 0.4, 0.8), "acc-t", False),
    ],
)
def test_bold_is_an_interval_without_0_and_the_legend_says_so(value, statistic, bold):
    table = correlation_table(evaluated({"a": value, "b": (0.1, -0.1, 0.2)}, statistic=statistic))
    marked = {row[0].text: row[1].mark for row in table.rows}
    assert marked == {"a": bold, "b": False}
    assert any("Bold" in note for note in table.notes) is bold


def test_the_judges_rows_have_a_legend_of_their_own():
    judged = scored(rated(40), {})
    found = meta_evaluate(judged, ("pearson",), Choices("system", resamples=40))
    table = correlation_table(found)
    assert [row[0].text for row in table.rows if row[1].mark][-1].startswith("judges")
    said = " ".join((*table.notes, *findings(found)))
    assert "Bold" in said
    assert "intervals are for new inputs" in said
    few = correlation_table(meta_evaluate(scored(rated(9), {}), ("pearson",), Choices(resamples=40)))
    assert "intervals are" not in " ".join(few.notes)


def test_the_ceiling_of_a_level_other_than_pooled_is_that_of_texts():
    found = meta_evaluate(scored(rated(40), {"share": Share()}), ("pearson",), Choices("system", resamples=40))
    said = " ".join(findings(found))
    assert re.search(
        r"pearson \(system\): one judge against the mean of the others reaches 0\.\d+ over texts, pooled", said
    )


def test_bold_in_the_matrix_is_a_detected_difference():
    table = matrix_table(evaluated({"a": 0.5, "b": 0.1, "c": 0.2}, [("a", "b", 0.01), ("a", "c", 0.2)]).results[0])
    assert [cell.mark for row in table.rows for cell in row if cell.mark] == [True]
    assert "Bold: p < 0.05" in " ".join(table.notes)
