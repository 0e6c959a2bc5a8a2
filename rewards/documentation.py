"""The description of a reward: what its docstrings say, and its options as they are declared."""

from __future__ import annotations

import inspect
import math
import re
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rewards.base import TABLE, is_reward, resolve
from rewards.options import bounds, choices, meanings, metadata, parameters


@dataclass(frozen=True)
class Option:
    """An option of a reward.

    ``default``: as written, ``...`` where it is required. ``choices``, ``range``: what it may be, such as ``>= 0``;
    empty where the type says no more. ``meaning``: the string under its field.
    """

    default: str
    choices: tuple[str, ...]
    meaning: str
    range: str = ""


@dataclass(frozen=True)
class Description:
    """A reward and its ``options`` with their defaults (``...``: required).

    ``text``: what it computes. ``scores``: what a call returns (range, empty candidate, NaN). ``source``: the paper or
    code. ``explained``: each option in full. ``written``: an example with ``example`` of the class or of
    the dataclass of its options, else with the required options, ``...`` for a value.
    """

    name: str
    summary: str
    options: dict[str, str]
    text: str
    scores: str
    source: str
    explained: dict[str, Option]
    written: str

    def __repr__(self) -> str:
        options = [f"  {key}={option.default}: {option.meaning}" for key, option in self.explained.items()]
        return "\n".join([f"{self.name}: {self.summary}", *options])


def describe(name: str) -> Description:
    """The description of a reward for ``rlsum rewards``. Imports its module and loads no model."""
    target = resolve(name)
    documentation = inspect.getdoc(target) or ""
    explained = {} if is_reward(target) else _options(name, target)
    required = ", ".join(f"{key}=..." for key, option in explained.items() if option.default == "...")
    inside = getattr(getattr(target, "options", target), "example", required)
    return Description(
        name,
        flowing(documentation.partition("\n\n")[0]),
        {key: option.default for key, option in explained.items()},
        flowing(documentation),
        _scores(target),
        inspect.getdoc(sys.modules[target.__module__]) or "",
        explained,
        f"{name}({inside})" if inside else name,
    )


def stated_range(name: str) -> tuple[float, float]:
    """Lowest and highest score of a reward of this package by its description; infinite where that has no numbers."""
    stated = re.search(r"in \[(-?\d+), (-?\d+)\]", _scores(resolve(name))) if name in TABLE else None
    return (float(stated[1]), float(stated[2])) if stated else (-math.inf, math.inf)


def flowing(documentation: str) -> str:
    """Paragraphs as one line each, without the marks of code."""
    paragraphs = re.split(r"\n\s*\n", documentation.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).replace("``", "")


def _options(name: str, target: Any) -> dict[str, Option]:
    kind = getattr(target, "options", target)
    explained = meanings(kind) if inspect.isclass(kind) else {}
    return {
        key: Option(
            "..." if field.default is field.empty else str(field.default).lower(),
            choices(field.annotation),
            explained.get(key, ""),
            bounds(metadata(field.annotation)),
        )
        for key, field in parameters(name, target).items()
    }


def _scores(target: Any) -> str:
    """What a call returns: the docstring of ``scores`` (or ``__call__``) of the class, or of what a function builds."""
    built = target
    if inspect.isfunction(target) and not is_reward(target):
        built = typing.get_type_hints(target).get("return")
    call: Callable[..., Any] | None = getattr(built, "scores", getattr(built, "__call__", None))  # noqa: B004
    return "" if call is None or inspect.isfunction(built) else flowing(inspect.getdoc(call) or "")
