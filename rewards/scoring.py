"""What every reward class shares: checked call arguments, the loop over items, and the signature's text.

The rules of the house, in one place: a candidate with nothing to score gets the reward's floor; an item none of whose
references can be scored is NaN, with a reason; so an empty output never escapes into an undefined score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from rewards.errors import RewardError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Nothing = Callable[[str], str | None]  # why a text cannot be scored; None = it can

VERSION = "1"  # raised when a score of this package changes for the same texts and options


def checked_references(
    name: str,
    candidates: Sequence[str],
    references: Sequence[Sequence[str]] | None,
    sources: Sequence[str] | None = None,
) -> Sequence[Sequence[str]]:
    """The references, one or more for each of ``candidates``.

    Raises RewardError when they are missing, when lengths differ, when a text stands where a list belongs, or something
    else where a text does.
    """
    check_texts(name, candidates, sources)
    if references is None:
        raise RewardError(f"{name} compares with references; give references=[[text, ...], ...], one list a candidate")
    if isinstance(references, str) or any(isinstance(item, str) for item in references):
        raise RewardError(f"{name}: references must hold a list of texts for each candidate, not plain texts")
    if len(references) != len(candidates):
        raise RewardError(f"{name}: {len(candidates)} candidates but {len(references)} lists of references")
    for position, listed in enumerate(references):
        wrong = [text for text in listed if not isinstance(text, str)]
        if wrong:
            raise RewardError(
                f"{name}: item {position} has the reference {wrong[0]!r}, which is not text; leave it out"
            )
    return references


def check_texts(name: str, candidates: Sequence[str], sources: Sequence[str] | None) -> None:
    """Raise RewardError unless candidates are texts and sources, where given, match them in number."""
    if isinstance(candidates, str):
        raise RewardError(f"{name}: candidates must be a list of texts, not one text; write [text]")
    wrong = [position for position, text in enumerate(candidates) if not isinstance(text, str)]
    if wrong:
        raise RewardError(f"{name}: candidate {wrong[0]} is {candidates[wrong[0]]!r}, not text")
    if sources is not None and len(sources) != len(candidates):
        raise RewardError(f"{name}: {len(candidates)} candidates but {len(sources)} sources")


def score_items(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    nothing: Nothing,
    best: Callable[[str, list[str]], float],
    floor: float,
) -> NDArray[np.float64]:
    """One score a candidate, ``(n,)``: NaN, the floor, or ``best(candidate, the references that can be scored)``."""
    scores = np.full(len(candidates), np.nan)
    for row, (candidate, texts) in enumerate(zip(candidates, references, strict=True)):
        usable = [text for text in texts if nothing(text) is None]
        if usable:
            scores[row] = floor if nothing(candidate) is not None else best(candidate, usable)
    return scores


def undefined_reason(references: Sequence[str] | None, nothing: Nothing) -> str | None:
    """Why an item with these references is NaN, or None when it is defined."""
    if not references:
        return "it has no reference"
    reasons = [nothing(text) for text in references]
    if any(reason is None for reason in reasons):
        return None
    return f"its reference {reasons[0]}"


def signature(name: str, **fields: object) -> str:
    """``name|field:value|...|version:1`` in the manner of sacreBLEU; booleans as yes / no."""
    shown = {key: ("yes" if value else "no") if isinstance(value, bool) else value for key, value in fields.items()}
    return "|".join([name, *(f"{key}:{value}" for key, value in shown.items()), f"version:{VERSION}"])


def library(package: str) -> str:
    """The installed version of a library, for signatures; reads package metadata, imports nothing."""
    return f"{package}-{version(package)}"
