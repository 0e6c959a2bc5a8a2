"""Responses and the key -> votes with the names of systems. After `build`, only this module uses the key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from human_eval.answers import BAD
from human_eval.collection.collect import suspicions
from human_eval.collection.practice import counts, practice_file, read_practice
from human_eval.collection.responses import Response, read_responses
from human_eval.design.blinding import naming_tasks
from human_eval.design.build import pairs_of
from human_eval.design.checks import passed
from human_eval.files import read_key, read_study
from human_eval.formatting import counted
from human_eval.marks import length, parsed
from human_eval.study import ERRORS, EqualTexts, Pair, Study, StudyKey, Task, TaskKey
from human_eval.votes.votes import CheckResult, MarkedText, Score, Vote, Votes, unknown


def read_votes(study_folder: Path, judgments: Path, key_path: Path) -> Votes:
    """The votes of a study from its folder, the file of judgments and the key.

    Raises StudyError for an invalid file or the key of another study.
    """
    study = read_study(study_folder)
    key = read_key(key_path, study)
    responses = read_responses(judgments, study)
    votes = unblind(study, key, responses)
    votes = replace(votes, notes=(*votes.notes, *suspicions(judgments.with_suffix(".rejects.jsonl"))))
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
    on_scales: list[Score] = []
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
        judged |= {(response.judge, task.item, pair) for pair in new}
        repeated += len(new) < len(compared)
        rows += [_vote(study, key, response, asked, *entry) for asked in study.asked for entry in new.items()]
        if new:
            places, item = _places(key, task_key, task.item), key.items[task.item]
            on_scales += _on_scales(study, response, places, item)
            marked += _marked(response, task, places, item) if study.marking else []
    again = counted(repeated, "judgment")
    return Votes(
        title=study.title,
        criteria=study.asked,
        pairs=_pairs(study, key),
        rows=tuple(rows),
        checks=tuple(checks),
        same=tuple((tie.pair, key.items[tie.item]) for tie in _ties(key)),
        notes=(
            *((f"left out: {again} of texts that the same judge had judged before",) * (repeated > 0)),
            *filter(None, [unknown(response.judge for response in responses)]),
        ),
        naming=naming_tasks(study, key.systems),
        kinds=study.kinds,
        scores=tuple(on_scales),
        marked=tuple(marked),
        categories=study.marking.categories if study.marking else (),
        articles={key.items[item]: text for item, text in study.articles.items()},
        texts={
            (key.items[task.item], system): task.texts[place]
            for task in study.tasks
            if key.tasks[task.id].kind == "pair"
            for system, place in _places(key, key.tasks[task.id], task.item).items()
        },
    )


def _ties(key: StudyKey) -> list[EqualTexts]:
    """The equal texts of two systems that the study compares."""
    return [tie for tie in key.ties if tie.pair in pairs_of(key.systems, key.baseline)]


def _pairs(study: Study, key: StudyKey) -> tuple[Pair, ...]:
    """The pairs that tasks or equal texts compare, in the order of the systems."""
    tasks = ((task, key.tasks[task.id]) for task in study.tasks)
    pairs = {pair for task, secret in tasks if secret.kind == "pair" for pair in _compared(key, secret, task.item)}
    pairs |= {tie.pair for tie in _ties(key)}
    return tuple(sorted(pairs, key=lambda pair: [key.systems.index(system) for system in pair]))


def _on_scales(study: Study, response: Response, places: Mapping[str, int], item: str) -> Iterator[Score]:
    """What each system got on the scale of each criterion that has one."""
    for criterion, kind in study.kinds.items():
        values, ends = kind.values(response.answers[criterion], list(places.values())), kind.ends(len(places))
        for system, value in zip(places, values, strict=False):  # no values of a comparison
            yield Score(criterion, system, item, response.judge, value, ends)


def _scores(study: Study, response: Response) -> dict[str, tuple[float, ...]]:
    """Criterion -> score of each summary, as they were shown, for checks.

    Marked errors are a criterion if nothing else is asked: beside others they need not tell the texts of a check apart.
    """
    texts = len(study.by_id[response.task].texts)
    if not study.criteria:
        return {ERRORS: fewer_errors(response, texts)}
    return {name: kind.scores(response.answers[name], texts) for name, kind in study.kinds.items()}


def fewer_errors(response: Response, texts: int) -> tuple[float, ...]:
    """The score of each summary of a response: minus the number of errors marked in it."""
    places = [mark.place for mark in parsed(response.answers[ERRORS])]
    return tuple(-float(places.count(place)) for place in range(texts))


def _marked(response: Response, task: Task, places: Mapping[str, int], item: str) -> list[MarkedText]:
    marks, judged = parsed(response.answers[ERRORS]), (item, item, response.judge, task.id)
    return [
        MarkedText(*judged, system, task.texts[place], tuple(mark for mark in marks if mark.place == place))
        for system, place in places.items()
    ]


def _compared(key: StudyKey, task: TaskKey, item: str) -> dict[Pair, tuple[int, int]]:
    """The pairs of systems that a task compares, and the places of their summaries."""
    places = _places(key, task, item)
    if len(task.pair) == 2:
        return {(task.pair[0], task.pair[1]): (places[task.pair[0]], places[task.pair[1]])}
    pairs = {pair: (places[pair[0]], places[pair[1]]) for pair in pairs_of(key.systems, key.baseline)}
    return {pair: (first, second) for pair, (first, second) in pairs.items() if first != second}


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
        preference = study.kinds[criterion].vote(answer, len(task.texts), first, second)
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
