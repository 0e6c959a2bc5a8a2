"""The folder of a study: writing and reading it; and new folders for exports.

``study.json``, ``items.jsonl`` and ``tasks.jsonl`` are public: they name no system, imply no order of systems and do
not allow the study to be rebuilt. ``key.json`` is secret and may be kept elsewhere: the key, or the seed and the
outputs, tell which system wrote which summary.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from human_eval.answers import KINDS, LEFT, NONE, RIGHT
from human_eval.formatting import counted
from human_eval.parsing import parse
from human_eval.study import Criterion, Enrolment, Interface, Marking, Study, StudyError, StudyKey, Task, Training
from rlsum.errors import option
from rlsum.readers import json_object, jsonl

FORMAT = 1
STUDY, ITEMS, TASKS, KEY = "study.json", "items.jsonl", "tasks.jsonl", "key.json"


@dataclass(frozen=True)
class _Head:
    """study.json."""

    format: int
    study: str
    title: str
    instructions: str
    criteria: tuple[Criterion, ...]
    judges_per_item: int
    booklets: int
    tasks: int
    enrolment: Enrolment
    interface: Interface
    marking: Marking | None
    training: Training | None


_SHARED = {field.name for field in fields(_Head)} & {field.name for field in fields(Study)} - {"tasks"}


@dataclass(frozen=True)
class _Item:
    """A line of items.jsonl."""

    item: str
    article: str


def check_destinations(folder: str | Path, key: str | Path) -> None:
    """Raise StudyError unless a study and its key can be saved there. Nothing is ever replaced."""
    folder, key = Path(folder).absolute(), Path(key).absolute()
    if folder in key.parents and key != folder / KEY:
        fix = "use that name or another folder"
        raise StudyError(f"{option('key', key)}: in the folder of the study the key is called {KEY}; {fix}")
    with _writable(folder):
        _check_empty(folder)
        if key.exists():
            raise StudyError(f"{option('key', key)}: exists; a key is never replaced, choose another file")
        for parent in {folder.parent, folder.parent if key.parent == folder else key.parent}:
            parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=parent):
                pass


def save(folder: str | Path, study: Study, key_path: str | Path, key: StudyKey) -> None:
    """Write a study and its key. The folder appears once it is complete. Raises as `check_destinations`."""
    folder, key_path = Path(folder).absolute(), Path(key_path).absolute()
    check_destinations(folder, key_path)
    with _new_folder(folder) as partial:
        write_study(partial, study)
        # The key is written before the folder appears: without its key a study is useless.
        write_key(partial / KEY if key_path == folder / KEY else key_path, key)


def write_files(folder: str | Path, files: Mapping[str, str]) -> None:
    """Write files, name -> text, into a new or empty folder, all or none. Line ends are kept. Raises StudyError."""
    folder = Path(folder)
    with _writable(folder):
        _check_empty(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _new_folder(folder) as partial:
            for name, text in files.items():
                (partial / name).write_text(text, encoding="utf-8", newline="")


def write_study(folder: str | Path, study: Study) -> None:
    """Write the public files into an existing ``folder``."""
    folder = Path(folder)
    shared = {name: getattr(study, name) for name in _SHARED}
    head = _Head(FORMAT, study.id, booklets=len(study.booklets), tasks=len(study.tasks), **shared)
    items = [{"item": item, "article": text} for item, text in study.articles.items()]
    tasks = [{("task" if name == "id" else name): value for name, value in asdict(t).items()} for t in study.tasks]
    (folder / STUDY).write_text(json.dumps(asdict(head), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    for name, rows in ((ITEMS, items), (TASKS, tasks)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(lines, encoding="utf-8")


def write_key(path: str | Path, key: StudyKey) -> None:
    """Write the key, readable by its owner only. Raises FileExistsError: a key is never replaced."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(key), file, ensure_ascii=False, indent=1)
        file.write("\n")


def read_study(folder: str | Path) -> Study:
    """Read the public files, never the key. Raises StudyError naming the first fault."""
    folder = Path(folder)
    path = folder / STUDY
    row = json_object(path, "give the folder that `rlsum human-eval build` made", StudyError)
    if row.get("format") != FORMAT:
        raise StudyError(f"{path}: format {row.get('format')!r} is not {FORMAT}; build the study again")
    head = parse(_Head, row, str(path))
    if strange := [criterion.answers for criterion in head.criteria if criterion.answers not in KINDS]:
        raise StudyError(f"{path}: unknown answers {strange[0]!r}; expected one of {', '.join(KINDS)}")
    articles: dict[str, str] = {}
    for where, row in _lines(folder / ITEMS):
        item = parse(_Item, row, where)
        if item.item in articles:
            raise StudyError(f"{where}: duplicate item {item.item}; build the study again")
        articles[item.item] = item.article
    tasks = []
    for where, row in _lines(folder / TASKS):
        task = parse(Task, {"id": row.pop("task", None), **row}, where)
        if task.item not in articles:
            raise StudyError(f"{where}: item {task.item} is not in {ITEMS}; build the study again")
        tasks.append(task)
    shared = {name: getattr(head, name) for name in _SHARED}
    study = Study(head.study, articles=articles, tasks=tuple(tasks), **shared)
    _check_complete(study, head.booklets, head.tasks, folder)
    return study


def read_key(path: str | Path, study: Study | None = None) -> StudyKey:
    """Read a key from its file, or from the folder of a study that contains it.

    Raises StudyError, also for a key of another build than ``study``.
    """
    path = Path(path) / KEY if Path(path).is_dir() else Path(path)
    row = json_object(path, "give the key file that `rlsum human-eval build` wrote", StudyError)
    key = parse(StudyKey, row, str(path))
    for name, task in key.tasks.items():
        if len(task.pair) < 2 or task.expected not in (None, LEFT, RIGHT, NONE):
            raise StudyError(f"{path}: task {name}: less than two systems, or an unknown answer; build the study again")
    if study is not None and (key.study != study.id or any(task.id not in key.tasks for task in study.tasks)):
        raise StudyError(
            f"{path}: the key of another study or build ({key.study}, not {study.id}); give the key of this build"
        )
    return key


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fix = "choose a folder you may write to"
        raise StudyError(f"{option('out', folder)}: cannot be written ({error.strerror}); {fix}") from error


def _check_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        fix = "files are never replaced, choose a new folder"
        raise StudyError(f"{option('out', folder)}: exists and is not an empty folder; {fix}")


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into, which becomes ``folder`` at the end, or disappears after an error."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.partial.") as temporary:
        partial = Path(temporary) / "partial"
        partial.mkdir()
        yield partial
        partial.replace(folder)


def _check_complete(study: Study, booklets: int, tasks: int, folder: Path) -> None:
    """Raise StudyError for files that were truncated or edited."""
    duplicates = [task for task, count in Counter(task.id for task in study.tasks).items() if count > 1]
    if duplicates:
        raise StudyError(f"{folder / TASKS}: duplicate task {duplicates[0]}; build the study again")
    positions = [(task.booklet, task.position) for booklet in study.booklets for task in booklet]
    expected = [(n, position) for n, booklet in enumerate(study.booklets) for position in range(len(booklet))]
    if (len(study.booklets), len(study.tasks)) != (booklets, tasks) or positions != expected:
        raise StudyError(
            f"{folder / TASKS}: does not hold the {counted(booklets, 'complete booklet')} of {STUDY}; "
            "build the study again"
        )
    if not study.asked or len({criterion.id for criterion in study.criteria}) < len(study.criteria):
        raise StudyError(f"{folder / STUDY}: criteria must not be empty, and their ids must differ; build it again")


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The location of each line and its fields."""
    for line in jsonl(path):
        if line.problem:
            raise StudyError(f"{line.where}: {line.problem}; build the study again")
        yield line.where, line.fields
