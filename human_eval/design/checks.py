"""Attention checks: tasks whose right answer is known. Making them, adding them to a booklet, marking the answers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np

from human_eval.design.outputs import AlignedOutputs
from human_eval.study import Answer, StudyError, TaskKey

CheckKind = Literal["identical", "shuffled"]

CAREFUL_ERROR = 0.05  # share of checks that a careful judge fails
CAREFUL_LOST = 0.05  # most careful judges whom the rule may exclude
KEPT = 0.05  # most judges who click at random whom checks should let pass
SHUFFLED_WORDS = 8  # fewer different words may still read well in another order


def most_failures(checks: int) -> int:
    """The most failures of a judge who is kept: careful judges (`CAREFUL_ERROR`) exceed it with `CAREFUL_LOST` or less.

    No rule can keep the rate with a single check, so at least one failure is always allowed.
    """
    from scipy.stats import binom  # would delay the start of the app

    failures = next(n for n in range(checks + 1) if binom.sf(n, checks, CAREFUL_ERROR) <= CAREFUL_LOST)
    return max(1, failures)


@dataclass(frozen=True)
class ErrorRates:
    """What the checks of a booklet do to judges, as probabilities.

    Kept although they do not read: who clicks at ``random``, always answers ``none`` (no difference), or always
    ``left``. Excluded although careful: who errs in 5% of the checks, ``careful``, or in 10%, ``hasty``.
    """

    random: float
    none: float
    left: float
    careful: float
    hasty: float


def error_rates(counts: Mapping[str, int], criteria: int) -> ErrorRates:
    """The error rates of ``counts`` (kind -> number) of checks for a number of ``criteria``, under `most_failures`.

    A clicker draws each of three answers with the same probability for every criterion. Which side of a shuffled check
    is readable is random.
    """
    random = {
        "identical": 3.0**-criteria,
        "shuffled": (2 / 3) ** criteria - 3.0**-criteria,
        "swapped": (7 / 9) ** criteria,  # 2 of 9 pairs of answers are the same side twice
    }
    allowed = most_failures(sum(counts.values()))

    def kept(passing: Mapping[str, float]) -> float:
        failing = [1 - passing[kind] for kind, number in counts.items() for _ in range(number)]
        failures = reduce(np.convolve, ([1 - share, share] for share in failing), np.ones(1))
        return float(failures[: allowed + 1].sum())

    none = {"identical": 1.0, "shuffled": 0.0, "swapped": 1.0}
    left = {"identical": 0.0, "shuffled": 0.5, "swapped": 0.0}
    careful, hasty = (1 - kept(dict.fromkeys(counts, 1 - error)) for error in (CAREFUL_ERROR, 2 * CAREFUL_ERROR))
    return ErrorRates(kept(random), kept(none), kept(left), careful, hasty)


@dataclass(frozen=True)
class Draft:
    """A task without id and position: its texts and its systems."""

    item: str
    left: str
    right: str
    key: TaskKey


def with_checks(
    outputs: AlignedOutputs, drafts: list[Draft], sampled: Sequence[str], counts: Mapping[str, int], rng: random.Random
) -> list[tuple[Draft, Draft | None]]:
    """A booklet with ``counts`` (kind -> number) of checks added; with each task the earlier one it repeats, or None.

    Raises StudyError where no output is suitable for a check.
    """
    booklet: list[tuple[Draft, Draft | None]] = [(draft, None) for draft in drafts]
    used = {draft.item for draft in drafts}
    kinds: tuple[CheckKind, ...] = ("identical", "shuffled")
    for kind in kinds:
        for _ in range(counts[kind]):
            check = _check(kind, outputs, used, sampled, rng)
            used.add(check.item)
            booklet.insert(rng.randint(min(1, len(booklet)), len(booklet)), (check, None))
    early = drafts[: (len(drafts) + 1) // 2]
    for draft in rng.sample(early, min(counts["swapped"], len(early))):
        position = next(number for number, (other, _) in enumerate(booklet) if other is draft)
        earliest = max(position + 1, (len(booklet) + position) // 2)
        key = TaskKey(draft.key.pair, draft.key.right, draft.key.left, "swapped")
        repeat = Draft(draft.item, draft.right, draft.left, key)
        booklet.insert(rng.randint(earliest, len(booklet)), (repeat, draft))
    return booklet


def _check(
    kind: CheckKind, outputs: AlignedOutputs, used: set[str], sampled: Sequence[str], rng: random.Random
) -> Draft:
    """A check on an article that is not judged, else on one that is new in this booklet, else on any."""
    judged = set(sampled)
    spare = [item for item in outputs.articles if item not in judged and item not in used]
    new = [item for item in sampled if item not in used]
    for pool in (spare, new, sorted(outputs.articles)):
        for item in rng.sample(pool, len(pool)):
            for system in rng.sample(outputs.systems, len(outputs.systems)):
                if draft := _check_on(kind, item, system, outputs.candidates[item][system], rng):
                    return draft
    raise StudyError(f"no output is suitable for a check of kind {kind!r}; turn it off with --{kind} 0")


def _check_on(kind: CheckKind, item: str, system: str, text: str, rng: random.Random) -> Draft | None:
    if kind == "identical" and text.strip():
        return Draft(item, text, text, TaskKey((system, system), system, system, kind, expected=Answer.NONE))
    if kind == "shuffled" and can_be_shuffled(text):
        mixed = shuffled(text, rng)
        readable = rng.choice((Answer.LEFT, Answer.RIGHT))
        left, right = (text, mixed) if readable == Answer.LEFT else (mixed, text)
        return Draft(item, left, right, TaskKey((system, system), system, system, kind, expected=readable))
    return None


def shuffled(text: str, rng: random.Random) -> str:
    """``text`` with its words in another order, and as many words on each line as before.

    The text must have two different words or more (see `can_be_shuffled`).
    """
    words = text.split()
    mixed = list(words)
    while mixed == words:
        rng.shuffle(mixed)
    rest = iter(mixed)
    return "\n".join(" ".join(next(rest) for _ in line.split()) for line in text.splitlines() if line.split())


def can_be_shuffled(text: str) -> bool:
    """Whether a reader would notice another order of the words."""
    return len(set(text.split())) >= SHUFFLED_WORDS


def passed(key: TaskKey, answers: Mapping[str, str], earlier: Mapping[str, str] | None = None) -> bool | None:
    """Whether the answers to a check are those of an attentive judge; None where this cannot be decided.

    identical: no difference in every criterion. shuffled: the readable text wins at least one criterion and loses none;
    some criteria (redundancy) do not depend on word order. swapped: no criterion has the same side in ``earlier``, the
    judge's answers to the repeated task; a change from or to no difference passes.
    """
    if key.kind == "identical":
        return all(answer == Answer.NONE for answer in answers.values())
    if key.kind == "shuffled":
        return set(answers.values()) - {Answer.NONE} == {key.expected}
    if key.kind == "swapped" and earlier is not None:
        return all(answer == Answer.NONE or answer != earlier.get(name) for name, answer in answers.items())
    return None
