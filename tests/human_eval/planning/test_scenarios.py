import pytest

from human_eval.planning.scenarios import MOST, Scenario, read_scenarios
from human_eval.planning.simulation import Assumptions
from rlsum.errors import UserError

USUAL = Assumptions(0.6, 0.1, 0.3)


def read(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding=encoding)
    return read_scenarios(path, USUAL, 3)


def test_a_row_says_what_differs(tmp_path):
    text = "scenario,preference,ties,correlation,judges\nfew ties,.65,0,,\n\n,,,0.5,1\n"
    assert read(tmp_path, text) == (
        Scenario("few ties", Assumptions(0.65, 0.0, 0.3), 3),
        Scenario("correlation 0.5, judges 1", Assumptions(0.6, 0.1, 0.5), 1),
    )


@pytest.mark.parametrize(
    "text", ["Preference;Ties\n0.7;0.2\n", "preference\tties\n0.7\t0.2\n", "ties,preference\n.2,.7"]
)
def test_what_spreadsheets_write_is_read(tmp_path, text):
    (found,) = read(tmp_path, text, "utf-8-sig")
    assert found.assumptions == Assumptions(0.7, 0.2, 0.3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "0 rows below the header; give a header"),
        ("\n \n", "0 rows below the header"),
        ("preference\n", "0 rows below the header"),
        ("preference\n" + "\n".join(f".6{number:02}" for number in range(MOST + 1)), "21 rows below the header"),
        ("prefer,ties\n.6,.1\n", "unknown column 'prefer'; the columns are scenario, preference"),
        ("ties,ties\n.6,.1\n", "2 columns are called 'ties'"),
        ("scenario\nx\n", "no column with assumptions"),
        ("preference,ties\n.6,.1\n.4,.1\n", r"csv:3: preference '\.4': must be greater"),
        ("preference;ties\n0,6;0,1\n", "csv:2: preference '0,6': must be a valid number"),
        ("ties\nnan\n", "csv:2: ties 'nan': must be less than 1"),
        ("correlation\nhigh\n", "csv:2: correlation 'high'"),
        ("judges\n2.5\n", "csv:2: judges '2.5': must be a valid integer"),
        ("judges\n0\n", "csv:2: judges '0'"),
        ("preference,ties\n0,6,.1\n", "csv:2: wrong number of CSV fields; save it as .*decimal point"),
        ("scenario,ties\na,.1\nb,.1\na,.2\n", "csv:4: duplicate scenario 'a', also in .*csv:2"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, text, said):
    with pytest.raises(UserError, match=said):
        read(tmp_path, text)


def test_files_that_are_no_text_are_refused(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        read_scenarios(tmp_path / "none.csv", USUAL, 3)
    (tmp_path / "table.csv").write_bytes(b"preference\n\xff\n")
    with pytest.raises(UserError, match="save it as 'CSV UTF-8'"):
        read_scenarios(tmp_path / "table.csv", USUAL, 3)
