import gzip
import json
import math

import pytest

from rlsum.judgments.records import Judgment, read_jsonl
from rlsum.judgments.sources import read_judgments
from rlsum.records import RecordError

ROW = {
    "id": "7",
    "system": "ours",
    "candidate": "ein Text",
    "references": ["a text", "one text"],
    "source": "tekst",
    "group": "de-en",
    "scores": {"overall": 0.5, "grammar": None},
    "raw_scores": {"overall": [0.25, None, 0.75]},
}


def written(path, *rows):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.writelines((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    return path


@pytest.mark.parametrize("name", ["judgments.jsonl", "judgments.jsonl.gz"])
def test_every_field_is_read(tmp_path, name):
    (found,) = read_judgments([written(tmp_path / name, "\ufeff" + json.dumps(ROW), "")])
    assert found == Judgment(
        "7",
        "ours",
        "ein Text",
        ("a text", "one text"),
        "tekst",
        "de-en",
        {"overall": 0.5, "grammar": None},
        {"overall": (0.25, None, 0.75)},
    )
    assert read_jsonl(written(tmp_path / "again.jsonl", found.to_json())) == [found]


def test_four_fields_are_enough(tmp_path):
    row = {"id": 7, "system": "", "candidate": "", "references": []}
    assert read_jsonl(written(tmp_path / "j.jsonl", row)) == [Judgment("7", "", "", ())]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"scores": {"overall": "0.5"}}, r'scores.overall: "0.5" is no number; give a finite number, or null'),
        ({"scores": {"overall": True}}, "scores.overall: true is no number"),
        ({"scores": {"overall": math.nan}}, "scores.overall: NaN is no number"),
        ({"scores": {"overall": 10**400}}, "scores.overall"),
        ({"scores": [0.5]}, "scores must be an object of scores by name"),
        ({"scores": None}, "scores must be an object"),
        ({"raw_scores": {"overall": 0.5}}, r"raw_scores.overall must be a list with a score for each judge"),
        ({"raw_scores": {"overall": ["good"]}}, "raw_scores.overall: "),
        ({"references": "a text"}, "references must be text"),
        ({"references": [1]}, "references must be text"),
        ({"candidate": None, "group": 3}, "candidate, group must be text"),
        ({"id": 1.5}, "id must be text or a whole number, not 1.5"),
        ({"id": True}, "id must be text or a whole number"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(tmp_path, change, told):
    path = written(tmp_path / "j.jsonl", {**ROW, "id": "1"}, {**ROW, **change})
    with pytest.raises(RecordError, match=rf"j\.jsonl:2: .*{told}"):
        read_jsonl(path)


@pytest.mark.parametrize(
    ("line", "told"), [("{", "not JSON"), ("[1]", "not a JSON object"), ("{}", "missing id, system")]
)
def test_a_line_that_is_no_judgment(tmp_path, line, told):
    with pytest.raises(RecordError, match=rf"j\.jsonl:2: {told}"):
        read_jsonl(written(tmp_path / "j.jsonl", ROW, line))


def test_one_text_judged_twice_is_an_error_naming_both_lines(tmp_path):
    others = {**ROW, "system": "theirs"}, {**ROW, "group": "fr-en"}
    with pytest.raises(
        RecordError, match=r"j\.jsonl:4: id '7' of system 'ours' of group 'de-en' is at .*j\.jsonl:1, too"
    ):
        read_jsonl(written(tmp_path / "j.jsonl", ROW, *others, {**ROW, "candidate": "another"}))


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "j.txt").touch()
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "broken.jsonl.gz").write_bytes(gzip.compress(b"{}" * 999)[:20])
    for name, told in (
        ("j.txt", "unknown format; expected .jsonl"),
        ("empty.jsonl", "holds no judgment"),
        ("nowhere.jsonl", "cannot be read"),
        ("broken.jsonl.gz", "cannot be read"),
    ):
        with pytest.raises(RecordError, match=told):
            read_judgments([tmp_path / name])


# ---- WMT -----------------------------------------------------------------------------------------------------------

HEADER = "year\tlp\tsid\tsystem\thuman\tsource\tmt\treference\ttext_origin"
SEGMENT = '2017\tcs-en\t33\tonline-A.0\t-0.5\tzdroj\ta "quoted text\tone text\tverbatim'


@pytest.mark.parametrize("name", ["wmt.tsv", "wmt.tsv.gz"])
def test_wmt_segments(tmp_path, name):
    path = written(tmp_path / name, HEADER, SEGMENT, SEGMENT.replace("online-A.0", "uedin"))
    first, second = read_judgments([path])
    assert first == Judgment(
        "2017.33", "online-A.0", 'a "quoted text', ("one text",), "zdroj", "cs-en", {"overall": -0.5}
    )
    assert (second.system, second.id) == ("uedin", first.id)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([HEADER.replace("human", "score"), SEGMENT], "wmt.tsv:1: no column human"),
        ([HEADER, SEGMENT, SEGMENT + "\tmore"], "wmt.tsv:3: 10 columns, but the header has 9"),
        ([HEADER, SEGMENT.replace("-0.5", "nan")], "wmt.tsv:2: human is 'nan', not a finite number"),
        ([HEADER, SEGMENT, SEGMENT], "wmt.tsv:3: id '2017.33' of system 'online-A.0' of group 'cs-en' is at .*:2, too"),
        ([], "wmt.tsv:1: no column year"),
    ],
)
def test_wmt_files_that_are_wrong(tmp_path, lines, told):
    with pytest.raises(RecordError, match=told):
        read_judgments([written(tmp_path / "wmt.tsv", *lines)])


def test_the_real_files_of_wmt(shared):
    counts = {
        year: len(read_judgments([shared / "data" / "human" / "wmt_da" / f"wmt{year}_da_seg.tsv.gz"]))
        for year in (15, 16, 17)
    }
    assert counts == {15: 2000, 16: 3920, 17: 3920}
