"""The tables of `rlsum correlate`: what is bold, and what their notes say."""

import math
from dataclasses import replace

import pytest
from rated import evaluated, rated

from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.evaluation import meta_evaluate
from rlsum.meta_evaluation.findings import findings
from rlsum.meta_evaluation.pictures import heat_map
from rlsum.meta_evaluation.scores import scored
from rlsum.meta_evaluation.tables import correlation_table, matrix_table, pairs_table

NAN = math.nan


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


def test_bold_in_the_matrix_is_a_detected_difference():
    table = matrix_table(evaluated({"a": 0.5, "b": 0.1, "c": 0.2}, [("a", "b", 0.01), ("a", "c", 0.2)]).results[0])
    assert [cell.mark for row in table.rows for cell in row if cell.mark] == [True]
    assert "Bold: p < 0.05" in " ".join(table.notes)


def test_the_level_decides_what_is_detected_and_is_printed():
    found = evaluated({"a": (0.5, 0.1, 0.9), "b": 0.1}, [("a", "b", 0.2)])
    result = replace(found.results[0], significance=0.3)
    found = replace(found, results=(result,))
    tests = matrix_table(result), pairs_table(result)
    assert [sum(cell.mark for row in table.rows for cell in row) for table in tests] == [1, 2]
    said = [*findings(found), *(note for table in (correlation_table(found), *tests) for note in table.notes)]
    assert [sum(text in line for line in said) for text in ("p < 0.3 ", "70% interval", "no difference")] == [3, 2, 2]
    assert "darker at p < .3, .01" in heat_map(result).description


def test_the_level_of_the_choices_is_that_of_results_and_intervals(monkeypatch):
    table = scored(rated(40), {})
    wide = meta_evaluate(table, ("pearson",)).results[0]
    monkeypatch.setattr(Choices, "significance", 0.3)
    narrow = meta_evaluate(table, ("pearson",)).results[0]
    assert (wide.significance, narrow.significance) == (0.05, 0.3)
    assert wide.correlations["length (letters)"].average.low < narrow.correlations["length (letters)"].average.low
