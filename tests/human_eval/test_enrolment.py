"""What judges agree to and tell about themselves: reading it, and what is missing from a form."""

import pytest

from human_eval.enrolment import is_screened_out, problem, read_consent, read_questions
from human_eval.study import AboutJudge, Enrolment, Interface, StudyError

ASKED = Enrolment(
    "You may stop at any time.",
    (
        AboutJudge("english", "Is English your first language?", ("yes", "no"), ("no",)),
        AboutJudge("age", "How old are you?"),
    ),
)
GOOD = {"english": "yes", "age": "30"}


def test_lines_of_a_text_from_windows_end_as_others_do(tmp_path):
    path = tmp_path / "consent.txt"
    path.write_bytes(b"One.\r\n\r\nTwo.\r\n")
    assert read_consent(path) == "One.\n\nTwo."


def test_questions_are_read_with_their_choices(tmp_path):
    path = tmp_path / "about.yaml"
    path.write_text(
        "- {id: english, question: 'Is English your first language?', choices: ['yes', 'no'], screen_out: ['no']}\n"
        "- {id: age, question: ' How old are you? ', choices: }\n"
    )
    assert read_questions(path) == ASKED.questions


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("- {id: a, question: x, choices: [yes]}", "choices: 1 must be text, not true; quote it"),
        ("- {id: a, question: x, choices: ['', b]}", "a choice is empty"),
        ("- {id: a, question: x, choices: [{2020-01-01: b}]}", "question 1: not an object as JSON has them"),
        ('- {id: a, question: "\\uD800"}', "neither YAML nor JSON .*surrogate"),
        ("- &a {id: a, question: x, choices: [*a]}", "neither YAML nor JSON .*within itself"),
        ("- {id: a, question: x, choices: [b], screen_out: [c]}", "none of the choices"),
    ],
)
def test_other_questions_are_refused(tmp_path, content, told):
    (tmp_path / "about.yaml").write_text(content)
    with pytest.raises(StudyError, match=told):
        read_questions(tmp_path / "about.yaml")


def test_a_consent_is_a_text(tmp_path):
    path = tmp_path / "consent.txt"
    with pytest.raises(StudyError, match="cannot be read"):
        read_consent(path)
    path.write_text(" \n")
    with pytest.raises(StudyError, match="is empty"):
        read_consent(path)
    path.write_text("You may stop.\n")
    assert read_consent(path) == "You may stop."


@pytest.mark.parametrize(
    ("agreed", "change", "told"),
    [
        (False, {}, "tick that you agree"),
        (True, {"english": ""}, "Is English"),
        (True, {"english": "maybe"}, "Is English"),
        (True, {"age": ""}, "How old"),
        (True, {"age": "x" * 201}, "shorten the answer to 200"),
    ],
)
def test_what_is_missing_is_named(agreed, change, told):
    assert told in problem(ASKED, agreed, {**GOOD, **change}, Interface())


def test_a_complete_form_has_no_problem_and_some_answers_end_it():
    assert problem(ASKED, True, GOOD, Interface()) == ""
    assert problem(Enrolment(), False, {}, Interface()) == ""
    assert [is_screened_out(ASKED, {**GOOD, "english": answer}) for answer in ("yes", "no")] == [False, True]
