"""Every sentence must be true of the numbers in the tables, whatever these are."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rated import Share, evaluated, rated

from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.evaluation import meta_evaluate
from rlsum.meta_evaluation.findings import findings
from rlsum.meta_evaluation.scores import scored

NAN = math.nan


@pytest.mark.parametrize(
    ("values", "tests", "said", "not_said"),
    [
        ({"a": 0.5}, (), ["a reaches 0.500"], ["highest"]),
        ({"a": 0.5, "b": 0.5, "c": 0.5}, (), ["a, b and c all reach 0.500"], ["highest"]),
        ({"a": 0.5, "b": 0.5}, (), ["a and b reach 0.500."], ["highest"]),
        ({"a": 0.5, "b": 0.5001, "c": 0.1}, (), ["a and b reach 0.500, the highest value"], []),
        (
            {"a": 0.5, "b": 0.4},
            [("a", "b", 0.2)],
            ["highest at 0.500; no difference detected between it and b", "in 0 of 1 tested pair"],
            [],
        ),
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


@pytest.mark.parametrize(("level", "over"), [("pooled", ""), ("system", " over texts, pooled")])
def test_the_ceiling_of_a_level_other_than_pooled_is_that_of_texts(level, over):
    found = meta_evaluate(scored(rated(40), {"share": Share()}), ("pearson",), Choices(level, resamples=40))
    said = " ".join(findings(found))
    ceiling = rf"pearson \({level}\): one judge against the mean of the others reaches 0\.\d+{over}"
    assert re.search(ceiling + r"[^ \d]", said)
