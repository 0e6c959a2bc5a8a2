"""HUSE (Hashimoto, Zhang and Liang 2019), summarization task: typicality of a summary, 1 to 6, by 20 judges.

Two layouts: JSONL with one summary per line (``hit``, ``item``, ``type``, ``context``, ``output``, ``judgments``,
``workers``); and the authors' ``summarization_raw_outputs.csv``, where a row is one worker's answers to 25 summaries.
The authors' ``summary_clean.csv`` has no texts and cannot be used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, mean
from rlsum.judgments.public.tables import finite, first_row, parsing, read_csv, read_objects
from rlsum.judgments.records import Judgment

SYSTEMS = {"SUM": "model", "HUMAN_SUM": "human"}
ANSWERS = ("Invalid", "Rare", "Specific", "Average", "Typical", "Very Typical")  # 1 to 6
ITEMS = 25  # summaries in an assignment
SCALE = (1.0, 6.0)


@dataclass
class _Item:
    where: str
    system: str
    context: str
    output: str
    judgments: list[float]
    workers: list[str]


def huse(path: Path) -> Judgments:
    """The score overall is the mean of 20 judgments, 1 to 6. An input is a source; the systems are model and human.

    The reference of a model summary is the human summary of its source; human summaries have none. Judges are named
    within an assignment: each set of 25 summaries has its own 20 judges.
    """
    items = list(_assignments(path) if "HITId" in first_row(path) else _lines(path))
    for item in items:
        if item.system not in SYSTEMS:
            raise RecordError(f"{item.where}: type {item.system!r} is not one of {', '.join(SYSTEMS)}")
        if len(item.judgments) != len(item.workers):
            raise RecordError(f"{item.where}: {len(item.judgments)} judgments by {len(item.workers)} workers")
    ids = _ids(items)
    human = {name: item.output for name, item in zip(ids, items, strict=True) if item.system == "HUMAN_SUM"}
    rows = []
    for name, item in zip(ids, items, strict=True):
        references = (human[name],) if item.system == "SUM" and name in human else ()
        scores, raw = {"overall": mean(item.judgments)}, {"overall": tuple(item.judgments)}
        texts = item.output, references, item.context
        rows.append(Judgment(name, SYSTEMS[item.system], *texts, "", scores, raw, tuple(item.workers)))
    notes = [
        "the reference of a model summary is the human summary of its source; human summaries have no reference",
        "the model's log-probabilities are not judgments and are not read",
    ]
    return Judgments("huse", tuple(rows), {}, notes, {"overall": SCALE})


def _ids(items: Iterable[_Item]) -> list[str]:
    """The number of each source; a second summary of a source by one system gets an id such as ``7.2``."""
    numbers: dict[str, int] = {}
    counts: Counter[tuple[str, str]] = Counter()
    ids = []
    for item in items:
        number = numbers.setdefault(item.context, len(numbers) + 1)
        counts[item.context, item.system] += 1
        repeat = counts[item.context, item.system]
        ids.append(f"{number}.{repeat}" if repeat > 1 else str(number))
    return ids


def _lines(path: Path) -> Iterator[_Item]:
    for where, row in read_objects(path):
        with parsing(where, "a summary of HUSE"):
            judgments = [_answer(value, where) for value in row["judgments"]]
            workers = [str(worker) for worker in row["workers"]]
            item = _Item(where, row["type"], row["context"], row["output"], judgments, workers)
        yield item


def _assignments(path: Path) -> Iterable[_Item]:
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
    return items.values()


def _answer(value: object, where: str) -> float:
    number = finite(value, f"{where}: judgments")
    if not SCALE[0] <= number <= SCALE[1]:
        raise RecordError(f"{where}: judgment {number:g} is not from 1 to 6")
    return number
