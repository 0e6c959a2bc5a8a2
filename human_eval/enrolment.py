"""What people agree to and tell about themselves before they judge, and who is not asked to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from human_eval.criteria import ID
from human_eval.files import checked
from human_eval.study import AboutJudge, Enrolment, Interface, StudyError

ANSWER_LIMIT = 200  # characters of an answer in free text


def read_consent(path: Path) -> str:
    """The text that judges agree to. Raises StudyError."""
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", error)
        raise StudyError(f"--consent {path}: cannot be read ({reason}); give a text file") from error
    if not text:
        raise StudyError(f"--consent {path}: is empty; write what judges agree to")
    return text


def read_questions(path: Path) -> tuple[AboutJudge, ...]:
    """Read a YAML or JSON list of {id, question, choices, screen_out}; the last two are optional. Raises StudyError."""
    import yaml

    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(f"--about {path}: cannot be read ({error.strerror}); give a YAML or JSON file") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise StudyError(f"--about {path}: neither YAML nor JSON ({' '.join(str(error).split())[:200]})") from error
    if not isinstance(rows, list) or not rows:
        raise StudyError(f"--about {path}: expected a list of questions, each with id, question and possibly choices")
    questions = tuple(question_of(row, f"--about {path}: question {number}") for number, row in enumerate(rows, 1))
    names = [question.id for question in questions]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise StudyError(f"--about {path}: duplicate id {', '.join(twice)}; give each question a different id")
    return questions


def question_of(row: object, where: str) -> AboutJudge:
    """A question about the judge from an object. Raises StudyError beginning with ``where``."""
    known = [field.name for field in fields(AboutJudge)]
    row = checked(row, {"id": str, "question": str}, where)
    unknown = [str(name) for name in row if name not in known]
    if unknown:
        raise StudyError(f"{where}: unknown field {unknown[0]!r}; a question has {', '.join(known)}")
    choices, screen_out = (row.get(name) or [] for name in ("choices", "screen_out"))
    for name, values in (("choices", choices), ("screen_out", screen_out)):
        if not isinstance(values, list) or not all(isinstance(value, str) and value.strip() for value in values):
            raise StudyError(f"{where}: {name} must be a list of texts; quote yes, no and numbers")
    strange = [value for value in screen_out if value not in choices]
    if strange:
        raise StudyError(f"{where}: screen_out has {strange[0]!r}, which is none of the choices")
    if not ID.fullmatch(row["id"]):
        raise StudyError(f"{where}: invalid id {row['id'][:40]!r}; use lower-case letters, digits and hyphens")
    return AboutJudge(row["id"], row["question"].strip(), tuple(choices), tuple(screen_out))


def problem(enrolment: Enrolment, agreed: bool, answers: Mapping[str, str], words: Interface) -> str:
    """What is missing from a judge's form, in words for the judge; "" if nothing is."""
    if enrolment.consent and not agreed:
        return words("To take part, please read the information above and tick that you agree.")
    for question in enrolment.questions:
        answer = answers.get(question.id, "")
        if not answer or len(answer) > ANSWER_LIMIT or (question.choices and answer not in question.choices):
            asked = words("Please answer this question or shorten the answer to {n} characters:", n=ANSWER_LIMIT)
            return f"{asked} {question.question}"
    return ""


def is_screened_out(enrolment: Enrolment, answers: Mapping[str, str]) -> bool:
    """Whether an answer belongs to people whom the study does not ask."""
    return any(answers.get(question.id) in question.screen_out for question in enrolment.questions)
