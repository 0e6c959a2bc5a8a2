import pytest
from rows import jsonl, table

from rlsum.errors import RecordError
from rlsum.judgments.registry import load

TEXT = {"id": "1", "system": "s", "candidate": "a cat", "reference": "the cat"}


def rated(judge, overall, **fields):
    return {**TEXT, **({"WorkerId": judge} if judge else {}), "overall": overall, **fields}


def test_one_row_a_judge_is_one_judgment_a_text(tmp_path):
    rows = [rated("ann", 1, flow=2), rated("bo", 4), rated("cy", 4, flow=3), rated("bo", 5, id="2", candidate="dogs")]
    found = load(table(tmp_path / "j.csv", *rows))
    first, second = found.rows
    assert (first.judges, second.judges) == (("ann", "bo", "cy"), ("bo",))
    assert (first.scores, second.scores) == ({"overall": 3, "flow": 2.5}, {"overall": 5, "flow": None})
    assert first.raw_scores == {"overall": (1, 4, 4), "flow": (2, None, 3)}
    (note,) = (note for note in found.notes if "rows" in note)
    assert all(part in note for part in ("4 rows", "3 judges", "2 texts", "1 to 3", "mean"))


def test_means_that_are_equal_are_equal_in_floats(tmp_path):
    """Sums of floats make .15000000000000002 of .1 and .2, and .10000000000000002 of .1 three times."""
    pairs = [(0.1, 0.2), (0.15, 0.15), (0.1, 0.1, 0.1), (0.1,)]
    rows = [rated(str(judge), value, id=str(n)) for n, pair in enumerate(pairs) for judge, value in enumerate(pair)]
    found = [row.scores["overall"] for row in load(table(tmp_path / "j.csv", *rows)).rows]
    assert found == [0.15, 0.15, 0.1, 0.1]


def test_judges_without_names_and_records_a_line_a_judge(tmp_path):
    table(tmp_path / "j.csv", rated("", 1), rated("", 4))
    (text,) = load(tmp_path / "j.csv").rows
    assert (text.judges, text.scores, text.raw_scores) == ((), {"overall": 2.5}, {"overall": (1, 4)})
    lines = [{**TEXT, "scores": {"overall": value}, "judges": [judge]} for judge, value in (("ann", 1), ("bo", 4))]
    (text,) = load(jsonl(tmp_path / "j.jsonl", *lines)).rows
    assert (text.judges, text.scores) == (("ann", "bo"), {"overall": 2.5})


@pytest.mark.parametrize("judge", ["ann", ""])
def test_one_row_a_judge_and_criterion(tmp_path, judge):
    rows = [rated(judge, value, dimension=name) for name, value in (("flow", 1), ("fluency", 5))]
    rows += [rated("bo" if judge else "", value, dimension=name) for name, value in (("fluency", 2), ("flow", 2))]
    (text,) = load(table(tmp_path / "j.csv", *rows)).rows
    assert text.scores == {"flow": 1.5, "fluency": 3.5}
    assert text.raw_scores == {"flow": (1, 2), "fluency": (5, 2)}
    assert text.judges == (("ann", "bo") if judge else ())
    with pytest.raises(RecordError, match="same"):
        load(
            table(tmp_path / "twice.csv", *rows[:2], rows[0]) if judge else table(tmp_path / "j2.csv", rows[0], rows[0])
        )


def test_rows_of_one_judge_may_leave_to_one_another_what_they_do_not_rate(tmp_path):
    rows = [rated("ann", 1, flow=""), rated("ann", "", flow=2), rated("bo", 3, flow=4)]
    (text,) = load(table(tmp_path / "j.csv", *rows)).rows
    assert (text.judges, text.raw_scores) == (("ann", "bo"), {"overall": (1, 3), "flow": (2, 4)})


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([rated("ann", 1), rated("bo", 2), rated("ann", 3)], "j.csv:4: .*j.csv:2, by the same judge 'ann'"),
        ([rated("ann", 1), rated("bo", 2, candidate="two cats")], "j.csv:3: .*j.csv:2, with another candidate"),
        ([rated("ann", 1), rated("bo", 2, reference="no cat")], "with another references"),
        ([rated("", 1), rated("", 2, candidate="b")], "with another candidate"),
        ([rated("ann", 1), rated(" ", 2), rated("", 2)], "'WorkerId' is empty"),
        ([rated("", 1), rated("", 1), rated("", 2, id="2")], "j.csv:3: .*j.csv:2, with the same scores"),
    ],
)
def test_rows_that_are_no_further_judge_are_told_with_both_places(tmp_path, rows, told):
    with pytest.raises(RecordError, match=told):
        load(table(tmp_path / "j.csv", *rows))


@pytest.mark.parametrize(
    ("sources", "noted"), [(("x", "x", "y"), True), (("x", "y", "z"), False), (("", "", ""), False)]
)
def test_ids_of_texts_that_are_taken_for_inputs_are_noted(tmp_path, sources, noted):
    rows = [{**TEXT, "id": f"t{n}", "reference": source, "overall": n} for n, source in enumerate(sources)]
    notes = load(table(tmp_path / "j.csv", *rows)).notes
    assert any("'t0' and 't1'" in note and "id=" in note for note in notes) is noted


def of_source(system, source, **fields):
    return {**TEXT, "system": system, "source": source, "scores": {"overall": 1}, **fields}


def test_an_id_of_several_articles_is_refused_and_one_of_several_references_noted(tmp_path):
    first = of_source("a", "A storm: it \u201crained\u201d, and hard .")
    alike = [of_source("b", "storm : it `` rained''"), of_source("c", ""), of_source("d", "Else.", group="other")]
    assert len(load(jsonl(tmp_path / "j.jsonl", first, *alike)).rows) == 4
    with pytest.raises(RecordError, match=r"j.jsonl:3: id '1' has another source at .*j.jsonl:1; .*group"):
        load(jsonl(tmp_path / "j.jsonl", first, alike[1], of_source("b", "A storm: it snowed.")))
    own = [of_source(system, "", reference=text) for system, text in (("a", "the cat"), ("b", "The cat !"))]
    assert not load(jsonl(tmp_path / "j.jsonl", *own)).notes
    other = of_source("c", "", reference="a dog")
    (note,) = load(jsonl(tmp_path / "j.jsonl", *own, other)).notes
    assert "1 ids, such as '1', have texts that share no reference, and" in note


@pytest.mark.parametrize("judges", [("ann", "bo", "cy"), ()])
def test_a_row_of_several_judges_beside_texts_of_one_row_a_judge_keeps_them(tmp_path, judges):
    several = {**TEXT, "judges": judges, "raw_scores": {"overall": [1, 5, 3]}, "scores": {"overall": 3}}
    single = [{**TEXT, "id": "2", "judges": judges[:1], "scores": {"overall": 2}}]
    single += [{**TEXT, "id": "2", "judges": judges[1:2], "scores": {"overall": 4}}]
    first, second = load(jsonl(tmp_path / "j.jsonl", several, *single)).rows
    assert (first.scores, first.raw_scores, first.judges) == ({"overall": 3}, {"overall": (1, 5, 3)}, judges)
    assert (second.scores, second.raw_scores, second.judges) == ({"overall": 3}, {"overall": (2, 4)}, judges[:2])


def test_judgments_of_several_judges_are_not_joined(tmp_path):
    row = {**TEXT, "raw_scores": {"overall": [1, 2]}}
    with pytest.raises(RecordError, match="several judges in a row"):
        load(jsonl(tmp_path / "j.jsonl", row, row))
