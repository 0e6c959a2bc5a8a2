import pytest

from human_eval.spreadsheet import csv_text, neutral


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u00a0=1", "\uff1d1", "\ufeff=1", "=cmd|' /C calc'!A0"],
)
def test_a_formula_becomes_text(cell):
    assert neutral(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "the - dash", "a=b", "'quoted'", "5 - 3", "שלום"])
def test_other_cells_stay_as_they_are(cell):
    assert neutral(cell) == cell


def test_numbers_stay_numbers():
    assert csv_text([["votes", "system"], [-1, "-1"]]) == "votes,system\r\n-1,'-1\r\n"
