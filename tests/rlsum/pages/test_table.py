from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from rlsum.evaluation.statistics import Interval
from rlsum.pages.latex import to_latex
from rlsum.pages.markdown import to_markdown
from rlsum.pages.page import to_html
from rlsum.pages.table import DASH, Cell, Table, joined, p_text
from rlsum.pages.terminal import show
from rlsum.scoring.comparison import PairedDifference, Resampling
from rlsum.scoring.tables import difference_table, metric_table, property_table

NAN = float("nan")
ROWS = {
    "lead [3]": {"rouge-l": Interval(0.4, 0.39, 0.41, 10), "sms": Interval(0.2, 0.1, 0.3, 10)},
    "model|x": {"rouge-l": Interval(0.3, NAN, NAN, 1), "sms": Interval(NAN, NAN, NAN, 0)},
}


def printed(table: Table, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    show([table], console)
    return console.file.getvalue()


def test_scores_are_shown_times_100_with_their_interval_and_none_is_marked():
    table = metric_table(ROWS, {}, "Scores")
    assert table.header == ("system", "rouge-l", "sms")
    assert table.rows[0][1] == Cell("40.00", f"39.00{DASH}41.00")
    assert table.rows[1][1] == Cell("30.00", "one item")
    assert table.rows[1][2] == Cell(DASH)


def test_a_table_is_a_data_frame():
    frame = metric_table(ROWS, {}, "Scores").to_frame()
    assert list(frame.columns) == ["rouge-l", "sms"]
    assert frame.loc["lead [3]", "rouge-l"] == "40.00"


def test_a_missing_encoder_is_a_column_that_says_so():
    table = metric_table(ROWS, {"twmd": "encoder missing: pip install it"}, "Scores")
    assert table.header[-1] == "twmd"
    assert [row[-1].text for row in table.rows] == ["not computed"] * 2
    assert table.notes == ("twmd: encoder missing: pip install it",)


def test_properties_are_in_their_own_units():
    row = {"length": Interval(20.04, 19, 21, 9), "copy-rate": Interval(0.5, 0.4, 0.6, 9)}
    table = property_table({"model": row}, "Properties")
    assert table.header == ("system", "length, tokens", "copy rate, %")
    assert [cell.text for cell in table.rows[0]] == ["model", "20.0", "50.0"]


def test_a_column_of_words_has_one_alignment():
    rows = [(Cell("x"), Cell("1"), Cell(name)) for name in ("short", "a name that is long / another name that is long")]
    page = to_html([Table("t", ("", "n", "first / second"), tuple(rows))])
    assert page.count(' class="words"') == 3
    assert re.search('<th [^>]*class="words">first / second', page)


def test_a_narrow_cell_of_a_page_breaks_between_details_and_not_within_one():
    page = to_html([Table("t", ("system", "m"), ((Cell("a"), Cell("+0.15", "-7.86 to +8.15, raw <0.14")),))])
    assert "+0.15<small><span>-7.86 to +8.15,</span> <span>raw &lt;0.14</span></small></td>" in page
    assert "small span { white-space: nowrap; }" in page


def test_names_are_joined_as_in_a_sentence():
    assert [joined(["a", "b", "c"][:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]


def test_differences_are_signed_and_marked_where_the_interval_excludes_zero():
    sure = PairedDifference("b", "a", "m", Interval(0.02, 0.01, 0.03, 50), 0.0004, 50, 0, 0.0008)
    unsure = PairedDifference("c", "a", "m", Interval(-0.01, -0.02, 0.01, 50), 0.3, 50, 0, 0.3)
    nothing = PairedDifference("d", "a", "m", Interval(NAN, NAN, NAN, 0), NAN, 0, 9)
    rows = difference_table([sure, unsure, nothing], Resampling(), "Against a").rows
    assert rows[0][2] == Cell("+2.00", "+1.00 to +3.00", mark=True)
    assert rows[1][2] == Cell("-1.00", "-2.00 to +1.00")
    assert [cell.text for cell in rows[0][3:]] == ["0.0004", "0.0008", "50"]
    assert [cell.text for cell in rows[2][2:5]] == [DASH, DASH, DASH]


def test_markup_in_names_is_text_in_the_terminal_and_in_markdown():
    table = metric_table(ROWS, {}, "Scores [bold]", ["a note"])
    text = printed(table)
    assert "lead [3]" in text
    assert "Scores [bold]" in text
    assert "a note" in text
    markdown = to_markdown([table]).splitlines()
    assert markdown[0] == "**Scores [bold]**"
    assert markdown[2] == "| system | rouge-l | sms |"
    assert markdown[4] == f"| lead [3] | 40.00 (39.00{DASH}41.00) | 20.00 (10.00{DASH}30.00) |"
    assert markdown[5].startswith("| model\\|x | 30.00 (one item)")
    assert markdown[-1] == "a note"


def test_no_p_value_is_shown_as_zero():
    assert [p_text(p) for p in (0.0, 4.9e-5, 1 / 10_001, 0.0312, 1.0)] == [
        "< .0001", "< .0001", "0.0001", "0.0312", "1.0000",
    ]  # fmt: skip
    table = Table("", ("", "p"), ((Cell("a"), Cell(p_text(1e-9))),))
    assert "< .0001" in printed(table)
    assert "| < .0001 |" in to_markdown([table])
    assert r"\textless{} .0001" in to_latex([table])
    assert "&lt; .0001" in to_html([table])


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_number_is_cut_or_broken_in_any_terminal(width):
    text = printed(metric_table(ROWS, {}, "Scores"), width)
    for number in ("40.00", f"39.00{DASH}41.00", "20.00", f"10.00{DASH}30.00", "30.00"):
        assert number in text


def test_the_words_of_a_narrow_table_are_as_wide_as_the_terminal():
    caption, note = "A caption that is wider than its table", "A note that is wider than its table, too"
    text = printed(Table(caption, ("", "n"), ((Cell("a"), Cell("1")),), (note,)))
    assert {caption, note} <= {line.strip() for line in text.splitlines()}
