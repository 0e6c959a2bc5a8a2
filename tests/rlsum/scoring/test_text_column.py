"""Columns of texts of two files, row by row."""

import json

import pytest

from rlsum.errors import RecordError
from rlsum.scoring.pairs import TextFiles
from rlsum.scoring.text_column import TextColumns

DIALOGUES = [
    {"fname": str(n), "dialogue": "a b", "summary1": f"{n} a", "topic1": "t", "summary2": None} for n in (7, 8)
]


def written(folder, name, content):
    path = folder / name
    path.write_text(content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content))
    return path


@pytest.mark.parametrize(
    ("name", "content", "options", "found"),
    [
        ("r.jsonl", DIALOGUES, {}, [["7 a"], ["8 a"]]),
        ("r.csv", "idx,gen_summ\n1,x y\n2,z\n", {}, [["x y"], ["z"]]),
        ("r.csv", "title,Reference\nt,x\nt,y\n", {}, [["x"], ["y"]]),
        ("r.csv", "title,body\nt,x\nt,y\n", {"reference_column": "body"}, [["x"], ["y"]]),
        ("r.csv", "references\n\"['x', 'y']\"\n[]\n", {}, [["x", "y"], []]),
        ("r.csv", "abstract\n\"['x', 'y']\"\nz\n", {"reference_lists": "sentences"}, [["x\ny"], ["z"]]),
        ("r.txt", "x\n\n", {}, [["x"], []]),
    ],
)
def test_references_come_from_lines_or_from_a_column(tmp_path, name, content, options, found):
    candidates, references = written(tmp_path, "c.txt", "one\ntwo\n"), written(tmp_path, name, content)
    pairs = TextFiles(candidates, (references,), TextColumns(**options))
    assert pairs.check().rows == 2
    assert [(row["candidate"], row["references"]) for row in pairs] == list(zip(("one", "two"), found, strict=True))


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        ("title,body\nt,x\nt,y\n", {}, "which column has the references.*reference_column=; there are title, body"),
        ("summary,highlights\nt,x\nt,y\n", {}, "which column has the references"),
        ("reference\nx\ny\n", {"reference_column": "gold"}, "reference_column='gold': not in .*columns are reference"),
        ("reference\nx\n", {}, "c.csv has 2 lines but .*r.csv has 1"),
        ("id,reference\n1,x\n3,y\n", {}, "r.csv:3: id '3', but '2' at .*c.csv:3"),
        ("abstract\n\"['x', 'y']\"\nz\n", {}, "r.csv:2: abstract: .*--reference-lists"),
        ("the first of the texts of a file that has no names\nx\ny\n", {}, "its first row has texts, not names"),
    ],
)
def test_what_does_not_belong_together_is_told(tmp_path, content, options, told):
    candidates = written(tmp_path, "c.csv", "id,prediction\n1,a\n2,b\n")
    with pytest.raises(RecordError, match=told):
        TextFiles(candidates, (written(tmp_path, "r.csv", content),), TextColumns(**options)).check()


PAIRS = "sentence1,sentence2,sentence3,title\na,b,,t\nc,d,e,t\n"


@pytest.mark.parametrize(
    ("content", "candidate", "reference", "found"),
    [
        (PAIRS, "sentence1", "sentence2", [("a", ["b"]), ("c", ["d", "e"])]),
        (PAIRS, "sentence3", "sentence1", [("", ["a", "b"]), ("e", ["c", "d"])]),
        ("summary,summary2,title\na,b,t\nc,d,t\n", None, "summary2", [("a", ["b"]), ("c", ["d"])]),
        ("summary,highlights,title\na,b,t\nc,d,t\n", "summary", None, [("a", ["b"]), ("c", ["d"])]),
    ],
)
def test_the_column_of_candidates_is_no_reference_in_its_file(tmp_path, content, candidate, reference, found):
    path = written(tmp_path, "c.csv", content)
    pairs = TextFiles(path, (tmp_path / ".." / tmp_path.name / "c.csv",), TextColumns(candidate, reference))
    assert pairs.check().rows == 2
    assert [(row["candidate"], row["references"]) for row in pairs] == found
    with pytest.raises(RecordError, match="reference_column='title': the column of the candidates, too; name another"):
        TextFiles(path, (path,), TextColumns("title", "title")).check()
    other = TextFiles(written(tmp_path, "o.txt", "x\ny\n"), (path,), TextColumns(None, reference or "highlights"))
    assert len([*other][1]["references"]) == {"sentence2": 3, "sentence1": 3, "summary2": 2}.get(reference, 1)
