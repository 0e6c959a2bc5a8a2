"""Responses and the key -> votes with the names of systems. After `build`, only this module uses the key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from human_eval.collection.practice import counts, practice_file, read_practice
from human_eval.collection.responses import Response, read_responses
from human_eval.design.blinding import naming_tasks
from human_eval.design.checks import passed
from human_eval.files import check_key, read_key, read_study
from human_eval.formatting import counted
from human_eval.statistics.votes import CheckResult, Vote, Votes
from human_eval.study import Answer, Pair, Study, StudyKey


def read_votes(study_folder: Path, judgments: Path, key_path: Path) -> Votes:
    """The votes of a study from its folder, the file of judgments and the key.

    Raises StudyError for an invalid file or the key of another study.
    """
    study, key = read_study(study_folder), read_key(key_path)
    check_key(key, study, str(key_path))
    responses = read_responses(judgments, study)
    votes = unblind(study, key, responses)
    if study.training is None:
        return votes
    trained = practice_file(judgments)
    if not trained.exists():
        return replace(votes, notes=(*votes.notes, f"who passed the training is not known: no file {trained.name}"))
    judges = [response.judge for response in responses]
    return replace(votes, training=counts(study.training, read_practice(trained, study), judges))


def unblind(study: Study, key: StudyKey, responses: Sequence[Response]) -> Votes:
    """Votes on the pairs, and results of the checks. Items get their ids in the outputs.

    If a judge judged the same two texts twice, as a judge with two booklets may, the first response counts.
    """
    answers = {(response.judge, response.task): response.answers for response in responses}
    rows: list[Vote] = []
    checks: list[CheckResult] = []
    judged: set[tuple[str, str, Pair]] = set()
    repeated = 0
    order = {task.id: (task.booklet, task.position) for task in study.tasks}
    for response in sorted(responses, key=lambda response: (response.judge, order[response.task])):
        task, task_key = study.by_id[response.task], key.tasks[response.task]
        if task_key.kind != "pair":
            earlier = answers.get((response.judge, task_key.repeats)) if task_key.repeats else None
            right = passed(task_key, response.answers, earlier)
            if right is not None:
                checks.append(CheckResult(response.judge, response.task, task_key.kind, not right))
            continue
        comparison = response.judge, task.item, task_key.pair
        if comparison in judged:
            repeated += 1
            continue
        judged.add(comparison)
        rows += [_vote(study, key, response, criterion.id) for criterion in study.criteria]
    compared = {task_key.pair for task_key in key.tasks.values() if task_key.kind == "pair"}
    compared |= {tie.pair for tie in key.ties}
    again = f"left out: {counted(repeated, 'judgment')} of texts that the same judge had judged before"
    return Votes(
        title=study.title,
        criteria=tuple(criterion.id for criterion in study.criteria),
        pairs=tuple(sorted(compared, key=lambda pair: [key.systems.index(system) for system in pair])),
        rows=tuple(rows),
        checks=tuple(checks),
        same=tuple((tie.pair, key.items[tie.item]) for tie in key.ties),
        notes=(again,) if repeated else (),
        naming=naming_tasks(study, key.systems),
    )


def _vote(study: Study, key: StudyKey, response: Response, criterion: str) -> Vote:
    task, task_key = study.by_id[response.task], key.tasks[response.task]
    in_order = task_key.left == task_key.pair[0]
    first, second = (task.left, task.right) if in_order else (task.right, task.left)
    vote = Answer(response.answers[criterion]).vote
    item = key.items[task.item]
    return Vote(
        criterion=criterion,
        pair=task_key.pair,
        item=item,
        comparison=item,
        judge=response.judge,
        task=task.id,
        preference=vote if in_order else -vote,
        longer=int(np.sign(len(second.split()) - len(first.split()))),
        left=task_key.left,
        position=task.position,
        seconds=response.seconds,
    )
