"""What judges are asked: the criteria of Clark et al. 2019, section 5, or those of a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from human_eval.study import Criterion, StudyError

TITLE = "Which summary is better?"
INSTRUCTIONS = (
    "Read the article, then compare the two summaries of it. Answer each question by itself: a summary may be better "
    "in one way and worse in another. Choose 'no difference' where you cannot tell them apart in that way. What you "
    "think of the news itself does not matter."
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
ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
RESERVED = ("study", "task", "judge", "item", "booklet", "position", "article", "left", "right", "comment", "seconds")


def read_criteria(path: str | Path) -> tuple[Criterion, ...]:
    """Criteria from a YAML or JSON file: a list of {id, question, help}, help may be missing. Raises StudyError."""
    import yaml

    path = Path(path)
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8-sig"))  # JSON is YAML
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); give a YAML or JSON file of criteria") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise StudyError(f"{path}: neither YAML nor JSON ({' '.join(str(error).split())[:200]})") from error
    if not isinstance(rows, list) or not rows:
        raise StudyError(f"{path}: expected a list of criteria, each with id, question and, if you like, help")
    criteria = tuple(_criterion(row, f"{path}: criterion {number}") for number, row in enumerate(rows, 1))
    twice = sorted({c.id for c in criteria if [other.id for other in criteria].count(c.id) > 1})
    if twice:
        raise StudyError(f"{path}: criterion {', '.join(twice)} stands there twice; give each an id of its own")
    return criteria


def _criterion(row: Any, where: str) -> Criterion:
    if not isinstance(row, dict):
        raise StudyError(f"{where}: expected an object with id, question and, if you like, help")
    unknown = [str(name) for name in row if name not in ("id", "question", "help")]
    if unknown:
        raise StudyError(f"{where}: unknown field {unknown[0]!r}; a criterion has id, question and help")
    for name in ("id", "question"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise StudyError(f"{where}: {name} must be text, and not empty")
    if not isinstance(row.get("help", ""), str):
        raise StudyError(f"{where}: help must be text")
    if not ID.fullmatch(row["id"]) or row["id"] in RESERVED:
        raise StudyError(
            f"{where}: id {row['id'][:40]!r} cannot be used; expected small letters, digits and hyphens, such as "
            f"non-redundancy, and none of {', '.join(RESERVED)}"
        )
    return Criterion(row["id"], row["question"].strip(), row.get("help", "").strip())
