"""The state of a running study: progress, agreement, times, checks. It names no system and no winner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from human_eval.collection.responses import Response
from human_eval.collection.store import ResponseStore
from human_eval.statistics.agreement import agreements
from human_eval.statistics.settings import AnalysisSettings
from human_eval.study import Study, StudyKey
from human_eval.votes.exclusion import ExclusionRules
from human_eval.votes.unblind import unblind
from human_eval.web.people_table import people_rows
from human_eval.web.progress import judge_rows, quartiles
from rlsum.evaluation.agreement import Agreement
from rlsum.evaluation.statistics import LEVEL


def overview(
    study: Study,
    store: ResponseStore,
    now: float,
    key: StudyKey | None = None,
    settings: AnalysisSettings | None = None,
) -> dict[str, Any]:
    """The state of a study at ``now`` (seconds since 1970), by name. Only the ``key`` tells checks from other tasks.

    ``responses``, ``people``: what is stored. ``rows``: see `people_rows`. ``agreement``: question -> share of pairs of
    judges with the same answer. ``seconds``: the quartiles of the times per item.
    """
    responses, people = store.responses(), store.people.all()
    failed = {person.judge for person in people if person.barred == "failed checks"}  # their tasks are open again
    answered = {(response.judge, response.task) for response in responses if response.judge not in failed}
    votes, loans = unblind(study, key, responses) if key else None, store.loans()
    rows = judge_rows(study, responses, loans, answered, votes, settings.rules if settings else ExclusionRules(), now)
    failing = {row.judge for row in rows if row.failing}
    return {
        "done": len({task for _, task in answered}),
        "total": len(study.tasks),
        "booklets": len(study.booklets),
        "lent": len(loans),
        "comments": sum(bool(response.comment) for response in responses),
        "seconds": quartiles(responses),
        "level": f"{LEVEL:.0%}",
        "agreement": _agreement(study, [row for row in responses if row.judge not in failing], key),
        "judges": rows,
        "responses": responses,
        "people": people,
        "rows": people_rows(
            study, responses, rows, people, closed=not store.state().takes_answers, checked=key is not None
        ),
    }


def _agreement(study: Study, responses: Sequence[Response], key: StudyKey | None) -> dict[str, Agreement]:
    """Question -> pairwise agreement on the pairs of texts that `analyse` counts, as `analyse` computes it.

    Unlike the other measures it does not depend on which text is called the first, so it needs no names of systems.
    Without the key, pairs of equal texts are known as checks; a shuffled text has one judge and cannot count.
    """
    pairs: dict[tuple[str, ...], dict[str, tuple[Response, int, int]]] = defaultdict(dict)
    for response in responses:
        task = study.by_id[response.task]
        if key is None or key.tasks[response.task].kind == "pair":
            for first, second in permutations(range(len(task.texts)), 2):
                if task.texts[first] < task.texts[second]:
                    pair = task.item, task.texts[first], task.texts[second]
                    pairs[pair].setdefault(response.judge, (response, first, second))
    names = key.items if key else {}
    in_order = sorted(pairs, key=lambda pair: names.get(pair[0], pair[0]))  # as in `analyse`, for the same intervals
    shared = {pair: list(pairs[pair].values()) for pair in in_order}
    shared = {pair: judged for pair, judged in shared.items() if len(judged) > 1}
    if not shared:
        none = Agreement(np.nan, np.nan, np.nan, 0, 0, "no comparison has two judges yet, excluded ones not counted")
        return {criterion.question: none for criterion in study.criteria}
    agreement = {}
    for criterion in study.criteria:
        matrix = np.full((len(shared), max(map(len, shared.values()))), np.nan)
        for row, judged in enumerate(shared.values()):
            for column, (response, *places) in enumerate(judged):
                texts = len(study.by_id[response.task].texts)
                matrix[row, column] = criterion.kind.vote(response.answers[criterion.id], texts, *places)
        items = [pair[0] for pair in shared]
        agreement[criterion.question] = agreements(matrix, items=items)["pairwise"]
    return agreement
