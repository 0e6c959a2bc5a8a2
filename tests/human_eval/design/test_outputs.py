from dataclasses import replace

import pytest
from rows import jsonl
from studies import NAMES, outputs

from human_eval.design.outputs import align, read_aligned
from human_eval.study import StudyError
from rlsum.data.articles import Articles
from rlsum.errors import RecordError
from rlsum.records import write_outputs


def placed(rows):
    return [(f"file:{number}", row) for number, row in enumerate(rows, 1)]


def test_only_ids_that_every_system_has_are_kept_and_the_rest_is_counted():
    rows = [row for row in outputs(4, 3) if (row.system, row.id) != (NAMES[1], "article-2")]
    found = align(placed(rows))
    assert sorted(found.articles) == ["article-0", "article-1", "article-3"]
    assert found.left_out == {NAMES[0]: 1, NAMES[2]: 1}
    assert found.candidates["article-3"][NAMES[2]].startswith("summary 2 of case 3")


def test_one_file_or_several_and_in_any_order_come_to_the_same(tmp_path):
    rows = outputs(5, 2)
    write_outputs(tmp_path / "all.jsonl", rows[::-1])
    write_outputs(tmp_path / "first.jsonl", rows[:5])
    write_outputs(tmp_path / "second.jsonl", rows[5:])
    together = read_aligned([tmp_path / "all.jsonl"])
    assert together == read_aligned([tmp_path / "second.jsonl", tmp_path / "first.jsonl"])


def test_articles_may_differ_in_case_spaces_and_marks():
    rows = outputs(2, 2)
    rows[2] = replace(rows[2], source=rows[0].source.upper().replace(" .", "."))
    assert align(placed(rows)).articles["article-0"] == rows[0].source
    written, rows[0] = rows[0].source, replace(rows[0], source=rows[0].source.lower())
    rows[2] = replace(rows[2], source=written)
    assert align(placed(rows)).articles["article-0"] == written, "people read what was written"


def test_an_article_that_has_two_ids_is_one():
    """Twelve ids of one article would be twelve items, and a vote on it twelve votes."""
    rows = outputs(3, 2)
    again = [replace(row, source=rows[0].source.upper() if row.id == "article-2" else row.source) for row in rows]
    found = align(placed(again))
    assert (sorted(found.articles), found.candidates.keys(), found.repeated) == (
        ["article-0", "article-1"], found.articles.keys(), 1
    )  # fmt: skip


def test_an_article_may_be_missing_in_one_file():
    rows = outputs(2, 2)
    rows[0] = replace(rows[0], source=" ")
    assert align(placed(rows)).articles["article-0"] == rows[2].source


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows[:3], "only one system"),
        (lambda rows: [*rows, rows[-1]], "a second output of sms_model, the first in file:6"),
        (lambda rows: [replace(row, source="") for row in rows], "no source"),
        (lambda rows: [*rows[:5], replace(rows[5], source="Another story .")], "file:6: its source differs"),
        (lambda rows: [*rows[:3], *(replace(row, id=f"x{row.id}") for row in rows[3:])], "no id has an output of ever"),
        (lambda rows: [replace(rows[0], system=" "), *rows[1:]], "file:1: system is empty"),
        (lambda rows: [replace(rows[0], candidate="\ud800"), *rows[1:]], "file:1: candidate is not valid Unicode"),
        (lambda rows: [replace(rows[0], id="\ud800"), *rows[1:]], "file:1: id is not valid Unicode"),
    ],
)
def test_what_cannot_be_aligned_is_refused(change, told):
    with pytest.raises(StudyError, match=told):
        align(placed(change(outputs(3, 2))))


def test_a_broken_line_is_named(tmp_path):
    path = jsonl(tmp_path / "broken.jsonl", {"id": "1", "source": "s"})
    with pytest.raises(RecordError, match=r"broken.jsonl:1: missing candidate;"):
        read_aligned([path])


def test_tables_without_references_are_read(tmp_path):
    for system in "ab":
        (tmp_path / f"{system}.csv").write_text(f"id;source;candidate\n1;Ein Bär.;Text {system}\n")
    assert read_aligned([tmp_path / "a.csv", tmp_path / "b.csv"]).candidates == {"1": {"a": "Text a", "b": "Text b"}}
    (tmp_path / "b.csv").write_text("id;source;summary\n1;Ein Bär.;Text b\n")
    with pytest.raises(RecordError, match=r"b.csv:2: missing candidate; .*rename columns, or .*rlsum data outputs"):
        read_aligned([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_texts_alone_are_of_the_articles_in_their_order(tmp_path):
    articles = ({"id": f"a{number}", "dialogue": f"story {number}"} for number in (3, 1, 2))
    jsonl(tmp_path / "articles.jsonl", *articles)
    for system in "xy":
        (tmp_path / f"{system}.txt").write_text(f"{system} three\n{system} one\n{system} two\n")
    found = read_aligned([tmp_path / "x.txt", tmp_path / "y.txt"], Articles.read(tmp_path / "articles.jsonl"))
    assert found.articles == {"a1": "story 1", "a2": "story 2", "a3": "story 3"}
    assert found.candidates["a3"] == {"x": "x three", "y": "y three"}
    (tmp_path / "y.txt").write_text("one\ntwo\n")
    with pytest.raises(RecordError, match=r"y\.txt has 2 rows without ids, but .*articles\.jsonl 3"):
        read_aligned([tmp_path / "x.txt", tmp_path / "y.txt"], Articles.read(tmp_path / "articles.jsonl"))


def test_records_are_of_the_articles_with_their_ids(tmp_path):
    rows = [replace(row, source="") for row in outputs(3, 2)]
    write_outputs(tmp_path / "all.jsonl", rows)
    lines = ["id,article", *(f"{name},story of {name}" for name in sorted({row.id for row in rows})[::-1])]
    (tmp_path / "articles.csv").write_text("\n".join(lines) + "\n")
    found = read_aligned([tmp_path / "all.jsonl"], Articles.read(tmp_path / "articles.csv"))
    assert found.articles[rows[0].id] == f"story of {rows[0].id}"
    (tmp_path / "few.csv").write_text("id,article\nelse,a story\n")
    with pytest.raises(RecordError, match="no article has the id"):
        read_aligned([tmp_path / "all.jsonl"], Articles.read(tmp_path / "few.csv"))
