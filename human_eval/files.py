"""The folder of a study, in and out.

``study.json``, ``items.jsonl`` and ``tasks.jsonl`` are public: nothing in them names a system, tells an order of
systems or says how to make the study again. ``key.json`` is secret and may be kept elsewhere: whoever has it, or the
seed and the outputs, knows which summary is whose.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from human_eval.study import ANSWERS, KINDS, Criterion, Key, Secret, Study, StudyError, Task, Tie
from human_eval.wording import counted
from rlsum.readers import Read, jsonl

FORMAT = 1
STUDY, ITEMS, TASKS, KEY = "study.json", "items.jsonl", "tasks.jsonl", "key.json"


def check_places(folder: str | Path, key: str | Path) -> None:
    """Raise StudyError unless a study can be saved there: nothing is ever replaced."""
    folder, key = Path(folder).absolute(), Path(key).absolute()
    if folder in key.parents and key != folder / KEY:
        raise StudyError(f"{key}: in the folder of the study the key is called {KEY}; choose that or another folder")
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StudyError(f"{folder}: exists and is not an empty folder; a study is never replaced, choose another")
        if key.exists():
            raise StudyError(f"{key}: exists; a key is never replaced, choose another")
        for parent in {folder.parent, folder.parent if key.parent == folder else key.parent}:
            parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=parent):
                pass
    except OSError as error:
        raise StudyError(f"{folder}: cannot be written ({error.strerror}); choose a folder you may write to") from error


def save(folder: str | Path, study: Study, key_path: str | Path, key: Key) -> None:
    """Write a study and its key, in whole: the folder appears when all is in it. See ``check_places``."""
    folder, key_path = Path(folder).absolute(), Path(key_path).absolute()
    check_places(folder, key_path)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.partial.") as partial:
        made = Path(partial) / "study"
        made.mkdir()
        write_study(made, study)
        # The key is first in its place: a study whose key is lost is lost itself.
        write_key(made / KEY if key_path == folder / KEY else key_path, key)
        made.replace(folder)


def write_study(folder: str | Path, study: Study) -> None:
    """Write the public files into ``folder``, which must exist."""
    folder = Path(folder)
    head = {
        "format": FORMAT,
        "study": study.id,
        "title": study.title,
        "instructions": study.instructions,
        "criteria": [asdict(criterion) for criterion in study.criteria],
        "judges_per_item": study.judges_per_item,
        "booklets": len(study.booklets),
        "tasks": len(study.tasks),
    }
    (folder / STUDY).write_text(json.dumps(head, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    _write_lines(folder / ITEMS, ({"item": item, "article": text} for item, text in study.articles.items()))
    _write_lines(folder / TASKS, ({"task": task.id, **_without_id(task)} for task in study.tasks))


def write_key(path: str | Path, key: Key) -> None:
    """Write the key so that its owner alone can read it. Raises FileExistsError: a key is never replaced."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(key), file, ensure_ascii=False, indent=1)
        file.write("\n")


def read_study(folder: str | Path) -> Study:
    """Read the public files; the key is not looked at. Raises StudyError naming the first thing wrong."""
    folder = Path(folder)
    path = folder / STUDY
    head = read_object(path, "give the folder that `rlsum human-eval build` made")
    if head.get("format") != FORMAT:
        raise StudyError(f"{path}: format {head.get('format')!r} is not {FORMAT}; build the study again")
    texts: dict[str, type] = dict.fromkeys(("study", "title", "instructions"), str)
    numbers: dict[str, type] = dict.fromkeys(("judges_per_item", "booklets", "tasks"), int)
    checked(head, texts | numbers | {"criteria": list}, str(path))
    for number, criterion in enumerate(head["criteria"], 1):
        checked(criterion, {"id": str, "question": str, "help": str}, f"{path}: criterion {number}")
    articles: dict[str, str] = {}
    for read in _lines(folder / ITEMS, {"item": str, "article": str}):
        if read.fields["item"] in articles:
            raise StudyError(f"{read.where}: item {read.fields['item']} stands here twice; build the study again")
        articles[read.fields["item"]] = read.fields["article"]
    kinds = {"task": str, "item": str, "booklet": int, "position": int, "left": str, "right": str}
    tasks = []
    for read in _lines(folder / TASKS, kinds):
        values = {name: read.fields[name] for name in kinds if name != "task"}
        if values["item"] not in articles:
            raise StudyError(f"{read.where}: item {values['item']} is not in {ITEMS}; build the study again")
        tasks.append(Task(id=read.fields["task"], **values))
    criteria = tuple(Criterion(c["id"], c["question"], c["help"]) for c in head["criteria"])
    study = Study(
        head["study"], head["title"], head["instructions"], criteria, head["judges_per_item"], articles, tuple(tasks)
    )
    _check_whole(study, head["booklets"], head["tasks"], folder)
    return study


def read_key(path: str | Path) -> Key:
    """Read a key, given its file or the folder of a study that still holds it. Raises StudyError."""
    path = Path(path) / KEY if Path(path).is_dir() else Path(path)
    row = read_object(path, "give the key file that `rlsum human-eval build` wrote")
    checked(row, {"study": str, "seed": int, "systems": list, "items": dict, "tasks": dict, "ties": list}, str(path))
    tasks = {}
    for task, secret in row["tasks"].items():
        checked(secret, {"pair": list, "left": str, "right": str, "kind": str}, f"{path}: task {task}")
        if secret["kind"] not in KINDS or secret.get("expected") not in (None, *ANSWERS):
            raise StudyError(f"{path}: task {task}: unknown kind or expected answer; build the study again")
        places = {name: secret[name] for name in ("left", "right", "kind")}
        pair = _pair(secret, f"{path}: task {task}")
        tasks[task] = Secret(pair, repeats=secret.get("repeats"), expected=secret.get("expected"), **places)
    rows = [checked(tie, {"item": str, "pair": list}, f"{path}: tie {n}") for n, tie in enumerate(row["ties"], 1)]
    ties = tuple(Tie(tie["item"], _pair(tie, f"{path}: tie of {tie['item']}")) for tie in rows)
    return Key(row["study"], row["seed"], tuple(row["systems"]), row.get("baseline"), row["items"], tasks, ties)


def read_object(path: Path, fix: str) -> dict[str, Any]:
    """The object of a JSON file. Raises StudyError, ending in the ``fix``."""
    try:
        row = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); {fix}") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path}: not JSON; {fix}") from error
    if not isinstance(row, dict):
        raise StudyError(f"{path}: not a JSON object; {fix}")
    return row


def checked(row: Any, kinds: Mapping[str, type], where: str) -> dict[str, Any]:
    """``row`` if it is an object with these fields of these types. Raises StudyError."""
    if not isinstance(row, dict):
        raise StudyError(f"{where}: not an object")
    for name, kind in kinds.items():
        if name not in row:
            raise StudyError(f"{where}: no {name!r}; expected {', '.join(kinds)}")
        if not isinstance(row[name], kind) or isinstance(row[name], bool):
            told = {str: "text", int: "a whole number", list: "a list", dict: "an object"}[kind]
            raise StudyError(f"{where}: {name} must be {told}, not {json.dumps(row[name])[:40]}")
    return row


def _check_whole(study: Study, booklets: int, tasks: int, folder: Path) -> None:
    """Files that were cut, or changed by hand, do not pass for a study."""
    twice = [task for task, count in Counter(task.id for task in study.tasks).items() if count > 1]
    if twice:
        raise StudyError(f"{folder / TASKS}: task {twice[0]} stands here twice; build the study again")
    places = [(task.booklet, task.position) for booklet in study.booklets for task in booklet]
    whole = [(n, position) for n, booklet in enumerate(study.booklets) for position in range(len(booklet))]
    if (len(study.booklets), len(study.tasks)) != (booklets, tasks) or places != whole:
        told = counted(booklets, "whole booklet")
        raise StudyError(f"{folder / TASKS}: not the {told} of {STUDY}; build the study again")
    if not study.criteria or len({criterion.id for criterion in study.criteria}) < len(study.criteria):
        raise StudyError(f"{folder / STUDY}: criteria must be one or more, each with an id of its own")


def _lines(path: Path, kinds: Mapping[str, type]) -> Iterable[Read]:
    try:
        for read in jsonl(path):
            if read.problem:
                raise StudyError(f"{read.where}: {read.problem}; build the study again")
            checked(read.fields, kinds, read.where)
            yield read
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); build the study again") from error


def _pair(row: Mapping[str, Any], where: str) -> tuple[str, str]:
    if len(row["pair"]) != 2 or not all(isinstance(system, str) for system in row["pair"]):
        raise StudyError(f"{where}: pair must be two systems; build the study again")
    first, second = row["pair"]
    return first, second


def _without_id(task: Task) -> dict[str, Any]:
    row = asdict(task)
    del row["id"]
    return row


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
