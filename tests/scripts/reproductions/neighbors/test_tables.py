from __future__ import annotations

import math

import pytest
from reproductions.neighbors.tables import number, study, within
from reproductions.reproduction import write


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.1234, ".123"),
        (-0.5, "-.500"),
        (0.0123, ".0123"),
        (0.0999, ".100"),
        (0.0, ".000"),
        (-0.00004, ".000"),
        (0.99996, "1.000"),
        (1.0, "1.000"),
        (-12.3456, "-12.346"),
    ],
)
def test_numbers_have_three_places_and_no_zero_before_the_point(value, shown):
    assert number(value) == shown


def test_an_undefined_interval_is_empty():
    assert within(math.nan, math.nan) == ""
    assert within(0.1, 0.25) == ".100 to .250"


def test_a_study_is_rounded_for_reading_and_in_full_as_csv(tmp_path):
    rows = [{"name": "a|b", "n": 1200, "rho": 0.123456}, {"name": "c", "n": 3, "rho": math.nan}]
    table, text = write(study("one", "A title", rows, ["a note"]), tmp_path)
    assert [line for line in text.read_text(encoding="utf-8").splitlines() if line] == [
        "**A title**",
        "| name | n | rho |",
        "| :-- | --: | --: |",
        "| a\\|b | 1,200 | .123 |",
        "| c | 3 | \N{EN DASH} |",
        "a note",
    ]
    assert table.read_text(encoding="utf-8").splitlines() == ["name,n,rho", "a|b,1200,0.123456", "c,3,"]


def test_a_study_without_rows_says_so(tmp_path):
    (text,) = write(study("none", "Nothing", []), tmp_path)
    assert "no rows" in text.read_text(encoding="utf-8")
