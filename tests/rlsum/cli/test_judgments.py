import json

import pytest
from commands import cells, invoked
from rows import jsonl

from rlsum.errors import UserError
from rlsum.judgments.registry import load

TRAIN = "Id\tEssaySet\tScore1\tScore2\tEssayText\n1\t3\t2\t2\tLong.\n2\t3\t1\t1\tShort.\n3\t3\t1\t2\tx\n4\t1\t1\t1\ty\n"


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text(TRAIN)
    return path


def run(*arguments):
    return invoked("data", "judgments", *arguments).output


def test_public_data_becomes_records_and_what_is_in_it_is_told(answers, tmp_path):
    out = tmp_path / "new" / "answers.jsonl.gz"
    told = run("asap-sas(sets=3)", answers, "-o", out)
    assert cells(told, "judgments")[1] == "3"
    assert cells(told, "systems")[1:] == ["1", "students 3"]
    assert cells(told, "left out")[1:] == ["1", "of other sets than 3"]
    assert cells(told, "overall")[1:] == ["3", "0", "0.500", "1.000", "0.667", "0 to 1", "33.3%", "2"]
    assert "- references: none" in told
    assert [each.id for each in load(out).rows] == ["1", "2", "3"]
    assert cells(run(out), "overall")[1:] == ["3", "0", "0.500", "1.000", "0.667", "-", "33.3%", "2"]
    with pytest.raises(UserError, match="exists; add --overwrite"):
        run(out, "-o", out)


def test_the_summary_as_json(answers):
    found = json.loads(run(f"asap-sas:{answers}", "--json"))
    assert (found["rows"], found["inputs"], found["groups"]) == (4, 4, {"3": 3, "1": 1})
    assert found["references"] == {"0": 4}
    overall = next(score for score in found["scores"] if score["name"] == "overall")
    assert overall["judges"] == {"2": 4}
    assert overall["ties"] == pytest.approx(1 / 6)


def test_missing_scores_and_brackets_in_names_are_shown(tmp_path):
    row = {"system": "[red]s", "candidate": "c", "references": []}
    rows = [{**row, "id": "1", "scores": {"[b]": None}}, {**row, "id": "2", "raw_scores": {"other": [1, None]}}]
    told = run(jsonl(tmp_path / "j.jsonl", *rows))
    assert cells(told, "systems")[2] == "[red]s 2"
    assert cells(told, "[b]")[1:] == ["0", "2", "-", "-", "-", "-", "-", "0"]
    assert cells(told, "other")[-1] == "0 (1), 1 (1)"


def long_form(path):
    lines = ["nr,model,text,gold,WorkerId,Answer.flow,errors"]
    rated = {"ann": (1, 2, 5), "bo": (2, 4, 3), "cy": (3, 3, 4)}
    lines += [f"{n},s,cat {n},cat,{judge},{scores[n]},{scores[n]}" for n in range(3) for judge, scores in rated.items()]
    path.write_text("\n".join(lines))
    return path


OPTIONS = ("--id-column", "nr", "--system-column", "model", "--candidate", "text", "--reference", "gold")


def test_a_spreadsheet_of_a_row_a_judge_by_the_names_of_its_columns(tmp_path):
    out = tmp_path / "j.jsonl"
    told = run(long_form(tmp_path / "j.csv"), *OPTIONS, "--score", "Answer.flow", "-o", out)
    assert cells(told, "judgments")[1] == "3"
    assert cells(told, "flow")[1:] == ["3", "0", "2.000", "4.000", "3.000", "-", "0.0%", "3"]
    assert "9 rows by 3 judges, 3 texts with 3 each" in " ".join(told.split())
    assert [row.judges for row in load(out).rows] == [("ann", "bo", "cy")] * 3


def test_a_sign_changes_with_the_name(tmp_path):
    out = tmp_path / "j.jsonl"
    path = long_form(tmp_path / "j.csv")
    assert "--lower-is-better errors" in run(path, *OPTIONS)
    told = run(path, *OPTIONS, "--lower-is-better", "errors", "-o", out)
    assert cells(told, "negated_errors")[3:5] == ["-4.000", "-2.000"]
    assert load(out).rows[0].scores == {"Answer.flow": 2, "negated_errors": -2}
    assert "lower-is-better" not in run(out)
    with pytest.raises(UserError, match="--lower-is-better errors: no row"):
        run(out, "--lower-is-better", "errors")


def test_none_and_blank_names_are_shown(tmp_path):
    row = {"id": "1", "system": " ", "candidate": "c", "references": [], "scores": {" ": 1}}
    told = run(jsonl(tmp_path / "j.jsonl", row))
    assert cells(told, "references each")[1:] == ["0"]
    assert "groups" not in told
    assert cells(told, "1 ")[:2] == ["1", "0"]  # given, missing
