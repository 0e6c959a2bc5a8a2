"""Small studies for tests of the judging app, and its pages without a server."""

from __future__ import annotations

import re
from html import unescape

from human_eval.collection.responses import Response
from human_eval.collection.store import ResponseStore
from human_eval.study import Criterion, PracticeTask, Study, StudyKey, Task, TaskKey, Training

ORIGIN = "http://judge.test"
ASKED = (
    Criterion("focus", "Which summary keeps to what matters?", "Side issues are a loss."),
    Criterion("overall", "Which summary is better?", ""),
)


PRACTICE = (
    PracticeTask("The practice article.", "It is good.", "bad bad", {"overall": ("left",)}, "B repeats itself."),
    PracticeTask("Another one.", "The same.", "The same.", {"focus": ("none",), "overall": ("none",)}),
)
TRAINING = Training(PRACTICE, pass_mark=0.6, attempts=2)
ANSWERS = {"focus": "left", "overall": "none"}


class Clock:
    """A time that moves only when told."""

    def __init__(self, at=1_700_000_000.0):
        self.at = at

    def __call__(self):
        return self.at


def make_study(booklets=2, items=3, texts=None, article="An article about a storm.\nIt had two lines.", **changes):
    """``booklets`` of the same items; left and right change places from booklet to booklet.

    ``texts``: (left, right) of each item; the default names the task's item in both.
    """
    texts = texts or [(f"First summary of {number}.", f"Second summary of {number}.") for number in range(items)]
    tasks = []
    for booklet in range(booklets):
        for position, (left, right) in enumerate(texts):
            sides = (left, right) if booklet % 2 == 0 else (right, left)
            tasks.append(Task(f"t{booklet}-{position}", f"i{position}", booklet, position, *sides))
    articles = {f"i{position}": article for position in range(len(texts))}
    values = {"title": "A study", "instructions": "Read both.", "criteria": ASKED, **changes}
    return Study("study-1", judges_per_item=booklets, articles=articles, tasks=tuple(tasks), **values)


def make_key(study, systems=("alpha-system", "beta-system"), checks=None):
    """First summaries are of the first system. ``checks``: position -> (kind, expected)."""
    tasks = {}
    for task in study.tasks:
        kind, expected = (checks or {}).get(task.position, ("pair", None))
        sides = systems if task.booklet % 2 == 0 else systems[::-1]
        tasks[task.id] = TaskKey(systems, *sides, kind=kind, expected=expected)
    return StudyKey(study.id, 0, systems, None, {item: item for item in study.articles}, tasks)


def given(judge: str, task: str, answers: dict[str, str], comment: str, seconds: float) -> Response:
    """What the page makes of a form that a judge sent."""
    return Response("study", task, judge, answers, comment, seconds)


def make_store(path, study, **options):
    return ResponseStore(path / "judging.sqlite", study, **options)


def token_of(response):
    """The token in the form of a page."""
    return unescape(re.search(r'name="token" value="([^"]+)"', response.text)[1])


def answers(*sides, **more):
    """Fields of an item's form."""
    return {**{f"answer-{place}": side for place, side in enumerate(sides)}, **more}
