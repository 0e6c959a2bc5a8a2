"""Responses and the key -> votes with the names of systems. After `build`, only this module uses the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from human_eval.answers import BAD
from human_eval.collection.practice import counts, practice_file, read_practice
from human_eval.collection.responses import Response, read_responses
from human_eval.design.blinding import naming_tasks
from human_eval.design.build import pairs_of
from human_eval.design.checks import passed
from human_eval.files import read_key, read_study
from human_eval.formatting import counted
from human_eval.marks import length, parsed
from human_eval.statistics.votes import CheckResult, MarkedText, Score, Vote, Votes
from human_eval.study import ERRORS, Pair, Study, StudyKey, Task, TaskKey


def read_votes(study_folder: Path, judgments: Path, key_path: Path) -> Votes:
    """The votes of a study from its folder, the file of judgments and the key.

    Raises StudyError for an invalid file or the key of another study.
    """
    study = read_study(study_folder)
    key = read_key(key_path, study)
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
    scores = {(response.judge, response.task): _scores(study, response) for response in responses}
    marked: list[MarkedText] = []
    rows: list[Vote] = []
    given: list[Score] = []
    checks: list[CheckResult] = []
    judged: set[tuple[str, str, Pair]] = set()
    repeated = 0
    order = {task.id: (task.booklet, task.position) for task in study.tasks}
    for response in sorted(responses, key=lambda response: (response.judge, order[response.task])):
        task, task_key = study.by_id[response.task], key.tasks[response.task]
        if task_key.kind != "pair":
            earlier = scores.get((response.judge, task_key.repeats)) if task_key.repeats else None
            right = passed(task_key, scores[response.judge, response.task], earlier)
            if right is not None:
                checks.append(CheckResult(response.judge, response.task, task_key.kind, not right))
            continue
        compared = _compared(key, task_key, task.item)
        new = {pair: places for pair, places in compared.items() if (response.judge, task.item, pair) not in judged}
        repeated += len(new) < len(compared)
        judged |= {(response.judge, task.item, pair) for pair in new}
        places = _places(key, task_key, task.item)
        given += [
            Score(criterion.id, system, key.items[task.item], response.judge, value)
            for criterion in (study.criteria if new else ())
            for values in [criterion.kind.values(response.answers[criterion.id], len(task.texts))]
            for system, value in ((system, values[place]) for system, place in places.items() if values)
        ]
        rows += [
            _vote(study, key, response, criterion, pair, places)
            for criterion in study.asked
            for pair, places in new.items()
        ]
        marked += _marked(response, task, places, key.items[task.item]) if study.marking and new else []
    pairs = {
        pair
        for task in study.tasks
        if key.tasks[task.id].kind == "pair"
        for pair in _compared(key, key.tasks[task.id], task.item)
    }
    same = [tie for tie in key.ties if tie.pair in pairs_of(key.systems, key.baseline)]
    pairs |= {tie.pair for tie in same}
    again = f"left out: {counted(repeated, 'judgment')} of texts that the same judge had judged before"
    return Votes(
        title=study.title,
        criteria=study.asked,
        pairs=tuple(sorted(pairs, key=lambda pair: [key.systems.index(system) for system in pair])),
        rows=tuple(rows),
        checks=tuple(checks),
        same=tuple((tie.pair, key.items[tie.item]) for tie in same),
        notes=(again,) if repeated else (),
        naming=naming_tasks(study, key.systems),
        kinds={criterion.id: criterion.kind for criterion in study.criteria},
        scores=tuple(given),
        marked=tuple(marked),
        categories=study.marking.categories if study.marking else (),
    )


def _scores(study: Study, response: Response) -> dict[str, tuple[float, ...]]:
    """Criterion -> score of each summary, as they were shown, for checks.

    Marked errors are a criterion if nothing else is asked: beside others they need not tell the texts of a check apart.
    """
    texts = len(study.by_id[response.task].texts)
    if not study.criteria:
        return {ERRORS: fewer_errors(response, texts)}
    return {asked.id: asked.kind.scores(response.answers[asked.id], texts) for asked in study.criteria}


def fewer_errors(response: Response, texts: int) -> tuple[float, ...]:
    """The score of each summary of a response: minus the number of errors marked in it."""
    places = [mark.place for mark in parsed(response.answers[ERRORS])]
    return tuple(-float(places.count(place)) for place in range(texts))


def _marked(response: Response, task: Task, places: Mapping[str, int], item: str) -> list[MarkedText]:
    marks = parsed(response.answers[ERRORS])
    return [
        MarkedText(
            item,
            response.judge,
            task.id,
            system,
            task.texts[place],
            tuple(mark for mark in marks if mark.place == place),
        )
        for system, place in places.items()
    ]


def _compared(key: StudyKey, task: TaskKey, item: str) -> dict[Pair, tuple[int, int]]:
    """The pairs of systems that a task compares, and the places of their summaries."""
    places = _places(key, task, item)
    if len(task.pair) == 2:
        return {(task.pair[0], task.pair[1]): (places[task.pair[0]], places[task.pair[1]])}
    found = {pair: (places[pair[0]], places[pair[1]]) for pair in pairs_of(key.systems, key.baseline)}
    return {pair: (first, second) for pair, (first, second) in found.items() if first != second}


def _places(key: StudyKey, task: TaskKey, item: str) -> dict[str, int]:
    """System -> place of its summary. A text of several systems is shown once where all systems are compared."""
    places = {system: place for place, system in enumerate(task.shown)}
    for first, second in (tie.pair for tie in key.ties if tie.item == item and len(task.pair) > 2):
        shown = places.get(first, places.get(second))
        if shown is not None:
            places |= {first: shown, second: shown}
    return places


def _vote(study: Study, key: StudyKey, response: Response, criterion: str, pair: Pair, places: tuple[int, int]) -> Vote:
    task, (first, second) = study.by_id[response.task], places
    answer, item = response.answers[criterion], key.items[task.item]
    if criterion == ERRORS:
        errors = fewer_errors(response, len(task.texts))
        preference = float(np.sign(errors[second] - errors[first]))
    else:
        kind = next(asked.kind for asked in study.criteria if asked.id == criterion)
        preference = kind.vote(answer, len(task.texts), first, second)
    return Vote(
        criterion=criterion,
        pair=pair,
        item=item,
        comparison=item,
        judge=response.judge,
        task=task.id,
        preference=preference,
        longer=int(np.sign(length(task.texts[second]) - length(task.texts[first]))),
        left=pair[0] if first < second else pair[1],
        position=task.position,
        seconds=response.seconds,
        bad=answer == BAD,
    )
