import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from votes import study_of, votes_of

from human_eval.report import pictures
from human_eval.report.card import FILES, card, write_card
from human_eval.report.tables import agreement_cell
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings
from human_eval.votes.votes import CheckResult
from rlsum.evaluation.agreement import Agreement
from rlsum.pages.pictures import fonts
from rlsum.pages.table import Cell, Table

HOSTILE = "<script>alert(1)</script> & {{ 7 * 7 }} | _x_ \\end{table}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A card of systems and judges with hostile names."""
    values = np.random.default_rng(0).integers(-1, 2, (12, 3))
    rows = votes_of(values, pair=("ours", HOSTILE), left=HOSTILE)
    rows = [replace(row, judge="=cmd()" if row.judge == "judge0" else row.judge) for row in rows]
    analysis = analyse(study_of(rows, same=((("ours", HOSTILE), "other"),)), AnalysisSettings(resamples=200))
    folder = tmp_path_factory.mktemp("card") / "verdict"
    write_card(analysis, folder)
    return analysis, folder


def test_every_file_is_there(made):
    assert sorted(path.name for path in made[1].iterdir()) == sorted(FILES)


def test_long_names_stand_beside_each_other_in_the_picture(monkeypatch):
    figure = Figure(layout="constrained")

    def draw(_name, _title, _description, size, draw):
        figure.set_size_inches(*size)
        draw(figure, "light")

    monkeypatch.setattr(pictures, "drawn", draw)
    pair, criterion = ("pointer-generator-with-coverage", "text-davinci-002-few-shot"), "consistency-with-the-source"
    rows = [replace(row, criterion=criterion) for row in votes_of(np.ones((8, 2)), pair=pair)]
    pictures.preferences_picture(analyse(study_of(rows), AnalysisSettings(resamples=99)))
    figure.draw_without_rendering()
    first, asked, second = (text.get_window_extent() for text in figure.axes[0].texts)
    assert first.x1 < asked.x0 < asked.x1 < second.x0


def test_the_page_needs_no_other_file_and_escapes_everything(made):
    page = (made[1] / "verdict.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert not re.search(r"""(src|href|srcset)=["'](?!data:)""", page)
    assert "prefers-color-scheme: dark" in page
    assert page.count("data:image/png;base64,") == 2  # light and dark


def test_results_are_json_without_nan(made):
    text = (made[1] / "results.json").read_text()
    data = json.loads(text, parse_constant=pytest.fail)
    (found,) = data["preferences"]
    outcome = made[0].outcomes[0]
    assert found["ties_half"]["share"] == outcome.half.share
    assert found["pair"] == ["ours", HOSTILE]
    assert found["preferred"] is None
    assert data["equal_texts"] == 1
    assert any("no difference detected" in line for line in data["findings"])


def test_csv_is_no_program(made):
    with (made[1] / "votes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 36
    assert {row["judge"] for row in rows} == {"'=cmd()", "judge1", "judge2"}
    assert {row["preference"] for row in rows} == {"-1", "0", "1"}  # numbers stay numbers
    with (made[1] / "preferences.csv").open(newline="") as file:
        half, dropped = csv.DictReader(file)
    assert float(half["share"]) == made[0].outcomes[0].half.share
    assert (half["ties"], dropped["ties"]) == ("half", "dropped")
    assert half["items"] == "13"


def test_markdown_holds_no_tags(made):
    text = (made[1] / "verdict.md").read_text()
    assert "&lt;script>" in text
    assert "<script" not in text


def test_markdown_and_latex_hold_the_verdict(made):
    assert "no difference detected" in (made[1] / "verdict.md").read_text()
    latex = (made[1] / "verdict.tex").read_text()
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}")
    assert r"\textbackslash{}end\{table\}" in latex


def tables_of(analysis):
    return [block for block in card(analysis) if isinstance(block, Table)]


def test_every_row_has_a_cell_for_each_column():
    rows = [row for pair in (("a", "b"), ("a", "c")) for row in votes_of([[1, 0], [-1, 1], [1, -1]], pair=pair)]
    scores = {"m": {system: {"item000": 0.1, "item001": 0.2} for system in "abc"}}
    tables = tables_of(analyse(study_of(rows), AnalysisSettings(resamples=50), scores))
    assert len(tables) == 8
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.header)}


def test_judges_are_told_apart_from_each_other_and_columns_too(tmp_path):
    rows = [row for pair in (("a", "c"), ("b", "c")) for row in votes_of([[1, 0], [-1, 1], [1, -1]], pair=pair)]
    failed = [CheckResult("judge0", task, "identical", True) for task in ("t1", "t2")]
    analysis = analyse(study_of(rows, checks=failed), AnalysisSettings(resamples=50))
    judges = tables_of(analysis)[-1]
    assert judges.caption == "Judges"
    assert len(set(judges.header)) == len(judges.header)
    write_card(analysis, tmp_path)
    for name in ("verdict.html", "verdict.md"):  # in the row of the judge, and in the warnings
        assert (tmp_path / name).read_text().count("failed 2 of 2 checks") == 2


def test_zero_has_no_minus():
    assert agreement_cell(Agreement(-0.001, -0.004, 0.2, 3, 6), 1) == Cell("0.00", "0.00 to 0.20")


def test_tables_without_rows_are_left_out(made):
    captions = [table.caption for table in tables_of(made[0])]
    assert "With the help of metrics" not in captions  # no scores were given
    assert not any(caption.startswith("Ranking") for caption in captions)  # of two systems
    assert captions[:2] == ["Verdict", "Under other choices"]


def test_a_card_of_next_to_nothing(tmp_path):
    analysis = analyse(study_of(votes_of([[0]], left=None)), AnalysisSettings(resamples=50))
    write_card(analysis, tmp_path)
    assert "nan" not in (tmp_path / "verdict.md").read_text().lower().replace("dominan", "")


@pytest.mark.parametrize("pair", [("$\\frac{$", "a$b$c$"), ("x" * 300, "two\nlines")])
def test_a_name_is_no_formula_to_the_picture(pair, tmp_path, recwarn):
    write_card(analyse(study_of(votes_of([[1, 0]] * 6, pair=pair)), AnalysisSettings(resamples=50)), tmp_path)
    assert (tmp_path / "preferences.png").stat().st_size > 5_000
    assert not [warning for warning in recwarn if "collapsed" in str(warning.message)]


def test_names_that_no_font_can_draw_are_said_on_the_card(tmp_path, monkeypatch):
    monkeypatch.setattr(fonts, "families", lambda: ("DejaVu Sans",))
    votes = votes_of([[1, 0]] * 6, pair=("甲系统", "ours"))
    write_card(analyse(study_of(votes), AnalysisSettings(resamples=50)), tmp_path)
    for name in ("verdict.html", "verdict.md"):
        assert "[1] is 甲系统: no installed font has these letters" in (tmp_path / name).read_text()
