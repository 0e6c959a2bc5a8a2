"""Aligned outputs -> a blind study and its key. One seed determines everything random."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations

from human_eval.criteria import StudyWording
from human_eval.design import balance
from human_eval.design.blinding import OpaqueIds, named_in
from human_eval.design.checks import Draft, with_checks
from human_eval.design.outputs import AlignedOutputs, check_unicode
from human_eval.formatting import counted
from human_eval.study import Enrolment, EqualTexts, Pair, Study, StudyError, StudyKey, Task, TaskKey

Unit = tuple[str, Pair]  # a pair on an item

_LEAST = {"items": 1, "judges": 1, "booklet": 1, "identical": 0, "shuffled": 0, "swapped": 0, "spare": 0}


@dataclass(frozen=True)
class StudyDesign:
    """``items``: number of articles sampled; ``baseline``: the system compared with each other one, None compares all
    pairs; ``judges``: of each pair on each item; ``booklet``: most pairs for one judge, checks not counted, fewer if
    a judge would otherwise see two pairs of one article;
    ``identical``, ``shuffled``, ``swapped``: number of checks in each booklet. By default 4.5% of those who click at
    random are kept with one criterion, fewer with more (see `error_rates`). ``spare``: further booklets, which give
    some pairs one judge more, in place of judges who will be excluded.
    """

    items: int = 100
    baseline: str | None = None
    judges: int = 3
    booklet: int = 20
    identical: int = 2
    shuffled: int = 3
    swapped: int = 0
    spare: int = 0


def build(outputs: AlignedOutputs, design: StudyDesign, wording: StudyWording, seed: int) -> tuple[Study, StudyKey]:
    """The study and its key, a function of the arguments. Raises StudyError where the design is impossible."""
    pairs = pairs_of(outputs.systems, design.baseline)
    _check(outputs, design, wording)
    rng = random.Random(seed)
    sampled = rng.sample(sorted(outputs.articles), design.items)
    units = [(item, pair) for item in sampled for pair in pairs]
    ties = [unit for unit in units if _equal(outputs, unit)]
    comparisons = [unit for unit in units if not _equal(outputs, unit)]
    if not comparisons:
        raise StudyError("the systems wrote the same text for every sampled item: nothing to judge; give other outputs")
    booklets = _booklets(comparisons, design, rng)
    drafts = _drafts(outputs, booklets, rng)
    checks = {"identical": design.identical, "shuffled": design.shuffled, "swapped": design.swapped}
    checked = [with_checks(outputs, booklet, sampled, checks, rng) for booklet in drafts]
    return _blind(outputs, checked, ties, design, wording, seed)


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[Pair]:
    """The baseline with each other system, or all pairs."""
    if baseline is None:
        return list(combinations(systems, 2))
    if baseline not in systems:
        raise StudyError(f"--baseline {baseline}: no such system; the outputs are of {', '.join(systems)}")
    return [(baseline, system) for system in systems if system != baseline]


def _check(outputs: AlignedOutputs, design: StudyDesign, wording: StudyWording) -> None:
    for name, least in _LEAST.items():
        if getattr(design, name) < least:
            raise StudyError(f"--{name} {getattr(design, name)}: expected {least} or more")
    if design.items > len(outputs.articles):
        raise StudyError(
            f"--items {design.items}: only {counted(len(outputs.articles), 'article')} with an output of every system; "
            f"give --items {len(outputs.articles)} or less, or more outputs"
        )
    criteria = [text for criterion in wording.criteria for text in (criterion.id, criterion.question, criterion.help)]
    asked = [text for about in wording.enrolment.questions for text in (about.question, *about.choices)]
    practice = [task.explanation for task in wording.training.tasks] if wording.training else []
    text = " ".join([wording.title, wording.instructions, *criteria, wording.enrolment.consent, *asked, *practice])
    check_unicode("the wording", text)
    if wording != StudyWording() and (named := named_in(text, outputs.systems)):
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
    count = max(-(-len(comparisons) // design.booklet), _most_pairs(comparisons))
    if design.spare > count:
        raise StudyError(f"--spare {design.spare}: more than {count}, as many as a judge more makes; raise --judges")
    booklets: list[list[Unit]] = []
    for _ in range(design.judges + (design.spare > 0)):
        order = {item: rng.random() for item, _ in comparisons}
        dealt = sorted(rng.sample(comparisons, len(comparisons)), key=lambda unit: order[unit[0]])
        booklets += [rng.sample(hand, len(hand)) for hand in (dealt[start::count] for start in range(count))]
    return booklets[: design.judges * count + design.spare]


def _most_pairs(comparisons: Sequence[Unit]) -> int:
    """The largest number of pairs on one item."""
    return max(Counter(item for item, _ in comparisons).values())


def _drafts(outputs: AlignedOutputs, booklets: Sequence[Sequence[Unit]], rng: random.Random) -> list[list[Draft]]:
    """The tasks of each booklet, with balanced sides."""
    units = [(unit, number) for number, booklet in enumerate(booklets) for unit in booklet]
    sides = balance.first_left([unit for unit, _ in units], [unit[1] for unit, _ in units], [n for _, n in units], rng)
    drafts: list[list[Draft]] = [[] for _ in booklets]
    for ((item, pair), number), first_left in zip(units, sides, strict=True):
        left, right = pair if first_left else pair[::-1]
        texts = outputs.candidates[item]
        drafts[number].append(Draft(item, texts[left], texts[right], TaskKey(pair, left, right)))
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
    words = asdict(wording)
    if wording.enrolment == Enrolment():
        del words["enrolment"]  # ids are those of the first edition, which had none
    del words["interface"]
    if wording.training is None:
        del words["training"]
    sizes = asdict(design)
    if not design.spare:
        del sizes["spare"]
    new_id = OpaqueIds(seed, [asdict(outputs), sizes, words])
    tasks: list[Task] = []
    keys: dict[str, TaskKey] = {}
    for number, booklet in enumerate(booklets):
        ids: dict[int, str] = {}
        for position, (draft, repeated) in enumerate(booklet):
            task = ids[id(draft)] = new_id("t", number, position)
            tasks.append(Task(task, new_id("i", draft.item), number, position, draft.left, draft.right))
            keys[task] = replace(draft.key, repeats=ids[id(repeated)] if repeated else None)
    shown = {draft.item for booklet in booklets for draft, _ in booklet}
    articles = {new_id("i", item): outputs.articles[item] for item in shown}
    items = {new_id("i", item): item for item in shown | {item for item, _ in ties}}
    equal = tuple(EqualTexts(new_id("i", item), pair) for item, pair in ties)
    texts = wording.title, wording.instructions, wording.criteria
    study = Study(
        new_id("s"),
        *texts,
        design.judges,
        dict(sorted(articles.items())),
        tuple(tasks),
        wording.enrolment,
        wording.interface,
        wording.training,
    )
    key = StudyKey(study.id, seed, outputs.systems, design.baseline, dict(sorted(items.items())), keys, equal)
    return study, key
