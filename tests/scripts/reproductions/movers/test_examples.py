from __future__ import annotations

import numpy as np
import pytest
from reproductions.movers.examples import disagreement, disagreements, quartiles, table3
from reproductions.movers.metrics import MoverSetup

UP = np.arange(8.0)


@pytest.fixture
def opposed(measured):
    """Eight texts that the movers order as people do and ROUGE-L the other way round."""
    movers = {f"{name}, static": UP for name in ("WMS", "SMS", "S+WMS")}
    columns = {"ROUGE-L F1": -UP, "ROUGE-L recall": -UP, **movers, "length (letters)": UP[[0, 2, 1, 3, 4, 5, 6, 7]]}
    return measured(UP, columns)


def test_quartiles_by_hand() -> None:
    assert quartiles(UP).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert quartiles(-UP).tolist() == [4, 4, 3, 3, 2, 2, 1, 1]
    assert quartiles(np.array([0.0, 0, 0, 0, 5])).tolist() == [1, 1, 1, 1, 4]
    assert quartiles(np.array([np.nan, 1, 2, 3, 4])).tolist() == [0, 1, 2, 3, 4]
    assert quartiles(np.full(3, np.nan)).tolist() == [0, 0, 0]


def test_the_furthest_apart_come_first(opposed) -> None:
    found = disagreement(opposed, "static", ("SMS",), ("ROUGE-L F1",))
    assert found.rows == (7, 6)
    assert found.words == "top by SMS, bottom by ROUGE-L F1 (static)"
    assert disagreement(opposed, "static", ("SMS",), ("WMS",)).rows == ()


def test_both_directions_and_the_papers_two_kinds(opposed) -> None:
    found = {(each.top, each.bottom): each.rows for each in disagreements(opposed, "static")}
    movers = ("WMS", "SMS", "S+WMS")
    assert found[movers, ("ROUGE-L F1",)] == (7, 6)
    assert found[("ROUGE-L F1",), movers[1:]] == (0, 1)
    assert len(found) == 8
    words = [each.words for each in disagreements(opposed, "static")]
    assert words[6] == "top by WMS, SMS and S+WMS, bottom by ROUGE-L F1 (static)"


def test_the_table_counts_and_shows(opposed, tmp_path) -> None:
    study = table3(MoverSetup(tmp_path / "vectors"), [opposed], shown=1)
    counts = {row[0].text: (row[1].text, row[2].text) for row in study.tables[0].rows}
    assert counts["all summaries"] == ("8", "3.50")
    assert counts["summaries, top by SMS, bottom by ROUGE-L F1 (static)"] == ("2", "6.50")
    examples = study.tables[1:]
    assert [{row[0].text: row[1].text for row in each.rows}["text"] for each in examples] == ["text 7", "text 0"]
    shown = {row[0].text: row[1].text for row in examples[0].rows}
    assert shown["SMS, static"] == "7 (top quartile)"
    assert shown["ROUGE-L F1"] == "-7 (bottom quartile)"
    assert {row["id"] for row in study.rows} == {"0", "1", "6", "7"}
    assert not any("text" in row or "reference" in row for row in study.rows)


def test_where_metrics_agree_nothing_is_shown(measured, tmp_path) -> None:
    labels = ("ROUGE-L F1", "ROUGE-L recall", "WMS, static", "SMS, static", "S+WMS, static", "length (letters)")
    study = table3(MoverSetup(tmp_path / "vectors"), [measured(UP, dict.fromkeys(labels, UP))], shown=3)
    assert len(study.tables) == 1
    assert study.rows == ()
    assert {row[2].text for row in study.tables[0].rows[1:]} == {"\N{EN DASH}"}
