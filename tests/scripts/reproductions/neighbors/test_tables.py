from __future__ import annotations

import csv
import math

import pytest
from reproductions.neighbors.tables import Results, number, within


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


def test_a_table_as_markdown_and_as_csv(tmp_path):
    rows = [{"name": "a|b", "n": 1200, "rho": 0.123456}, {"name": "c", "n": 3, "rho": math.nan}]
    table = Results("one", "A title", rows, ["a note"])
    assert table.markdown().splitlines() == [
        "**A title**",
        "",
        "| name | n | rho |",
        "| :-- | --: | --: |",
        "| a\\|b | 1,200 | .123 |",
        "| c | 3 | \N{EN DASH} |",
        "",
        "a note",
    ]
    with table.write_csv(tmp_path).open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == [
            {"name": "a|b", "n": "1200", "rho": "0.123456"},
            {"name": "c", "n": "3", "rho": ""},
        ]


def test_a_table_without_rows_says_so(tmp_path):
    table = Results("none", "Nothing", [])
    assert "no rows" in table.markdown()
    assert table.write_csv(tmp_path).exists()
