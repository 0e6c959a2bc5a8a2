import csv
import io

from studies import hostile_study, study

from human_eval.collection.collect import collect
from human_eval.collection.returns import read_returned
from human_eval.exports.sheets import sheets


def cells(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_no_cell_of_a_hostile_study_can_be_calculated():
    (text,) = sheets(hostile_study()).values()
    starts = {value.lstrip(" \u00a0\ufeff")[:1] for row in csv.reader(io.StringIO(text, newline="")) for value in row}
    assert not starts & set("=+-@\t\r")


def test_a_row_a_task_with_its_texts():
    blind, _ = study()
    files = sheets(blind)
    assert list(files) == [f"booklet-{number:02}.csv" for number in range(1, len(blind.booklets) + 1)]
    for booklet, text in zip(blind.booklets, files.values(), strict=True):
        assert [(row["task"], row["left"], row["right"], row["article"]) for row in cells(text)] == [
            (task.id, task.left, task.right, blind.articles[task.item]) for task in booklet
        ]


def test_a_sheet_filled_in_comes_back_as_judgments(tmp_path):
    blind, _ = study()
    rows = cells(sheets(blind)["booklet-01.csv"])
    for row in rows:
        row |= {"judge": "ann", **{criterion.id: "B" for criterion in blind.criteria}}
    with (tmp_path / "back.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    found = collect(blind, read_returned(tmp_path / "back.csv", blind))
    assert found.rejects == ()
    assert [row.task for row in found.judgments] == [task.id for task in blind.booklets[0]]
    assert {answer for row in found.judgments for answer in row.answers.values()} == {"right"}


def test_a_sheet_that_nobody_filled_in_is_said_row_by_row(tmp_path):
    blind, _ = study()
    (tmp_path / "back.csv").write_text(sheets(blind)["booklet-01.csv"], encoding="utf-8")
    found = collect(blind, read_returned(tmp_path / "back.csv", blind))
    assert {reject.reason for reject in found.rejects} == {"not filled in"}
    assert len(found.rejects) == len(blind.booklets[0])
