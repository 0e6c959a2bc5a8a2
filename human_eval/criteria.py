"""What judges read and are asked. The default criteria are those of Clark et al. 2019, section 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from human_eval.answers import KINDS, PAIR
from human_eval.marks import CATEGORIES, Category
from human_eval.parsing import read_list
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
    replace(DEFAULT[0], question="How free of repetition is the summary?"),
    replace(DEFAULT[1], question="How well does the summary read as a whole?"),
    replace(DEFAULT[2], question="How well does the summary keep to what matters in the article?"),
    Criterion(
        "overall",
        "How good is the summary overall?",
        "How well would it serve you in place of the article? A false statement is a serious fault.",
    ),
)
MOST_CATEGORIES = 9  # one digit key each
RESERVED = (
    ERRORS,
    *["study", "task", "judge", "item", "booklet", "position", "article", "left", "right", "comment", "seconds"],
)


def instructions(criteria: Sequence[Criterion], texts: int = 2) -> str:
    """What judges are asked to do with this many summaries."""
    asks = " ".join(dict.fromkeys(criterion.kind.asks for criterion in criteria))
    number = ("two", "three", "four", "five")[texts - 2]
    return (
        f"Read the article, then compare the {number} summaries of it. Answer each question by itself: a summary may "
        f"be better in one way and worse in another. {asks} What you think of the news itself does not matter."
    )


@dataclass(frozen=True)
class StudyWording:
    """What judges read apart from the articles and summaries."""

    title: str = TITLE
    instructions: str = instructions(DEFAULT)
    criteria: tuple[Criterion, ...] = DEFAULT
    enrolment: Enrolment = field(default_factory=Enrolment)
    interface: Interface = field(default_factory=Interface)
    training: Training | None = None
    marking: Marking | None = None


def standard(answers: str, texts: int) -> StudyWording:
    """The standard wording of a kind of answers (`KINDS`) to a number of summaries."""
    rated = KINDS[answers].by_itself
    criteria = tuple(replace(asked, answers=answers) for asked in (RATED if rated else DEFAULT))
    if texts > 2:
        criteria = tuple(replace(asked, help=asked.help.replace("Which of the two", "Which")) for asked in criteria)
    return StudyWording(RATED_TITLE if rated else TITLE, instructions(criteria, texts), criteria)


def read_criteria(path: str | Path, answers: str = PAIR) -> tuple[Criterion, ...]:
    """Read a YAML or JSON list of {id, question, help, answers}; the last two are optional. Raises StudyError.

    ``answers``: of criteria that name no kind.
    """
    criteria = read_list(Criterion, "--criteria", Path(path), "criterion", {"answers": answers})
    for asked in criteria:
        if asked.answers not in KINDS:
            raise StudyError(
                f"--criteria {path}: {asked.id}: unknown answers {asked.answers!r}; expected one of {', '.join(KINDS)}"
            )
        if asked.id in RESERVED:
            raise StudyError(f"--criteria {path}: invalid id {asked.id!r}; use none of {', '.join(RESERVED)}")
    return criteria


def read_marking(name: str) -> Marking:
    """The marking with the standard categories, or with those of a YAML or JSON list of {id, label, help, whole}.

    ``help`` and ``whole`` are optional. Raises StudyError.
    """
    if name == "standard":
        return MARKING
    categories = read_list(Category, "--marking", Path(name), "category")
    if len(categories) > MOST_CATEGORIES:
        raise StudyError(f"--marking {name}: expected at most {MOST_CATEGORIES} categories, one digit key each")
    return Marking(MARKING.question, categories)
