"""The time that judging takes, as judges, owners and platforms are told."""

from __future__ import annotations

import math
from collections.abc import Sequence

from human_eval.marks import length
from human_eval.study import Study, Task

WORDS_A_MINUTE = 238  # silent reading of English non-fiction, the mean over adults (Brysbaert 2019)
SECONDS_A_QUESTION = 10  # assumed
SECONDS_TO_MARK = 60  # the errors of the summaries of a task; assumed
A_TASK = 4.0  # a news article of 650 words, two summaries of 55 and four questions, by these numbers


def minutes(study: Study, tasks: Sequence[Task]) -> int:
    """Minutes to read the articles and summaries of ``tasks`` once and to answer; rounded up to 5, or to 1 below 10.

    Chinese and Japanese characters count as words. The estimate is too low for other scripts without spaces.
    """
    words = sum(length(text) for task in tasks for text in (study.articles[task.item], *task.texts))
    choices = sum(len(asked.kind.parts(len(task.texts))) for task in tasks for asked in study.criteria)
    seconds = choices * SECONDS_A_QUESTION + (len(tasks) * SECONDS_TO_MARK if study.marking else 0)
    exact = words / WORDS_A_MINUTE + seconds / 60
    step = 5 if exact > 10 else 1
    return max(1, step * math.ceil(exact / step))
