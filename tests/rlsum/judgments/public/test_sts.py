import pytest

from rlsum.errors import RecordError
from rlsum.judgments.public.sts import sts

TABLE = """year\tsubtask\tline\tscore\tsentence1\tsentence2
2012\tMSRpar\t1\t4.400\tA "dog.\tThe dog.
2016\timages\t1\t\tA cat.\tThe cat.
2016\timages\t2\t0.0\tA cat.\tA dog.
"""


def test_a_table(tmp_path):
    path = tmp_path / "sts.tsv"
    path.write_text(TABLE)
    found = sts(path)
    assert [(each.id, each.group, each.candidate, each.references) for each in found.rows] == [
        ("2012/MSRpar/1", "2012/MSRpar", 'A "dog.', ("The dog.",)),
        ("2016/images/2", "2016/images", "A cat.", ("A dog.",)),
    ]
    assert found.rows[0].scores == {"overall": 4.4}
    assert found.left_out == {"without a rating": 1}
    assert len(sts(path, years="2012").rows) == 1
    assert sts(path, years="2016", subtasks="images").left_out["of other years or subtasks"] == 1
    for option, wrong, told in (
        ("years", "2012 1999", "2012"),
        ("subtasks", "images MSRpa", "'MSRpa'; there are MSRpar, images"),
    ):
        with pytest.raises(RecordError, match=f"{option}='{wrong}': no judgment is of .*{told}"):
            sts(path, **{option: wrong})


@pytest.fixture
def tasks(tmp_path):
    for folder, subtask, pairs, scores in (
        ("STS12-en-test", "surprise.OnWN", "a\tb\nc\td\n", "1.5\n\n"),
        ("sts2016-test", "headlines", "e\tf\tfrom here\tfrom there\r\n", "5\r\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"STS.input.{subtask}.txt").write_bytes(pairs.encode())
        (tmp_path / folder / f"STS.gs.{subtask}.txt").write_bytes(scores.encode())
    return tmp_path


def test_the_files_of_the_tasks(tasks):
    found = sts(tasks)
    assert [(each.id, each.candidate, each.references, each.scores["overall"]) for each in found.rows] == [
        ("2012/OnWN/1", "a", ("b",), 1.5),
        ("2016/headlines/1", "e", ("f",), 5.0),
    ]
    assert found.left_out == {"without a rating": 1}


def test_files_that_do_not_fit(tasks):
    (tasks / "sts2016-test" / "STS.gs.headlines.txt").write_text("5\n4\n")
    with pytest.raises(RecordError, match=r"has 1 lines, STS\.gs\.headlines\.txt 2"):
        sts(tasks)
    (tasks / "sts2016-test" / "STS.gs.headlines.txt").write_text("high\n")
    with pytest.raises(RecordError, match="2016/headlines, line 1='high' is not a finite number"):
        sts(tasks)
    (tasks / "sts2016-test" / "STS.input.headlines.txt").write_text("alone\n")
    with pytest.raises(RecordError, match=r"headlines\.txt:1: one sentence"):
        sts(tasks)
    (tasks / "2012-train").mkdir()
    (tasks / "2012-train" / "STS.input.OnWN.txt").write_text("a\tb\n")
    with pytest.raises(RecordError, match="are both 2012/OnWN"):
        sts(tasks)
    (tasks / "2012-none").mkdir()
    with pytest.raises(RecordError, match=r"no file STS\.input"):
        sts(tasks / "2012-none")


def test_a_folder_must_name_the_year(tmp_path):
    folder = tmp_path / "some"
    folder.mkdir()
    (folder / "STS.input.x.txt").write_text("a\tb\n")
    with pytest.raises(RecordError, match="no year from 2012 to 2016"):
        sts(folder)
