"""Aligned outputs -> a blind study and its key. Everything random comes from one seed."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Literal

from human_eval.blindness import named_in
from human_eval.criteria import DEFAULT, INSTRUCTIONS, TITLE
from human_eval.design import balance, checks
from human_eval.design.outputs import Aligned, check_unicode
from human_eval.study import Answer, Criterion, Key, Secret, Study, StudyError, Task, Tie
from human_eval.wording import counted

Pair = tuple[str, str]
Unit = tuple[str, Pair]  # a pair on an item
CHECK_KINDS: tuple[Literal["identical", "shuffled"], ...] = ("identical", "shuffled")
SIDES: tuple[Answer, Answer] = ("left", "right")


@dataclass(frozen=True)
class Wording:
    """What judges read beside the texts."""

    title: str = TITLE
    instructions: str = INSTRUCTIONS
    criteria: tuple[Criterion, ...] = DEFAULT


@dataclass(frozen=True)
class Design:
    """``items``: articles sampled; ``baseline``: compared with each other system, None compares all with all;
    ``judges``: of each pair on each item; ``booklet``: most pairs that one judge gets, checks not counted;
    ``identical``, ``shuffled``, ``swapped``: checks in each booklet.
    """

    items: int = 100
    baseline: str | None = None
    judges: int = 3
    booklet: int = 20
    identical: int = 1
    shuffled: int = 1
    swapped: int = 1


@dataclass(frozen=True)
class _Draft:
    """A task before it has an id and a place: texts, and what they are."""

    item: str
    left: str
    right: str
    secret: Secret


def build(aligned: Aligned, design: Design, wording: Wording, seed: int) -> tuple[Study, Key]:
    """The study and its key; the same arguments give the same. Raises StudyError where the design cannot be met."""
    pairs = pairs_of(aligned.systems, design.baseline)
    _check(aligned, design, wording)
    rng = random.Random(seed)
    sampled = rng.sample(sorted(aligned.articles), design.items)
    comparisons, ties = _comparisons(aligned, sampled, pairs)
    if not comparisons:
        raise StudyError(
            "the systems wrote the same about every sampled item: there is nothing to judge; give outputs that differ"
        )
    booklets = _booklets(comparisons, design, rng)
    drafts = [_shown(aligned, units, lefts) for units, lefts in zip(booklets, _sides(booklets, rng), strict=True)]
    checked = [_with_checks(aligned, drafted, sampled, design, rng) for drafted in drafts]
    return _blind(aligned, checked, ties, design, wording, seed)


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[Pair]:
    """The baseline with each other system, or all pairs."""
    if baseline is None:
        return list(combinations(systems, 2))
    if baseline not in systems:
        raise StudyError(f"--baseline {baseline}: no such system; the outputs are of {', '.join(systems)}")
    return [(baseline, system) for system in systems if system != baseline]


def _check(aligned: Aligned, design: Design, wording: Wording) -> None:
    least = {"items": 1, "judges": 1, "booklet": 1, "identical": 0, "shuffled": 0, "swapped": 0}
    for name, lowest in least.items():
        if getattr(design, name) < lowest:
            raise StudyError(f"--{name} {getattr(design, name)}: expected {lowest} or more")
    if design.items > len(aligned.articles):
        there = counted(len(aligned.articles), "article")
        raise StudyError(
            f"--items {design.items}: there is an output of every system for {there}; "
            f"give --items {len(aligned.articles)} or less, or more outputs"
        )
    asked = [text for criterion in wording.criteria for text in (criterion.id, criterion.question, criterion.help)]
    told = " ".join([wording.title, wording.instructions, *asked])
    check_unicode("the wording", told)
    if wording != Wording() and (named := named_in(told, aligned.systems)):
        raise StudyError(f"the wording names the system {named[0]!r}: judges must not know it; reword, or rename it")


def _comparisons(aligned: Aligned, sampled: Sequence[str], pairs: Sequence[Pair]) -> tuple[list[Unit], list[Unit]]:
    """Pairs on items to be judged, and those where both systems wrote the same."""
    comparisons: list[Unit] = []
    ties: list[Unit] = []
    for item in sampled:
        texts = aligned.candidates[item]
        for pair in pairs:
            same = texts[pair[0]].split() == texts[pair[1]].split()  # spaces and lines are no difference to judge
            (ties if same else comparisons).append((item, pair))
    return comparisons, ties


def _booklets(comparisons: Sequence[Unit], design: Design, rng: random.Random) -> list[list[Unit]]:
    """Each comparison once in each of ``judges`` rounds; a round is dealt out to booklets of like size.

    Dealing item by item keeps pairs of one item apart: a summary that a judge sees twice is known for the baseline's.
    """
    count = -(-len(comparisons) // design.booklet)
    booklets = []
    for _ in range(design.judges):
        places = {item: rng.random() for item, _ in comparisons}
        dealt = sorted(rng.sample(comparisons, len(comparisons)), key=lambda unit: places[unit[0]])
        booklets += [rng.sample(hand, len(hand)) for hand in (dealt[start::count] for start in range(count))]
    return booklets


def _sides(booklets: Sequence[Sequence[Unit]], rng: random.Random) -> list[list[bool]]:
    units = [(unit, number) for number, booklet in enumerate(booklets) for unit in booklet]
    sides = iter(
        balance.first_left([unit for unit, _ in units], [unit[1] for unit, _ in units], [n for _, n in units], rng)
    )
    return [[next(sides) for _ in booklet] for booklet in booklets]


def _shown(aligned: Aligned, units: Sequence[Unit], lefts: Sequence[bool]) -> list[_Draft]:
    drafts = []
    for (item, pair), first_left in zip(units, lefts, strict=True):
        left, right = pair if first_left else pair[::-1]
        texts = aligned.candidates[item]
        drafts.append(_Draft(item, texts[left], texts[right], Secret(pair, left, right)))
    return drafts


def _with_checks(
    aligned: Aligned, drafts: Sequence[_Draft], sampled: Sequence[str], design: Design, rng: random.Random
) -> list[tuple[_Draft, _Draft | None]]:
    """The booklet with its checks put in; beside each task the earlier one that it repeats, or None."""
    shown: list[tuple[_Draft, _Draft | None]] = [(draft, None) for draft in drafts]
    used = {draft.item for draft in drafts}
    for kind in CHECK_KINDS:
        for _ in range(getattr(design, kind)):
            check = _check_of(kind, aligned, used, sampled, rng)
            used.add(check.item)
            shown.insert(rng.randint(min(1, len(shown)), len(shown)), (check, None))
    early = drafts[: (len(drafts) + 1) // 2]
    for draft in rng.sample(early, min(design.swapped, len(early))):
        place = next(number for number, (there, _) in enumerate(shown) if there is draft)
        later = max(place + 1, (len(shown) + place) // 2)
        secret = Secret(draft.secret.pair, draft.secret.right, draft.secret.left, "swapped")
        repeat = _Draft(draft.item, draft.right, draft.left, secret)
        shown.insert(rng.randint(later, len(shown)), (repeat, draft))
    return shown


def _check_of(
    kind: Literal["identical", "shuffled"], aligned: Aligned, used: set[str], sampled: Sequence[str], rng: random.Random
) -> _Draft:
    """A check on an article that nobody judges, else on one that is new in this booklet, else on any.

    Raises StudyError where no output at all will do.
    """
    judged = set(sampled)
    spare = [item for item in aligned.articles if item not in judged and item not in used]
    new = [item for item in sampled if item not in used]
    for pool in (spare, new, sorted(aligned.articles)):
        for item in rng.sample(pool, len(pool)):
            for system in rng.sample(aligned.systems, len(aligned.systems)):
                if draft := _check_on(kind, item, system, aligned.candidates[item][system], rng):
                    return draft
    raise StudyError(f"no output is long enough for a check ({kind}); turn it off with --{kind} 0")


def _check_on(
    kind: Literal["identical", "shuffled"], item: str, system: str, text: str, rng: random.Random
) -> _Draft | None:
    """The check that a text is good for, if any."""
    if kind == "identical" and text.strip():
        return _Draft(item, text, text, Secret((system, system), system, system, kind, expected="none"))
    if kind == "shuffled" and checks.can_be_shuffled(text):
        mixed = checks.shuffled(text, rng)
        readable: Answer = rng.choice(SIDES)
        left, right = (text, mixed) if readable == "left" else (mixed, text)
        return _Draft(item, left, right, Secret((system, system), system, system, kind, expected=readable))
    return None


def _blind(
    aligned: Aligned,
    booklets: Sequence[Sequence[tuple[_Draft, _Draft | None]]],
    ties: Sequence[Unit],
    design: Design,
    wording: Wording,
    seed: int,
) -> tuple[Study, Key]:
    """Opaque ids for everything; texts go into the study, what they are into the key."""
    name = _Names(seed, [asdict(aligned), asdict(design), asdict(wording)])
    tasks: list[Task] = []
    secrets: dict[str, Secret] = {}
    for number, booklet in enumerate(booklets):
        made: dict[int, str] = {}
        for position, (draft, repeated) in enumerate(booklet):
            task = name("t", number, position)
            made[id(draft)] = task
            tasks.append(Task(task, name("i", draft.item), number, position, draft.left, draft.right))
            secrets[task] = replace(draft.secret, repeats=made[id(repeated)] if repeated else None)
    shown = {draft.item for booklet in booklets for draft, _ in booklet}
    articles = {name("i", item): aligned.articles[item] for item in shown}
    items = {name("i", item): item for item in shown | {item for item, _ in ties}}
    study = Study(
        id=name("s"),
        title=wording.title,
        instructions=wording.instructions,
        criteria=wording.criteria,
        judges_per_item=design.judges,
        articles=dict(sorted(articles.items())),
        tasks=tuple(tasks),
    )
    key = Key(
        study=study.id,
        seed=seed,
        systems=aligned.systems,
        baseline=design.baseline,
        items=dict(sorted(items.items())),
        tasks=secrets,
        ties=tuple(Tie(name("i", item), pair) for item, pair in ties),
    )
    return study, key


class _Names:
    """Ids that say nothing and come out the same for the same seed and study: a keyed hash of what they stand for.

    The first is a letter, so that no spreadsheet takes an id for a number.
    """

    def __init__(self, seed: int, made_of: object) -> None:
        self._key = hashlib.blake2b(json.dumps([seed, made_of]).encode(), digest_size=32).digest()

    def __call__(self, letter: str, *names: str | int) -> str:
        content = json.dumps([letter, *names]).encode()
        return letter + hashlib.blake2b(content, key=self._key, digest_size=7).hexdigest()
