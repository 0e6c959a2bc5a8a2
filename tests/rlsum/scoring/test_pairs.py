from __future__ import annotations

import gzip
import json

import pytest
from rows import lines

from rlsum.errors import RecordError
from rlsum.scoring.pairs import Records, TextFiles, texts_of


def test_text_files_become_output_records(tmp_path):
    candidates = lines(tmp_path / "c.txt", "one", "", "three\u2028still three\r")
    references = lines(tmp_path / "r.txt", "a", "b", "c"), lines(tmp_path / "r2.txt", "d", "", "f")
    pairs = TextFiles(candidates, references)
    assert pairs.check().rows == 3
    first, second, third = pairs
    assert first == {"id": "1", "source": "", "references": ["a", "d"], "candidate": "one", "system": "c.txt"}
    assert (second["candidate"], second["references"]) == ("", ["b"])
    assert third["candidate"] == "three\u2028still three"


def test_records_keep_what_they_hold(tmp_path):
    rows = [
        {"candidate": "a", "reference": "b", "mine": [1]},
        {"candidate": "c", "references": [], "source": "s", "scores": {"x": 1}},
    ]
    path = lines(tmp_path / "p.jsonl", *map(json.dumps, rows), "")
    assert [*Records(path)] == rows
    assert Records(path).check().rows == 2
    assert [texts_of(row) for row in rows] == [("a", ["b"], ""), ("c", [], "s")]


def test_references_in_several_fields_become_one(tmp_path):
    path = lines(
        tmp_path / "p.jsonl", '{"candidate": "a", "reference": "b", "reference2": null, "reference3": "c", "x": 1}'
    )
    assert [*Records(path)] == [{"candidate": "a", "references": ["b", "c"], "x": 1}]


def test_gzip_is_read_and_identity_is_that_of_the_content(tmp_path):
    plain = lines(tmp_path / "p.jsonl", '{"candidate": "a", "reference": "b"}')
    zipped = tmp_path / "p.jsonl.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    assert [*Records(zipped)] == [*Records(plain)]
    assert Records(zipped).check() == Records(plain).check()
    other = lines(tmp_path / "q.jsonl", '{"candidate": "a", "reference": "c"}')
    assert Records(other).check() != Records(plain).check()


def test_a_line_that_moves_from_one_file_to_the_next_is_another_input(tmp_path):
    first = TextFiles(lines(tmp_path / "c", "a"), (lines(tmp_path / "r", "b"), lines(tmp_path / "s", "c")))
    second = TextFiles(lines(tmp_path / "d", "a"), (lines(tmp_path / "t", "bc"), lines(tmp_path / "u", "")))
    assert first.check() != second.check()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "p.jsonl:2: not JSON"),
        ("[]", "p.jsonl:2: not a JSON object"),
        ('{"candidate": "a"}', "p.jsonl:2: missing references; a record needs candidate and references"),
        ('{"candidate": 3, "reference": "b"}', "must be text"),
        ('{"candidate": "a", "references": {}}', "references: not text"),
        ('{"candidate": "a", "references": [3]}', "references: not text"),
        ('{"candidate": "a", "reference": ["b", "c"]}', "p.jsonl:2: reference: a list of 2 texts, .*--reference-lists"),
        ('{"candidate": "a", "reference": "b", "scores": 3}', "scores"),
        ('{"candidate": "a", "reference": "b", "scores": {"x": NaN}}', "in 'scores' is NaN .*not JSON; write null"),
    ],
)
def test_a_row_that_cannot_be_scored_is_named(tmp_path, line, words):
    path = lines(tmp_path / "p.jsonl", '{"candidate": "a", "reference": "b"}', line)
    with pytest.raises(RecordError, match=words):
        Records(path).check()
