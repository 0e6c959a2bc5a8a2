import io
import json
import tarfile

import pytest
from rows import jsonl, tsv

from rlsum.errors import RecordError
from rlsum.judgments.public.chaganty import chaganty2018

SCORES = ["overall", "grammar", "redundancy"]
COLUMNS = ["id", "system", "n_judges", *SCORES, "hter", *(f"{name}_raw" for name in SCORES), "reference", "text"]


def row(name, system, overall="[1, 0]", text='A "text.', hter="0.25"):
    mean = str(sum(json.loads(overall)) / len(json.loads(overall))) if json.loads(overall) else ""
    said = [mean, mean, mean, hter, overall, overall, overall]
    return [name, system, str(len(json.loads(overall))), *said, "The reference.", text]


ROWS = [
    *(row("1", "ml"), row("1", "reference", text="The reference."), row("2", "ml", "[]", hter="")),
    *(row("3", "ml;ml+rl", "[-1, -1]"), row("3", "seq2seq", "[0, 0, 0, 1, 1]"), row("3", "seq2seq", "[1, 1]")),
]


def test_a_table(tmp_path):
    found = chaganty2018(tsv(tmp_path / "lqual.tsv", COLUMNS, *ROWS))
    assert [(each.id, each.system) for each in found.rows] == [
        ("1", "ml"), ("3", "ml;ml+rl"), ("3", "seq2seq"), ("3", "seq2seq (2)")
    ]  # fmt: skip
    first = found.rows[0]
    assert (first.candidate, first.references, first.source) == ('A "text.', ("The reference.",), "")
    assert first.scores == {"overall": 0.5, "grammar": 0.5, "redundancy": 0.5, "negated_hter": -0.25}
    assert first.raw_scores["overall"] == (1, 0)
    assert sorted(found.left_out.values()) == [1, 1]
    assert found.scales["overall"] == (-1, 1)
    assert any("(2)" in note for note in found.notes)


def test_reference_rows_and_joint_texts_by_option(tmp_path):
    path = tsv(tmp_path / "lqual.tsv", COLUMNS, *ROWS)
    assert len(chaganty2018(path, reference_rows=True).rows) == 5
    split = chaganty2018(path, joint="split")
    assert [each.system for each in split.rows if each.id == "3"] == ["ml", "ml+rl", "seq2seq", "seq2seq (2)"]


def test_faults_name_the_line(tmp_path):
    for change, told in (
        (("hter", "much"), "lqual.tsv:3: hter='much' is not a finite number"),
        (("overall_raw", "1, 0"), "lqual.tsv:3: overall_raw='1, 0' is not a JSON list"),
        (("overall_raw", '["x"]'), "lqual.tsv:3: overall_raw='x' is not a finite"),
        (("text", "one\ttwo"), "lqual.tsv:3: 13 cells for 12 columns"),
    ):
        wrong = dict(zip(COLUMNS, row("9", "ml"), strict=True)) | dict([change])
        with pytest.raises(RecordError, match=told.replace("[", r"\[")):
            chaganty2018(tsv(tmp_path / "lqual.tsv", COLUMNS, ROWS[0], list(wrong.values())))
    (tmp_path / "other.tsv").write_text("id\tsystem\n")
    with pytest.raises(RecordError, match="no column hter, reference"):
        chaganty2018(tmp_path / "other.tsv")


@pytest.fixture
def bundles(tmp_path):
    """The authors' layout: judgments, texts in an archive, articles."""
    texts = (("ml;ml+rl", "A text."), ("reference", "The reference."))
    lines = ({"input": {"contents": {"id": "1", "system": system, "text": text}}} for system, text in texts)
    content = "\n".join(map(json.dumps, lines)).encode()
    with tarfile.open(tmp_path / "data.tar.gz", "w:gz") as bundle:
        about = tarfile.TarInfo("./lqual.jsonl")
        about.size = len(content)
        bundle.addfile(about, io.BytesIO(content))
    said = {name: {"human": [1, 0, -1, 1], "gold": 0.25} for name in ("overall", "grammar", "redundancy")}
    said["hter"] = {"human": [0.0, 0.5]}
    judged = [{"id": "1", "system": system, "prompts": said} for system in ("ml;ml+rl", "reference")]
    jsonl(tmp_path / "lqual.jsonl", *judged)
    jsonl(tmp_path / "articles.jsonl", {"id": "1", "text": "The article."})
    return tmp_path


def test_the_authors_bundles(bundles):
    (found,) = chaganty2018(bundles).rows
    assert (found.candidate, found.references, found.source) == ("A text.", ("The reference.",), "The article.")
    assert found.scores == {"overall": 0.25, "grammar": 0.25, "redundancy": 0.25, "negated_hter": -0.25}
    assert found.raw_scores["grammar"] == (1, 0, -1, 1)


def test_bundles_that_do_not_fit(bundles):
    (bundles / "lqual.jsonl").write_text('{"id": "2", "system": "ml", "prompts": {}}')
    with pytest.raises(RecordError, match=r"lqual.jsonl:1: not a judgment .*KeyError: 'overall'"):
        chaganty2018(bundles)
    (bundles / "data.tar.gz").write_bytes(b"no archive")
    with pytest.raises(RecordError, match=r"data\.tar\.gz: no texts"):
        chaganty2018(bundles)
