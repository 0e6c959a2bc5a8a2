"""Attention checks: tasks whose right answer is known. Making them, adding them to a booklet, marking the answers."""

from __future__ import annotations

import operator
import random
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import islice, pairwise
from typing import Literal
from unicodedata import category

import numpy as np

from human_eval.answers import LEFT, NONE, RIGHT, AnswerKind
from human_eval.design.outputs import AlignedOutputs
from human_eval.study import StudyError, TaskKey

CheckKind = Literal["identical", "shuffled"]
Scores = Mapping[str, Sequence[float]]  # criterion -> score of each summary, as they are shown

CAREFUL_ERROR = 0.05  # share of checks that a careful judge fails
CAREFUL_LOST = 0.05  # share of careful judges whom the rule may exclude, at most
KEPT = 0.05  # share of judges clicking at random whom checks should let pass, at most
SHUFFLED_WORDS = 8  # fewer different words may still read well in another order
KNOWN = 3  # pairs of neighbouring words of a readable text that its article has, and its shuffled words do not
TRIES = 100  # orders to try
SHUFFLED_NEEDS = f"an output of {SHUFFLED_WORDS} different words with {KNOWN} pairs of neighbours that its article has"
# Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer; Han and kana with their punctuation.
RANGES = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fff\u3001-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
RANGES += "\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff"
MARKS = "".join(mark for mark in map(chr, (*range(0x0E00, 0x17FF), 0x3099, 0x309A)) if category(mark)[0] == "M")
UNSPACED = re.compile(f"[{RANGES}][{MARKS}]*")
UNIT = re.compile(rf"{UNSPACED.pattern}|[^\s{RANGES}]+")  # what is shuffled: such a character, or a word


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


def error_rates(counts: Mapping[str, int], kinds: Sequence[AnswerKind], texts: int) -> ErrorRates:
    """The error rates of ``counts`` (kind of check -> number) under `most_failures`.

    ``kinds``: of the answers to each criterion; ``texts``: the summaries of a task. A clicker draws each answer with
    the same probability for every criterion. Which side of a shuffled check is readable is random.
    """
    better, tied, equal, constant = np.array([kind.clicks(texts) for kind in kinds]).T
    random = {
        "identical": float(equal.prod()),
        "shuffled": float((better + tied).prod() - tied.prod()),
        "swapped": float((1 - 2 * better**2).prod()),
    }
    allowed = most_failures(sum(counts.values()))

    def kept(passing: Mapping[str, float]) -> float:
        failing = [1 - passing[kind] for kind, number in counts.items() for _ in range(number)]
        failures = reduce(np.convolve, ([1 - share, share] for share in failing), np.ones(1))
        return float(failures[: allowed + 1].sum())

    none = {"identical": 1.0, "shuffled": 0.0, "swapped": 1.0}
    left = {"identical": 0.0, "shuffled": float(constant.max()), "swapped": 0.0}
    careful, hasty = (1 - kept(dict.fromkeys(counts, 1 - error)) for error in (CAREFUL_ERROR, 2 * CAREFUL_ERROR))
    return ErrorRates(kept(random), kept(none), kept(left), careful, hasty)


@dataclass(frozen=True)
class Draft:
    """A task without id and position: its texts and its systems."""

    item: str
    texts: tuple[str, ...]
    key: TaskKey


def with_checks(
    outputs: AlignedOutputs,
    drafts: list[Draft],
    sampled: Sequence[str],
    counts: Mapping[str, int],
    texts: int,
    rng: random.Random,
) -> list[tuple[Draft, Draft | None]]:
    """A booklet with ``counts`` (kind -> number) of checks added; with each task the earlier one it repeats, or None.

    ``texts``: the summaries of a task. Checks of a kind are on different articles.

    Raises StudyError where too few outputs are suitable for checks.
    """
    booklet: list[tuple[Draft, Draft | None]] = [(draft, None) for draft in drafts]
    used = {draft.item for draft in drafts}
    kinds: tuple[CheckKind, ...] = ("identical", "shuffled")
    for kind in kinds:
        taken: set[str] = set()
        for _ in range(counts[kind]):
            check = _check(kind, outputs, used, taken, sampled, texts, rng)
            used.add(check.item)
            taken.add(check.item)
            booklet.insert(rng.randint(min(1, len(booklet)), len(booklet)), (check, None))
    early = drafts[: (len(drafts) + 1) // 2]
    for draft in rng.sample(early, min(counts["swapped"], len(early))):
        position = next(number for number, (placed, _) in enumerate(booklet) if placed is draft)
        earliest = max(position + 1, (len(booklet) + position) // 2)
        key = TaskKey(draft.key.pair, draft.key.right, draft.key.left, "swapped")
        repeat = Draft(draft.item, draft.texts[::-1], key)
        booklet.insert(rng.randint(earliest, len(booklet)), (repeat, draft))
    return booklet


def _check(
    kind: CheckKind,
    outputs: AlignedOutputs,
    used: Collection[str],
    taken: Collection[str],
    sampled: Sequence[str],
    texts: int,
    rng: random.Random,
) -> Draft:
    """A check on an article that is not judged, else on one new in this booklet, else on one without such a check."""
    judged = set(sampled)
    spare = [item for item in outputs.articles if item not in judged and item not in used]
    new = [item for item in sampled if item not in used]
    for pool in (spare, new, sorted(outputs.articles.keys() - set(taken))):
        for item in rng.sample(pool, len(pool)):
            for system in rng.sample(outputs.systems, len(outputs.systems)):
                if draft := _check_on(kind, item, system, outputs, texts, rng):
                    return draft
    needs = SHUFFLED_NEEDS if kind == "shuffled" else "an output with words"
    raise StudyError(
        f"--{kind} {len(taken) + 1}: every such check of a booklet needs an article of its own with {needs}, and only "
        f"{len(taken)} can be found; give --{kind} {len(taken)}, or more outputs"
    )


def _check_on(
    kind: CheckKind, item: str, system: str, outputs: AlignedOutputs, texts: int, rng: random.Random
) -> Draft | None:
    """A check with a system's text: the same text in every place, or the text beside its shuffled words.

    Further texts beside shuffled words are those of other systems.
    """
    candidates, article = outputs.candidates[item], outputs.articles[item]
    text = candidates[system]
    if kind == "identical" and text.strip():
        more = (system,) * (texts - 2)
        key = TaskKey((system, system), system, system, kind, expected=NONE, more=more)
        return Draft(item, (text,) * texts, key)
    if kind == "shuffled" and can_be_shuffled(text, article) and (mixed := shuffled(text, article, rng)):
        readable = rng.choice((LEFT, RIGHT))
        both = [text, mixed] if readable == LEFT else [mixed, text]
        shown, written = [system, system], both
        for further in rng.sample([name for name in candidates if name != system], texts - 2):
            place = rng.randint(0, len(shown))
            shown.insert(place, further)
            written.insert(place, candidates[further])
        key = TaskKey((system, system), shown[0], shown[1], kind, expected=readable, more=tuple(shown[2:]))
        return Draft(item, tuple(written), key)
    return None


def shuffled(text: str, article: str, rng: random.Random) -> str:
    """``text`` with its words in another order, in place of one another, so that lines and spaces stay.

    Where a script has no spaces between words, its characters are shuffled. At least half of the places have another
    word than before, and `KNOWN` fewer neighbours are those of the article; "" if that cannot be.
    """
    before, known = UNIT.findall(text), _neighbours(article)
    most, mixed = len(_neighbours(text) & known) - KNOWN, list(before)
    for _ in range(TRIES):
        rng.shuffle(mixed)
        if 2 * sum(map(operator.ne, mixed, before)) >= len(before) and len(_pairs(mixed) & known) <= most:
            break
    else:
        return ""
    rest = iter(mixed)
    return UNIT.sub(lambda _: next(rest), text)


@lru_cache(2**16)  # every booklet asks again
def can_be_shuffled(text: str, article: str) -> bool:
    """Whether a reader would notice another order of the words: they do not repeat, and `KNOWN` neighbours or more are
    those of the article, which a reader has beside them.

    Two characters count as a word where a script has no spaces, and punctuation counts as none.
    """
    units = UNIT.findall(text)
    words = [unit for unit in set(units) if any(map(str.isalnum, unit))]
    alone = sum(UNSPACED.match(unit) is not None for unit in words)
    if len(words) - alone / 2 < SHUFFLED_WORDS or 2 * max(Counter(units).values()) > len(units):
        return False
    neighbours = _neighbours(text)
    return 2 * len(neighbours) >= len(units) and len(neighbours & _neighbours(article)) >= KNOWN


@lru_cache(2**10)
def _neighbours(text: str) -> frozenset[tuple[str, str]]:
    return _pairs(UNIT.findall(text))


def _pairs(units: Sequence[str]) -> frozenset[tuple[str, str]]:
    """The different pairs of words beside each other, whatever their case."""
    return frozenset(pairwise(unit.casefold() for unit in units))


def articles_to_shuffle(outputs: AlignedOutputs, most: int) -> int:
    """How many articles have an output that can be shuffled, counted up to ``most``."""
    suitable = (
        item
        for item, texts in outputs.candidates.items()
        if any(can_be_shuffled(text, outputs.articles[item]) for text in texts.values())
    )
    return sum(1 for _ in islice(suitable, most))


def passed(key: TaskKey, scores: Scores, earlier: Scores | None = None) -> bool | None:
    """Whether the answers to a check are those of an attentive judge; None where this cannot be decided.

    ``scores``: criterion -> score of each summary. identical: all are equal in every criterion. shuffled: the readable
    text is better than its shuffled words in at least one criterion and worse in none; some criteria (redundancy) do
    not depend on word order. swapped: no criterion prefers the same side as in ``earlier``, the judge's answers to the
    repeated task; a change from or to no difference passes.
    """
    if key.kind == "identical":
        return all(len(set(row)) == 1 for row in scores.values())
    if key.kind == "shuffled":
        first, second = (place for place, system in enumerate(key.shown) if key.shown.count(system) > 1)
        signs = {np.sign(row[second] - row[first]) for row in scores.values()}
        return signs - {0} == {-1 if key.expected == LEFT else 1}
    if key.kind == "swapped" and earlier is not None:
        return all((row[1] - row[0]) * (earlier[name][1] - earlier[name][0]) <= 0 for name, row in scores.items())
    return None
