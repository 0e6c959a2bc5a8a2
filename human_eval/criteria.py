"""What judges read and are asked. The default criteria are those of Clark et al. 2019, section 5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from human_eval.answers import KINDS, PAIR, Rating
from human_eval.marks import CATEGORIES, Category
from human_eval.study import ERRORS, Criterion, Enrolment, Interface, Marking, StudyError, Training

TITLE = "Which summary is better?"
RATED_TITLE = "How good are these summaries?"
MARKING = Marking("Which errors do the summaries have?", CATEGORIES)
MARKING_TITLE = "Mark the errors"
MARKING_INSTRUCTIONS = (
    "Read the article, then both summaries. Mark every error that you see in them: choose its words, then the kind of "
    "error. Mark as few words as show the error. A summary may have no error. What you think of the news itself does "
    "not matter."
)
DEFAULT = (
    Criterion(
        "non-redundancy",
        "Which summary repeats itself less?",
        "A summary repeats itself when it gives the same facts, sentences or phrases more than once.",
    ),
    Criterion(
        "coherence",
        "Which summary reads better as a whole?",
        "Its sentences are complete, follow one another in a sensible order and are clear about who did what.",
    ),
    Criterion(
        "focus",
        "Which summary keeps better to what matters in the article?",
        "It gives the main points and leaves out side issues. A true but unimportant detail is a loss of focus.",
    ),
    Criterion(
        "overall",
        "Which summary is better overall?",
        "Which of the two would you rather be given in place of the article? A false statement is a serious fault.",
    ),
)
RATED = (
    Criterion(
        "non-redundancy",
        "How free of repetition is the summary?",
        "A summary repeats itself when it gives the same facts, sentences or phrases more than once.",
    ),
    Criterion("coherence", "How well does the summary read as a whole?", DEFAULT[1].help),
    Criterion("focus", "How well does the summary keep to what matters in the article?", DEFAULT[2].help),
    Criterion(
        "overall",
        "How good is the summary overall?",
        "How well would it serve you in place of the article? A false statement is a serious fault.",
    ),
)
MOST_CATEGORIES = 9  # one digit key each
NOTHING_ASKED = Enrolment()
ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
RESERVED = (
    ERRORS,
    "study",
    "task",
    "judge",
    "item",
    "booklet",
    "position",
    "article",
    "left",
    "right",
    "comment",
    "seconds",
)


def instructions(criteria: Sequence[Criterion], texts: int = 2) -> str:
    """What judges are asked to do with this many summaries."""
    asks = " ".join(dict.fromkeys(criterion.kind.asks for criterion in criteria))
    number = ("two", "three", "four", "five")[texts - 2]
    return (
        f"Read the article, then compare the {number} summaries of it. Answer each question by itself: a summary may "
        f"be better in one way and worse in another. {asks} What you think of the news itself does not matter."
    )


INSTRUCTIONS = instructions(DEFAULT)


@dataclass(frozen=True)
class StudyWording:
    """What judges read apart from the articles and summaries."""

    title: str = TITLE
    instructions: str = INSTRUCTIONS
    criteria: tuple[Criterion, ...] = DEFAULT
    enrolment: Enrolment = NOTHING_ASKED
    interface: Interface = field(default_factory=Interface)
    training: Training | None = None
    marking: Marking | None = None


def standard(answers: str, texts: int) -> StudyWording:
    """The standard wording of a kind of answers (`KINDS`) to a number of summaries."""
    rated = isinstance(KINDS[answers], Rating)
    criteria = tuple(replace(asked, answers=answers) for asked in (RATED if rated else DEFAULT))
    return StudyWording(RATED_TITLE if rated else TITLE, instructions(criteria, texts), criteria)


def read_criteria(path: str | Path, answers: str = PAIR) -> tuple[Criterion, ...]:
    """Read a YAML or JSON list of {id, question, help, answers}; the last two are optional. Raises StudyError.

    ``answers``: of criteria that name no kind.
    """
    import yaml

    path = Path(path)
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8-sig"))  # JSON is YAML
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); give a YAML or JSON file of criteria") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise StudyError(f"{path}: neither YAML nor JSON ({' '.join(str(error).split())[:200]})") from error
    if not isinstance(rows, list) or not rows:
        raise StudyError(f"{path}: expected a list of criteria, each with id, question and optionally help")
    criteria = tuple(_criterion(row, answers, f"{path}: criterion {number}") for number, row in enumerate(rows, 1))
    twice = sorted({c.id for c in criteria if [other.id for other in criteria].count(c.id) > 1})
    if twice:
        raise StudyError(f"{path}: duplicate id {', '.join(twice)}; give each criterion a different id")
    return criteria


def read_marking(name: str) -> Marking:
    """The marking with the standard categories, or with those of a YAML or JSON list of {id, label, help, whole}.

    ``help`` and ``whole`` are optional. Raises StudyError.
    """
    import yaml

    if name == "standard":
        return MARKING
    where = f"--marking {name}"
    try:
        rows = yaml.safe_load(Path(name).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(f"{where}: neither 'standard' nor a file that can be read ({error.strerror})") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise StudyError(f"{where}: neither YAML nor JSON ({' '.join(str(error).split())[:200]})") from error
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_CATEGORIES:
        raise StudyError(f"{where}: expected a list of 1 to {MOST_CATEGORIES} categories, each with id and label")
    categories = tuple(_category(row, f"{where}: category {number}") for number, row in enumerate(rows, 1))
    ids = [category.id for category in categories]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise StudyError(f"{where}: duplicate id {', '.join(twice)}; give each category a different id")
    return Marking(MARKING.question, categories)


def _category(row: Any, where: str) -> Category:
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) and row[name] for name in ("id", "label")):
        raise StudyError(f"{where}: expected an object with the texts id and label, and possibly help and whole")
    if unknown := [str(name) for name in row if name not in ("id", "label", "help", "whole")]:
        raise StudyError(f"{where}: unknown field {unknown[0]!r}; a category has id, label, help and whole")
    if not ID.fullmatch(row["id"]):
        raise StudyError(f"{where}: invalid id {row['id'][:40]!r}; use lower-case letters, digits and hyphens")
    if not isinstance(row.get("help", ""), str) or not isinstance(row.get("whole", False), bool):
        raise StudyError(f"{where}: help must be text, and whole true or false")
    return Category(row["id"], row["label"].strip(), row.get("help", "").strip(), row.get("whole", False))


def _criterion(row: Any, answers: str, where: str) -> Criterion:
    if not isinstance(row, dict):
        raise StudyError(f"{where}: expected an object with id, question and optionally help")
    unknown = [str(name) for name in row if name not in ("id", "question", "help", "answers")]
    if unknown:
        raise StudyError(f"{where}: unknown field {unknown[0]!r}; a criterion has id, question, help and answers")
    if row.get("answers", answers) not in KINDS:
        raise StudyError(f"{where}: unknown answers {row['answers']!r}; expected one of {', '.join(KINDS)}")
    for name in ("id", "question"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise StudyError(f"{where}: {name} must be non-empty text")
    if not isinstance(row.get("help", ""), str):
        raise StudyError(f"{where}: help must be text")
    if not ID.fullmatch(row["id"]) or row["id"] in RESERVED:
        raise StudyError(
            f"{where}: invalid id {row['id'][:40]!r}; use lower-case letters, digits and hyphens, such as "
            f"non-redundancy, and none of {', '.join(RESERVED)}"
        )
    return Criterion(row["id"], row["question"].strip(), row.get("help", "").strip(), row.get("answers", answers))
