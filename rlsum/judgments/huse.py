"""HUSE (Hashimoto, Zhang and Liang 2019), the summarization task: how typical a summary is, 20 judges each, 1 to 6.

Two layouts: JSONL with a summary a line (``hit``, ``item``, ``type``, ``context``, ``output``, ``judgments``,
``workers``); and the authors' ``summarization_raw_outputs.csv``, an assignment of 25 summaries to one worker a row.
The authors' ``summary_clean.csv`` holds no texts and cannot be used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rlsum.judgments.collection import Judgments, mean
from rlsum.judgments.records import Judgment
from rlsum.judgments.tables import finite, first_row, read_csv, read_json_lines
from rlsum.records import RecordError

SYSTEMS = {"SUM": "model", "HUMAN_SUM": "human"}
ANSWERS = ("Invalid", "Rare", "Specific", "Average", "Typical", "Very Typical")  # 1 to 6
ITEMS = 25  # summaries in an assignment
SCALE = (1.0, 6.0)


@dataclass
class _Item:
    where: str
    kind: str
    context: str
    output: str
    judgments: list[float]
    workers: list[str]


def huse(path: Path) -> Judgments:
    """The score overall is the mean of 20 judgments, 1 to 6. An input is a source; the systems are model and human.

    The human summary of a source is the reference of the model's; human summaries have none. Judges are named within
    their assignment: each set of 25 summaries has its own 20.
    """
    items = list(_assignments(path) if "HITId" in first_row(path) else _lines(path))
    ids = _ids(items)
    human = {name: item.output for name, item in zip(ids, items, strict=True) if item.kind == "HUMAN_SUM"}
    rows = tuple(_judgment(item, name, human) for name, item in zip(ids, items, strict=True))
    notes = [
        "a model's reference is the human summary of its source; human summaries have no reference",
        "the model's log-probabilities are no judgments and are not read",
    ]
    return Judgments("huse", rows, {}, notes, {"overall": SCALE})


def _judgment(item: _Item, name: str, human: dict[str, str]) -> Judgment:
    references = (human[name],) if item.kind == "SUM" and name in human else ()
    raw = {"overall": tuple(item.judgments)}
    scores = {"overall": mean(item.judgments)}
    return Judgment(
        name,
        SYSTEMS[item.kind],
        item.output,
        references,
        item.context,
        scores=scores,
        raw_scores=raw,
        judges=tuple(item.workers),
    )


def _ids(items: Iterable[_Item]) -> list[str]:
    """A number for each source; one that was summarized twice by the same system gets a second, as in ``7.2``."""
    numbers: dict[str, int] = {}
    seen: Counter[tuple[str, str]] = Counter()
    ids = []
    for item in items:
        number = numbers.setdefault(item.context, len(numbers) + 1)
        seen[item.context, item.kind] += 1
        again = seen[item.context, item.kind]
        ids.append(f"{number}.{again}" if again > 1 else str(number))
    return ids


def _lines(path: Path) -> Iterator[_Item]:
    for where, row in read_json_lines(path):
        try:
            judgments = [_answer(value, where) for value in row["judgments"]]
            workers = [str(worker) for worker in row["workers"]]
            item = _Item(where, row["type"], row["context"], row["output"], judgments, workers)
        except (KeyError, TypeError) as error:
            raise RecordError(f"{where}: not a summary of HUSE ({type(error).__name__}: {error})") from error
        yield _checked(item)


def _assignments(path: Path) -> Iterator[_Item]:
    columns = [f"{name}{number}" for number in range(ITEMS) for name in ("Input.CTX", "Input.OUT", "Answer.")]
    items: dict[tuple[str, int], _Item] = {}
    for row in read_csv(path, ("HITId", "WorkerId", "Input.TYPE0", *columns)):
        for number in range(ITEMS):
            texts = row[f"Input.CTX{number}"], row[f"Input.OUT{number}"]
            item = items.setdefault((row["HITId"], number), _Item(row.where, row["Input.TYPE0"], *texts, [], []))
            answer = row[f"Answer.{number}"]
            if answer not in ANSWERS:
                raise RecordError(f"{row.where}: Answer.{number}={answer!r} is not one of {', '.join(ANSWERS)}")
            item.judgments.append(float(ANSWERS.index(answer) + 1))
            item.workers.append(row["WorkerId"])
    return map(_checked, items.values())


def _answer(value: object, where: str) -> float:
    number = finite(value, f"{where}: judgments")
    if not SCALE[0] <= number <= SCALE[1]:
        raise RecordError(f"{where}: judgment {number:g} is not from 1 to 6")
    return number


def _checked(item: _Item) -> _Item:
    if item.kind not in SYSTEMS:
        raise RecordError(f"{item.where}: type {item.kind!r} is not one of {', '.join(SYSTEMS)}")
    if len(item.judgments) != len(item.workers):
        raise RecordError(f"{item.where}: {len(item.judgments)} judgments of {len(item.workers)} workers")
    return item
