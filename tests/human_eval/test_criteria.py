import json

import pytest

from human_eval.criteria import DEFAULT, read_criteria
from human_eval.study import Criterion, StudyError


def test_the_defaults_are_those_of_the_paper():
    assert [criterion.id for criterion in DEFAULT] == ["non-redundancy", "coherence", "focus", "overall"]
    assert all(criterion.question.endswith("?") and criterion.help for criterion in DEFAULT)


@pytest.mark.parametrize("write", [json.dumps, lambda rows: "- id: faithful\n  question: 'Which is true? '\n"])
def test_criteria_from_yaml_or_json(tmp_path, write):
    path = tmp_path / "criteria.yaml"
    path.write_text(write([{"id": "faithful", "question": "Which is true?"}]))
    assert read_criteria(path) == (Criterion("faithful", "Which is true?"),)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a list"),
        ("[]", "expected a list"),
        ("id: x", "expected a list"),
        ("[: {", "neither YAML nor JSON"),
        ("- x", "criterion 1: not an object"),
        ("- {id: x}", "criterion 1: no 'question'"),
        ("- {id: 3, question: q}", "criterion 1: id must be text, not 3; quote it"),
        ("- {id: x, question: ' '}", "criterion 1: question is empty"),
        ("- {id: x, question: q, answers: maybe}", "x: unknown answers 'maybe'"),
        ("- {id: x, question: q, helps: h}", "unknown field 'helps'"),
        ("- {id: x, question: q, help: 3}", "help must be text"),
        ("- {id: Über Alles, question: q}", "invalid id 'Über Alles'"),
        ("- {id: comment, question: q}", "invalid id 'comment'"),
        ("- {id: x, question: q}\n- {id: x, question: r}", "duplicate id x"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path, text, told):
    path = tmp_path / "criteria.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=told):
        read_criteria(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(StudyError, match=r"none\.yaml: cannot be read"):
        read_criteria(tmp_path / "none.yaml")
