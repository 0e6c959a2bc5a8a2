import csv

import pytest
from rows import jsonl

from rlsum.errors import RecordError
from rlsum.judgments.public.huse import huse


def line(kind="SUM", context="c one", output="o", judgments=(6, 1), workers=(0, 1)):
    fields = {"hit": 0, "item": 0, "type": kind, "context": context, "output": output, "logp": -1.5}
    return {**fields, "judgments": list(judgments), "workers": list(workers)}


LINES = [
    *(line(output="machine"), line(context="c two"), line("HUMAN_SUM", output="person", judgments=(5, 5))),
    *(line(output="machine again"), line("HUMAN_SUM", output="person again")),
]


def test_systems_share_a_source_and_the_human_summary_is_the_reference(tmp_path):
    found = huse(jsonl(tmp_path / "huse.jsonl", *LINES)).rows
    assert [(each.id, each.system, each.references) for each in found] == [
        ("1", "model", ("person",)),
        ("2", "model", ()),
        ("1", "human", ()),
        ("1.2", "model", ("person again",)),
        ("1.2", "human", ()),
    ]
    assert found[0].scores == {"overall": 3.5}
    assert found[0].raw_scores == {"overall": (6, 1)}
    assert found[0].judges == ("0", "1")
    assert found[0].source == "c one"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (line("STORY"), "type 'STORY' is not one of SUM"),
        (line(judgments=(0, 1)), "judgment 0 is not from 1 to 6"),
        (line(judgments=("Rare", 1)), "judgments='Rare' is not a finite number"),
        (line(workers=(1,)), "2 judgments by 1 workers"),
        ({"type": "SUM"}, "not a summary of HUSE"),
    ],
)
def test_faults_name_the_line(tmp_path, row, told):
    with pytest.raises(RecordError, match=f"huse.jsonl:2: {told}"):
        huse(jsonl(tmp_path / "huse.jsonl", line(), row))


def test_the_assignments_as_they_came_from_the_workers(tmp_path):
    path = tmp_path / "raw.csv"
    parts = [f"Input.{part}{number}" for number in range(25) for part in ("CTX", "OUT")]
    header = ["HITId", "WorkerId", "Input.TYPE0", *parts, *(f"Answer.{number}" for number in range(25)), "Approve"]

    def row(hit, worker, kind, answer):
        texts = [text for number in range(25) for text in (f"source {number}", f'{kind} says, "{number}"')]
        return [hit, worker, kind, *texts, *[answer] * 25]

    rows = [
        row("h1", "w1", "SUM", "Invalid"),
        row("h1", "w2", "SUM", "Very Typical"),
        row("h2", "w3", "HUMAN_SUM", "Rare"),
    ]
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    found = huse(path).rows
    assert len(found) == 50
    assert (found[3].id, found[3].system, found[3].judges) == ("4", "model", ("w1", "w2"))
    assert found[3].raw_scores == {"overall": (1, 6)}
    assert found[3].references == ('HUMAN_SUM says, "3"',)
    assert (found[28].id, found[28].system, found[28].scores) == ("4", "human", {"overall": 2})
    path.write_text(path.read_text().replace("Rare", "Odd"))
    with pytest.raises(RecordError, match=r"raw\.csv:4: Answer\.0='Odd' is not one of Invalid"):
        huse(path)


def test_the_file_without_texts_is_refused(tmp_path):
    (tmp_path / "summary_clean.csv").write_text("HumanJudgement, ModelProbability\n4.25,-32\n")
    with pytest.raises(RecordError, match="not JSON"):
        huse(tmp_path / "summary_clean.csv")
