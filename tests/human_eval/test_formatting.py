import pytest

from human_eval.formatting import counted, csv_text, neutral, percentage, spread, versus


@pytest.mark.parametrize(("number", "told"), [(0, "0 judges"), (1, "1 judge"), (2, "2 judges"), (1200, "1,200 judges")])
def test_a_noun_agrees_with_its_number(number, told):
    assert counted(number, "judge") == told


def test_a_plural_may_be_given():
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


def test_a_spread_of_one_number_is_that_number():
    assert spread([3, 5, 4], "task") == "3 to 5 tasks"
    assert spread([3, 3], "task") == "3 tasks"
    assert spread([1], "task") == "1 task"


@pytest.mark.parametrize(("share", "told"), [(0.6, "60%"), (0.625, "62.5%"), (4 / 18, "22.2%"), (0, "0%")])
def test_shares_keep_what_matters(share, told):
    assert percentage(share) == told


def test_names_from_right_to_left_stay_in_their_places():
    assert versus(("ours", "theirs")) == "ours / theirs"
    assert versus(("שם", "b")) == "\u200eשם\u200e / b"


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u00a0=1", "\uff1d1", "\ufeff=1", "=cmd|' /C calc'!A0"],
)
def test_a_formula_becomes_text(cell):
    assert neutral(cell) == f"'{cell}"


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("x;=HYPERLINK(1)", "x;'=HYPERLINK(1)"),
        ("x; +1;@y", "x;' +1;'@y"),
        ("a\t=1", "a\t'=1"),
        ("a\n-b\r\n=c", "a\n'-b\r\n'=c"),
    ],
)
def test_a_formula_after_another_delimiter_becomes_text(cell, told):
    assert neutral(cell) == told
    assert neutral(told) == told


@pytest.mark.parametrize("cell", ["", "the - dash", "a=b", "'quoted'", "5 - 3", "שלום"])
def test_other_cells_stay_as_they_are(cell):
    assert neutral(cell) == cell


def test_numbers_stay_numbers():
    assert csv_text([["votes", "system"], [-1, "-1"]]) == "votes,system\r\n-1,'-1\r\n"
