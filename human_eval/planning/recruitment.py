"""From a number of comparisons to people, minutes and money."""

from __future__ import annotations

import math

from pydantic import Field
from pydantic.dataclasses import dataclass

from human_eval.formatting import counted, percentage
from human_eval.minutes import A_TASK
from rlsum.errors import UserError

ROUNDING = 1e-9


@dataclass(frozen=True)
class Effort:
    """What is assumed of people. The fields are options of `plan`.

    Raises pydantic's ValidationError for values out of range.
    """

    attrition: float = Field(default=0.0, ge=0, lt=1)
    """share of people who begin and do not finish, or fail a training round"""
    excluded: float = Field(default=0.0, ge=0, lt=1)
    """share of people who finish and whom the rules will exclude"""
    minutes: float = Field(default=A_TASK, gt=0, allow_inf_nan=False)
    """minutes of a task: an article, two summaries and the answers; `build` prints those of your texts"""
    checks: int = Field(default=5, ge=0)
    """checks for each person, as in `build`"""
    pay: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """pay an hour, in any currency"""
    fee: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """what a platform adds, as a share of the pay, such as 0.33"""

    def __post_init__(self) -> None:
        if self.fee and self.pay is None:
            raise UserError(f"--fee {self.fee:g}: a share of the pay; give --pay, too")


@dataclass(frozen=True)
class Recruitment:
    """Who is needed, on average.

    ``people`` judge a booklet each. ``spare``: further booklets, in place of those of people whom the rules exclude.
    ``begin``: people to recruit. ``tasks`` and ``minutes`` of the longest booklet, checks included. ``hours`` of all
    who finish; ``money`` for them with the fee, None without a pay. All who finish are paid, excluded or not.
    """

    people: int
    spare: int
    begin: int
    tasks: int
    minutes: float
    hours: float
    money: float | None


def recruitment(effort: Effort, comparisons: int, judges: int, booklets: int) -> Recruitment:
    """People, time and money for ``comparisons``, each by so many ``judges``: as many rounds of ``booklets``."""
    people = judges * booklets
    finish = _up(people / (1 - effort.excluded))
    tasks = _up(comparisons / booklets) + effort.checks
    hours = finish * (comparisons / booklets + effort.checks) * effort.minutes / 60
    money = None if effort.pay is None else hours * effort.pay * (1 + effort.fee)
    begin = _up(finish / (1 - effort.attrition))
    return Recruitment(people, finish - people, begin, tasks, tasks * effort.minutes, hours, money)


def in_words(effort: Effort, needed: Recruitment) -> str:
    """People, minutes and money in sentences."""
    people = counted(needed.people, "person", "people")
    work = f"{counted(needed.tasks, 'task')} for each, {effort.checks} of them checks"
    text = f"{people}: at most {work}, about {needed.minutes:.0f} minutes at {effort.minutes:g} a task"
    if needed.spare:
        text += (
            f". If the rules exclude {percentage(effort.excluded)}, {counted(needed.spare, 'spare booklet')} for others"
        )
    if needed.begin > needed.people:
        left = f", since {percentage(effort.attrition)} do not finish" if effort.attrition else ""
        text += f". To recruit: {counted(needed.begin, 'person', 'people')}{left}"
    text += f". Judging: {needed.hours:,.1f} hours"
    if needed.money is not None:
        fee = f" and a fee of {percentage(effort.fee)}" if effort.fee else ""
        text += f", which cost {needed.money:,.2f} at {effort.pay:g} an hour{fee}"
    return text


def _up(number: float) -> int:
    return math.ceil(number - ROUNDING)
