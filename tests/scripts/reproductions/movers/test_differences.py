from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reproductions.movers.differences import compared, differences, turned
from reproductions.movers.metrics import MoverSetup

from rlsum.evaluation.rows import paired_rows
from rlsum.evaluation.significance import williams_test

LABELS = ("ROUGE-L F1", "ROUGE-L recall", "WMS, static", "SMS, static", "S+WMS, static", "length (letters)")


@pytest.fixture
def static(measured):
    draw = np.random.default_rng(0)
    human = draw.normal(size=60)
    return measured(human, {label: human + (1 + place) * draw.normal(size=60) for place, label in enumerate(LABELS)})


def test_a_test_turned_round(static) -> None:
    tests = static.result.tests
    there, back = turned(tests, "SMS, static", "WMS, static"), turned(tests, "WMS, static", "SMS, static")
    assert (there.a, there.b) == ("SMS, static", "WMS, static")
    assert there.difference == -back.difference
    assert there.p == back.p
    assert there.p_greater + back.p_greater == 1
    with pytest.raises(KeyError):
        turned(tests, "SMS, static", "METEOR")


def test_every_comparison_of_the_paper_is_there() -> None:
    both = compared(("static", "contextual"))
    assert ("SMS, static", "ROUGE-L F1") in both
    assert ("S+WMS, contextual", "SMS, contextual") in both
    assert ("SMS, contextual", "SMS, static") in both
    assert ("ROUGE-L recall", "length (letters)") in both
    assert len(set(both)) == len(both) == 2 * 6 + 3 + 8
    assert len(compared(("static",))) == 6 + 5


def test_tests_are_those_of_the_statistics_room(static, tmp_path) -> None:
    study = differences(MoverSetup(tmp_path / "vectors"), [static])
    assert len(study.rows) == 15
    row = next(row for row in study.rows if (row["metric"], row["less"]) == ("WMS, static", "SMS, static"))
    scores = static.table.scores
    wanted = williams_test(*paired_rows(static.table.human, scores("WMS, static"), scores("SMS, static")), "spearman")
    assert row["williams_p_one_tailed"] == pytest.approx(wanted.p_greater)
    assert row["williams_p_two_tailed"] == pytest.approx(wanted.p)
    assert row["low_x100"] <= row["difference_x100"] <= row["high_x100"]
    (table,) = study.tables
    assert len(table.rows) == 11
    assert "rank correlations" in table.notes[1]


def test_a_metric_that_says_nothing_is_undefined_not_0(measured, tmp_path) -> None:
    draw = np.random.default_rng(1)
    columns = {label: draw.normal(size=30) for label in LABELS}
    columns["SMS, static"] = np.ones(30)
    study = differences(MoverSetup(tmp_path / "vectors"), [measured(draw.normal(size=30), columns)])
    line = next(row for row in study.tables[0].rows if row[0].text == "SMS, static over ROUGE-L F1")
    assert line[1].text == "\N{EN DASH}"
    assert "constant" in line[1].detail


def test_real_differences_are_marked(static, tmp_path) -> None:
    tests = tuple(replace(test, p_holm=0.01 if test.b == "length (letters)" else 0.2) for test in static.result.tests)
    made = replace(static, result=replace(static.result, tests=tests))
    rows = differences(MoverSetup(tmp_path / "vectors"), [made]).tables[0].rows
    assert [row[3].mark for row in rows] == [row[0].text.endswith("length (letters)") for row in rows]
