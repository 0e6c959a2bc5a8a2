"""Judgments and the key -> votes with the systems' names. Nothing but this reads the key once a study is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from human_eval.blindness import naming_tasks
from human_eval.collection.judgments import Judgment, read_judgments
from human_eval.design.checks import passed
from human_eval.files import read_key, read_study
from human_eval.statistics.votes import Check, Pair, Vote, Votes
from human_eval.study import Answer, Key, Secret, Study, StudyError, Task
from human_eval.wording import counted


def read_votes(study_folder: Path, judgments: Path, key: Path) -> Votes:
    """The votes of a study from its folder, a file of judgments and the key.

    Raises StudyError where one of them cannot be used, or the key is that of another study.
    """
    study, secrets = read_study(study_folder), read_key(key)
    if secrets.study != study.id:
        raise StudyError(f"{key}: the key of study {secrets.study}, not of {study.id}; give the key built with it")
    if missing := [task.id for task in study.tasks if task.id not in secrets.tasks]:
        raise StudyError(f"{key}: nothing about task {missing[0]}; give the key built with the study")
    return unblind(study, secrets, read_judgments(judgments, study))


def unblind(study: Study, key: Key, judgments: Sequence[Judgment]) -> Votes:
    """Votes on the pairs, and checks marked. Items get the ids they have in the outputs.

    Where a judge judged the same two texts twice, as the holder of two booklets may, the first time counts.
    """
    said = {(judgment.judge, judgment.task): judgment.answers for judgment in judgments}
    rows: list[Vote] = []
    checks: list[Check] = []
    seen: set[tuple[str, str, Pair]] = set()
    twice = 0
    for judgment in sorted(judgments, key=lambda each: (each.judge, *_place(study.by_id[each.task]))):
        task, secret = study.by_id[judgment.task], key.tasks[judgment.task]
        if secret.kind != "pair":
            checks += _checked(judgment, secret, said)
            continue
        comparison = judgment.judge, task.item, secret.pair
        if comparison in seen:
            twice += 1
            continue
        seen.add(comparison)
        rows += [_vote(judgment, task, secret, key, criterion.id) for criterion in study.criteria]
    same = tuple((tie.pair, key.items[tie.item]) for tie in key.ties)
    compared = {secret.pair for secret in key.tasks.values() if secret.kind == "pair"} | {pair for pair, _ in same}
    pairs = tuple(sorted(compared, key=lambda pair: [key.systems.index(system) for system in pair]))
    notes = (f"left out: {counted(twice, 'judgment')} of texts that the same judge had judged before",) if twice else ()
    criteria = tuple(criterion.id for criterion in study.criteria)
    naming = naming_tasks(study, key.systems)
    return Votes(study.title, criteria, pairs, tuple(rows), tuple(checks), same, notes, naming)


def _vote(judgment: Judgment, task: Task, secret: Secret, key: Key, criterion: str) -> Vote:
    sides = {"left": secret.left, "right": secret.right}
    chosen = sides.get(judgment.answers[criterion])
    first, second = (task.left, task.right) if secret.left == secret.pair[0] else (task.right, task.left)
    item = key.items[task.item]
    return Vote(
        criterion=criterion,
        pair=secret.pair,
        item=item,
        comparison=item,
        judge=judgment.judge,
        task=task.id,
        preference=0 if chosen is None else 1 if chosen == secret.pair[1] else -1,
        longer=int(np.sign(len(second.split()) - len(first.split()))),
        left=secret.left,
        position=task.position,
        seconds=judgment.seconds,
    )


def _checked(judgment: Judgment, secret: Secret, said: Mapping[tuple[str, str], Mapping[str, Answer]]) -> list[Check]:
    """The check, unless the judge never answered the task that it repeats."""
    earlier = said.get((judgment.judge, secret.repeats)) if secret.repeats else None
    right = passed(secret, judgment.answers, earlier)
    return [] if right is None else [Check(judgment.judge, judgment.task, secret.kind, not right)]


def _place(task: Task) -> tuple[int, int]:
    return task.booklet, task.position
