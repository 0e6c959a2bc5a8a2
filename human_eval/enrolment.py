"""What people agree to and tell about themselves before they judge, and who is not asked to go on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from human_eval.parsing import read_list, read_text
from human_eval.study import AboutJudge, Enrolment, Interface, StudyError

ANSWER_LIMIT = 200  # characters of an answer in free text


def read_consent(path: Path) -> str:
    """The text that judges agree to. Raises StudyError."""
    text = read_text("--consent", path)
    if not text:
        raise StudyError(f"--consent {path}: is empty; write what judges agree to")
    return text


def read_questions(path: Path) -> tuple[AboutJudge, ...]:
    """Read a YAML or JSON list of {id, question, choices, screen_out}; the last two are optional. Raises StudyError."""
    questions = read_list(AboutJudge, "--about", path, "question")
    for question in questions:
        if not all(choice.strip() for choice in question.choices):
            raise StudyError(f"--about {path}: {question.id}: a choice is empty")
        if strange := [answer for answer in question.screen_out if answer not in question.choices]:
            raise StudyError(
                f"--about {path}: {question.id}: screen_out has {strange[0]!r}, which is none of the choices"
            )
    return questions


def problem(enrolment: Enrolment, agreed: bool, answers: Mapping[str, str], words: Interface) -> str:
    """What is missing from a judge's form, in words for the judge; "" if nothing is."""
    if enrolment.consent and not agreed:
        return words("To take part, please read this information and tick that you agree.")
    for question in enrolment.questions:
        answer = answers.get(question.id, "")
        if not answer or len(answer) > ANSWER_LIMIT or (question.choices and answer not in question.choices):
            asked = words("Please answer this question or shorten the answer to {n} characters:", n=ANSWER_LIMIT)
            return f"{asked} {question.question}"
    return ""


def is_screened_out(enrolment: Enrolment, answers: Mapping[str, str]) -> bool:
    """Whether an answer belongs to people whom the study does not ask."""
    return any(answers.get(question.id) in question.screen_out for question in enrolment.questions)
