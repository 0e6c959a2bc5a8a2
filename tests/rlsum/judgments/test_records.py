import gzip
import json
import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlsum.errors import RecordError
from rlsum.judgments.records import Judgment, write_jsonl
from rlsum.judgments.registry import load

ROW = {
    "id": "7", "system": "ours", "candidate": "ein Text", "references": ["a text", "one text"], "source": "tekst",
    "group": "de-en", "scores": {"overall": 0.5, "grammar": None}, "raw_scores": {"overall": [0.25, None, 0.75]},
    "judges": ["ann", "bo", "cy"],
}  # fmt: skip


def read_jsonl(path):
    return list(load(path).rows)


def written(path, *rows):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.writelines((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    return path


@pytest.mark.parametrize("name", ["judgments.jsonl", "judgments.jsonl.gz"])
def test_every_field_is_read(tmp_path, name):
    (found,) = read_jsonl(written(tmp_path / name, "\ufeff" + json.dumps(ROW), ""))
    texts, lists = ("7", "ours", "ein Text", ("a text", "one text"), "tekst", "de-en"), ("ann", "bo", "cy")
    assert found == Judgment(*texts, {"overall": 0.5, "grammar": None}, {"overall": (0.25, None, 0.75)}, lists)
    assert read_jsonl(written(tmp_path / "again.jsonl", found.to_json())) == [found]


def test_four_fields_are_enough(tmp_path):
    row = {"id": 7, "system": "", "candidate": "", "references": []}
    assert read_jsonl(written(tmp_path / "j.jsonl", row)) == [Judgment("7", "", "", ())]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"scores": {"overall": "0.5"}}, r'scores: overall must be a number, not "0.5"'),
        ({"scores": {"overall": True}}, "scores: overall must be a number, not true"),
        ({"scores": {"overall": -1e61}}, "a score beyond 1e\\+60"),
        ({"raw_scores": {"overall": [1e61]}}, "a score beyond 1e\\+60"),
        ({"scores": {"overall": math.nan}}, "scores: overall must be a finite number, not NaN"),
        ({"scores": {"overall": 10**400}}, "scores: overall"),
        ({"scores": [0.5]}, "scores must be an object"),
        ({"scores": None}, "scores must be an object"),
        ({"scores": {"": 0.5}}, "a score has an empty name"),
        ({"raw_scores": {"overall": 0.5}}, "raw_scores: overall must be a list, not 0.5"),
        ({"raw_scores": {"overall": ["good"]}}, 'raw_scores: overall: 1 must be a number, not "good"'),
        ({"raw_scores": {"overall": [1, 2]}}, "raw_scores.overall: 2 scores of 3 judges"),
        ({"marks": [[[0, 1]]]}, "marks of 1 judges, and 3 names"),
        ({"marks": [[[0, 10**6]], [], []]}, "marks: 0 to 1000000 is no part of a text"),
        ({"references": {"a": "text"}}, "references: not text"),
        ({"references": [1]}, "references: not text"),
        ({"candidate": None}, "candidate must be text, not None"),
        ({"group": 3}, "group must be text"),
        ({"judges": [None]}, "judges: 1 must be text"),
        ({"id": ""}, "id is empty"),
        ({"score": 1}, "unknown field 'score'; did you mean 'scores'"),
        ({"columns": {"topic": 3}}, "unknown field 'columns'"),
        ({"id": 1.5}, "id must be text, not 1.5"),
        ({"id": True}, "id must be text"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(tmp_path, change, told):
    path = written(tmp_path / "j.jsonl", {**ROW, "id": "1"}, {**ROW, **change})
    with pytest.raises(RecordError, match=rf"j\.jsonl:2: .*{told}"):
        read_jsonl(path)


@pytest.mark.parametrize(("line", "told"), [("{", "not JSON"), ("[1]", "not a JSON object"), ("{}", "no 'id'")])
def test_a_line_that_is_no_judgment(tmp_path, line, told):
    with pytest.raises(RecordError, match=rf"j\.jsonl:2: {told}"):
        read_jsonl(written(tmp_path / "j.jsonl", ROW, line))


def test_one_text_judged_twice_is_an_error_naming_both_lines(tmp_path):
    others = {**ROW, "system": "theirs"}, {**ROW, "group": "fr-en"}
    told = r"j\.jsonl:4: id '7' of system 'ours' in group 'de-en' is also at .*j\.jsonl:1, .*another candidate"
    with pytest.raises(RecordError, match=told):
        read_jsonl(written(tmp_path / "j.jsonl", ROW, *others, {**ROW, "candidate": "another"}))


texts = st.text('a"\n\t\u2028\ufeff\U0001f600', max_size=4)
names = texts.filter(bool)
numbers = st.sampled_from([None, 0.0, -1.5, 1e60, 1 / 3])


@st.composite
def judgments(draw):
    judges = draw(st.lists(texts, max_size=2).map(tuple))
    count = len(judges) or draw(st.integers(0, 2))
    given = st.lists(numbers, min_size=count, max_size=count).map(tuple)
    references = draw(st.lists(texts.filter(str.strip), max_size=2).map(tuple))
    scores, raw = draw(st.dictionaries(names, numbers, max_size=2)), draw(st.dictionaries(names, given, max_size=2))
    return Judgment(draw(names), draw(texts), draw(texts), references, draw(texts), draw(texts), scores, raw, judges)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(judgments(), st.sampled_from(["j.jsonl", "j.jsonl.gz"]))
def test_what_is_written_is_read_again(tmp_path_factory, judgment, name):
    found = [judgment, replace(judgment, system=judgment.system + "2")]
    path = tmp_path_factory.mktemp("round") / "new" / name
    assert write_jsonl(path, found) == 2
    assert read_jsonl(path) == found
    first = path.read_bytes()
    write_jsonl(path, found)
    assert path.read_bytes() == first
    assert [each.name for each in path.parent.iterdir()] == [name]
