"""Aligned outputs -> a blind study and its key. One seed determines everything random."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from human_eval.criteria import StudyWording, standard
from human_eval.design import balance
from human_eval.design.blinding import OpaqueIds, named_in
from human_eval.design.checks import Draft, with_checks
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import AlignedOutputs, check_unicode
from human_eval.formatting import counted
from human_eval.study import Criterion, EqualTexts, Pair, Study, StudyError, StudyKey, Task, TaskKey

Unit = tuple[str, tuple[str, ...]]  # the systems compared at once, two or more, on an item

_MOST_BOOKLETS = 10_000  # `serve` makes a link for each


def build(
    outputs: AlignedOutputs,
    design: StudyDesign,
    wording: StudyWording,
    seed: int,
    say: Callable[[str], None] = print,
) -> tuple[Study, StudyKey]:
    """The study and its key, a function of the arguments but ``say``. Raises StudyError for an impossible design."""
    design, notes = design.settled(outputs, wording.criteria)
    for note in notes:
        say(note)
    assert design.items is not None  # settled
    pairs = pairs_of(outputs.systems, design.baseline)
    texts = texts_at_once(outputs.systems, wording.criteria)
    _check(outputs, design, wording, texts)
    rng = random.Random(seed)
    sampled = rng.sample(sorted(outputs.articles), design.items)
    compared = _oriented(outputs.systems, pairs) if texts > 2 else pairs
    units = [(item, pair) for item in sampled for pair in compared]
    ties = [unit for unit in units if _equal(outputs, unit)]
    comparisons: list[Unit] = [unit for unit in units if not _equal(outputs, unit)]
    if texts > 2:  # all systems at once
        comparisons = [(item, _different(outputs, item)) for item in dict.fromkeys(item for item, _ in comparisons)]
    if not comparisons:
        raise StudyError("the systems wrote the same text for every sampled item: nothing to judge; give other outputs")
    booklets = _booklets(comparisons, design, rng)
    drafts = _drafts(outputs, booklets, texts > 2, rng)
    checked = [with_checks(outputs, booklet, sampled, design.checks, texts, rng) for booklet in drafts]
    return _blind(outputs, checked, ties, design, wording, seed)


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[Pair]:
    """The baseline with each other system, or all pairs."""
    if baseline is None:
        return list(combinations(systems, 2))
    if baseline not in systems:
        raise StudyError(f"--baseline {baseline}: no such system; the outputs are of {', '.join(systems)}")
    return [(baseline, system) for system in systems if system != baseline]


def texts_at_once(systems: Sequence[str], criteria: Sequence[Criterion]) -> int:
    """How many summaries a task shows: of all systems if the answers allow it, else two. Raises StudyError."""
    for texts in dict.fromkeys((len(systems), 2)) if criteria else (2,):
        if all(asked.kind.texts[0] <= texts <= asked.kind.texts[1] for asked in criteria):
            return texts
    kinds = ", ".join(sorted({asked.answers for asked in criteria}))
    few = max(asked.kind.texts[0] for asked in criteria)
    raise StudyError(
        f"--answers {kinds}: cannot be asked about {counted(len(systems), 'system')}; give {few} to 5 systems, or "
        "other answers (`pair` for all criteria suits any number)"
    )


def _oriented(systems: Sequence[str], pairs: Sequence[Pair]) -> list[Pair]:
    """All pairs of systems, those of ``pairs`` in their order."""
    return [pair[::-1] if pair[::-1] in pairs else pair for pair in combinations(systems, 2)]


def _different(outputs: AlignedOutputs, item: str) -> tuple[str, ...]:
    """The systems of an item without those that wrote the text of an earlier one."""
    first = {tuple(text.split()): system for system, text in reversed(outputs.candidates[item].items())}
    return tuple(system for system in outputs.systems if system in first.values())


def _check(outputs: AlignedOutputs, design: StudyDesign, wording: StudyWording, texts: int) -> None:
    if texts > 2 and design.swapped:
        raise StudyError(f"--swapped {design.swapped}: only pairs have sides to swap; give 0")
    if design.identical and not all(asked.kind.can_tie(texts) for asked in wording.criteria):
        raise StudyError(f"--identical {design.identical}: these answers cannot call texts equal; give 0")
    criteria = [text for criterion in wording.criteria for text in (criterion.id, criterion.question, criterion.help)]
    asked = [text for about in wording.enrolment.questions for text in (about.question, *about.choices)]
    practice = [task.explanation for task in wording.training.tasks] if wording.training else []
    kinds = wording.marking.categories if wording.marking else ()
    practice += [word for kind in kinds for word in (kind.label, kind.help)]
    text = " ".join([wording.title, wording.instructions, *criteria, wording.enrolment.consent, *asked, *practice])
    check_unicode("the wording", text)
    usual = standard(wording.criteria[0].answers, texts) if wording.criteria else None
    if wording != usual and (named := named_in(text, outputs.systems)):
        raise StudyError(f"the wording names the system {named[0]!r}, which unblinds judges; reword, or rename it")


def _equal(outputs: AlignedOutputs, unit: Unit) -> bool:
    """Whether both texts are equal. Whitespace makes no difference to a judge."""
    item, pair = unit
    first, second = (outputs.candidates[item][system].split() for system in pair)
    return first == second


def _booklets(comparisons: Sequence[Unit], design: StudyDesign, rng: random.Random) -> list[list[Unit]]:
    """Each comparison once in each of ``judges`` rounds; a round is dealt out to booklets of nearly equal size.

    Spare booklets are the first ones of a further round.

    Dealing item by item to as many booklets as an item has pairs, or more, keeps pairs of one item apart: a judge who
    sees a summary twice knows it is the baseline's.
    """
    most_pairs = max(Counter(item for item, _ in comparisons).values())  # on one item
    count = max(-(-len(comparisons) // design.booklet), most_pairs)
    if design.spare > count:
        raise StudyError(f"--spare {design.spare}: more than {count}, as many as a judge more makes; raise --judges")
    number = design.judges * count + design.spare
    if number > _MOST_BOOKLETS:
        raise StudyError(
            f"--judges {design.judges}: makes {number:,} booklets, each for another person; a study has at most "
            f"{_MOST_BOOKLETS:,}: give fewer --judges or --items, or a larger --booklet"
        )
    booklets: list[list[Unit]] = []
    for _ in range(design.judges + (design.spare > 0)):
        order = {item: rng.random() for item, _ in comparisons}
        dealt = sorted(rng.sample(comparisons, len(comparisons)), key=lambda unit: order[unit[0]])
        booklets += [rng.sample(hand, len(hand)) for hand in (dealt[start::count] for start in range(count))]
    return booklets[:number]


def _drafts(
    outputs: AlignedOutputs, booklets: Sequence[Sequence[Unit]], at_once: bool, rng: random.Random
) -> list[list[Draft]]:
    """The tasks of each booklet: pairs with balanced sides, or the texts of all systems in balanced orders."""
    units = [(unit, number) for number, booklet in enumerate(booklets) for unit in booklet]
    judged, pairs, numbers = [unit for unit, _ in units], [pair for (_, pair), _ in units], [n for _, n in units]
    if at_once:
        orders = balance.orders(judged, rng)
    else:
        sides = balance.first_left(judged, pairs, numbers, rng)
        orders = [list(pair if first_left else pair[::-1]) for pair, first_left in zip(pairs, sides, strict=True)]
    drafts: list[list[Draft]] = [[] for _ in booklets]
    for ((item, pair), number), shown in zip(units, orders, strict=True):
        left, right, *more = shown
        key = TaskKey(outputs.systems if at_once else pair, left, right, more=tuple(more))
        drafts[number].append(Draft(item, tuple(outputs.candidates[item][system] for system in shown), key))
    return drafts


def _blind(
    outputs: AlignedOutputs,
    booklets: Sequence[Sequence[tuple[Draft, Draft | None]]],
    ties: Sequence[Unit],
    design: StudyDesign,
    wording: StudyWording,
    seed: int,
) -> tuple[Study, StudyKey]:
    """Give everything an opaque id; texts go into the study, systems into the key."""
    new_id = OpaqueIds(seed, [outputs, design, wording])
    tasks: list[Task] = []
    keys: dict[str, TaskKey] = {}
    for number, booklet in enumerate(booklets):
        ids: dict[int, str] = {}
        for position, (draft, repeated) in enumerate(booklet):
            task = ids[id(draft)] = new_id("t", number, position)
            left, right, *more = draft.texts
            tasks.append(Task(task, new_id("i", draft.item), number, position, left, right, tuple(more)))
            keys[task] = replace(draft.key, repeats=ids[id(repeated)] if repeated else None)
    shown = {draft.item for booklet in booklets for draft, _ in booklet}
    articles = {new_id("i", item): outputs.articles[item] for item in shown}
    items = {new_id("i", item): item for item in shown | {item for item, _ in ties}}
    equal = tuple(EqualTexts(new_id("i", item), (pair[0], pair[1])) for item, pair in ties)
    made: dict[str, Any] = {"articles": dict(sorted(articles.items())), "tasks": tuple(tasks), **vars(wording)}
    study = Study(new_id("s"), judges_per_item=design.judges, **made)
    key = StudyKey(study.id, seed, outputs.systems, design.baseline, dict(sorted(items.items())), keys, equal)
    return study, key
