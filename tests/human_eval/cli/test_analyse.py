"""`rlsum human-eval plan` and `analyse`, from files to files."""

import json
import random

import headed
import pytest
from studies import NAMES, outputs

from human_eval.collection.responses import Response, write_responses
from human_eval.files import read_key, read_study
from rlsum.judgments.registry import load
from rlsum.records import Output, write_outputs


@pytest.fixture
def study(rlsum, tmp_path):
    """A study of 30 items, and judgments: the second system is better, and one judge only clicks on the left."""
    for name in NAMES[:2]:
        rows = [row for row in outputs(40, 2) if row.system == name]
        write_outputs(tmp_path / f"{name}.jsonl", rows)
        scored = [Output(**{**vars(row), "scores": {"m": int(row.id[8:]) / 40}}) for row in rows]
        write_outputs(tmp_path / f"{name}.scored.jsonl", scored)
    files = [tmp_path / f"{name}.jsonl" for name in NAMES[:2]]
    options = ["-o", tmp_path / "study", "--items", 30, "--judges", 3, "--booklet", 10, "--seed", 1]
    assert rlsum("human-eval", "build", *files, *options)[0] == 0
    return tmp_path / "study"


@pytest.fixture
def judgments(study, tmp_path):
    made, key, rng = read_study(study), read_key(study), random.Random(0)

    def answer(secret, booklet):
        if booklet == 0:
            return "left"
        if secret.kind in ("identical", "shuffled"):
            return secret.expected
        better = "left" if secret.left == key.systems[1] else "right"
        return better if secret.kind == "swapped" or rng.random() < 0.85 else "none"

    rows = [
        Response(made.id, task.id, f"judge{number}", {criterion.id: said for criterion in made.criteria}, seconds=20.0)
        for number, booklet in enumerate(made.booklets)
        for task in booklet
        for said in [answer(key.tasks[task.id], number)]
    ]
    write_responses(tmp_path / "judgments.jsonl", rows)
    return tmp_path / "judgments.jsonl"


def test_a_verdict_has_the_votes_that_a_reward_learns_from(ran, study, judgments, tmp_path):
    """The command that `analyse` prints; the votes are those of the judges who count, by the texts of the outputs."""
    out = ran("human-eval", "analyse", study, judgments, "--resamples", 300, "-o", tmp_path / "verdict")
    assert f"rlsum fit-metric {tmp_path / 'verdict'} --score overall --metric 'reward-model(model=minilm)' -o" in out
    rows = load(tmp_path / "verdict").rows
    texts = {(row.id, row.system): (row.source, row.candidate) for row in outputs(40, 2)}
    assert {judge for row in rows for judge in row.judges} == {f"judge{number}" for number in range(1, 9)}
    for row in rows:
        assert (row.source, row.candidate) == texts[row.id.partition("/")[0], row.system]
    wins = [score for row in rows if row.system == NAMES[1] for score in row.raw_scores["overall"]]
    assert set(wins) == {0.5, 1.0}
    metric = f"reward-model(model={headed.causal(tmp_path / 'llama')})"
    fit = ("fit-metric", tmp_path / "verdict", "--score", "overall", "--metric", metric, "--epochs", 1)
    assert f"learned(path={tmp_path / 'learned'})" in ran(*fit, "-o", tmp_path / "learned")


def test_from_judgments_to_a_verdict(rlsum, ran, study, judgments, tmp_path):
    (study / "key.json").rename(tmp_path / "key.json")
    assert rlsum("human-eval", "plan", "-o", tmp_path / "plan", "--draws", 200, "--preference", 0.7)[0] == 0
    given = ["--key", tmp_path / "key.json", "--plan", tmp_path / "plan" / "plan.json", "--resamples", 300]
    scores = [part for name in NAMES[:2] for part in ("--scores", tmp_path / f"{name}.scored.jsonl")]
    out = ran("human-eval", "analyse", study, judgments, *given, *scores, "-o", tmp_path / "verdict")
    assert "primary criterion, overall: sms_model is preferred to rouge_model" in out
    assert "judge0 is left out" in out
    assert "No summary that judges read names a system." in out
    data = json.loads((tmp_path / "verdict" / "results.json").read_text())
    assert [row["judge"] for row in data["excluded"]] == ["judge0"]
    assert {row["preferred"] for row in data["preferences"]} == {"sms_model"}
    assert data["control_variates"][0]["judged"] + data["control_variates"][0]["others"] == 40
    pilot = ["--pilot", tmp_path / "verdict" / "results.json", "--draws", 200, "--judges", 2]
    out = ran("human-eval", "plan", *pilot, "-o", tmp_path / "next", "--preference", 0.75)
    assert "ties and correlation of " in out
    assert "2 judges each" in out
    assert "[names]" in (tmp_path / "next" / "preregistration.md").read_text()
    assert {path.name for path in (tmp_path / "next").iterdir()} == {"plan.json", "preregistration.md", "power.png"}


def test_the_verdict_stands_in_the_way_of_another(rlsum, refused, study, judgments, tmp_path):
    command = ("human-eval", "analyse", study, judgments, "-o", tmp_path / "verdict", "--resamples", 100)
    assert rlsum(*command)[0] == 0
    assert "exists; add --overwrite" in refused(*command)
    assert rlsum(*command, "--overwrite")[0] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--primary", "style"), "primary criterion 'style'"),
        (("--plan", "none.json"), "none.json: cannot be read"),
        (("--plan", "none.json", "--primary", "overall"), "--primary: the plan sets this"),
        (("--max-failed", "2"), "--max-failed 2: must be less than or equal to 1"),
        (("--alpha", "0"), "--alpha 0.0: expected a number between 0 and 1"),
        (("--max-failed", "nan"), "--max-failed nan: must be"),
        (("--plan", "none.json", "--min-seconds", "0"), "--min-seconds: the plan sets this"),
        (("--key", "none.json"), "none.json: cannot be read"),
        (("--scores", "none.jsonl"), "none.jsonl"),
    ],
)
def test_wrong_options_are_one_line(refused, study, judgments, tmp_path, options, said):
    error = refused("human-eval", "analyse", study, judgments, "-o", tmp_path / "verdict", *options)
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "verdict" / "verdict.html").exists()


def test_no_judgments(refused, study, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    error = refused("human-eval", "analyse", study, tmp_path / "empty.jsonl", "-o", tmp_path / "verdict")
    assert "no judgments" in error


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--primary", "style"), "--primary style: not one of --criteria"),
        (("--ties", "0.2", "--pilot", "results.json"), "--pilot already gives them"),
        (("--max-failed", "7"), "--max-failed 7: must be less than or equal to 1"),
        (("--min-seconds", "-1"), "--min-seconds -1: must be greater than or equal to 0"),
        (("--preference", "0.4"), "--preference 0.4: must be greater than or equal to 0.5"),
    ],
)
def test_a_plan_that_makes_no_sense_is_one_line(refused, tmp_path, options, said):
    assert said in refused("human-eval", "plan", "-o", tmp_path / "plan", "--draws", 100, *options)


def test_a_table_of_assumptions(rlsum, refused, ran, tmp_path):
    table = tmp_path / "scenarios.csv"
    table.write_text("scenario,preference,ties,judges\nexpected,.7,.1,2\nhard,.52,,\n")
    given = ["--assumptions", table, "--draws", 200, "--correlation", 0.1]
    out = ran("human-eval", "plan", "-o", tmp_path / "plan", *given)
    assert "(expected, the first of the scenarios)" in out
    assert "> 500" in out
    plan = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert plan["design"]["judges"] == 2
    assert [each["scenario"]["assumptions"]["correlation"] for each in plan["outlooks"]] == [0.1, 0.1]
    assert "| hard | 52% | 0% | 0.10 | 0.10 | 3 |" in (tmp_path / "plan" / "preregistration.md").read_text()
    plain = rlsum("human-eval", "plan", "-o", tmp_path / "plain", "--draws", 200, "--preference", 0.7)
    assert plain[0] == 0
    assert "Scenarios" not in plain[1]
    table.write_text("preference\n.4\n")
    assert "csv:2: preference '.4'" in refused("human-eval", "plan", "-o", tmp_path / "other", *given)
    assert not (tmp_path / "other" / "plan.json").exists()
