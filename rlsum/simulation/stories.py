"""Simulated news stories: a corpus to train and evaluate summarizers without a download.

Each story is a pure function of (seed, split, index). Articles have 8 to 15 sentences: the first one is irrelevant, the
facts are spread over the others among irrelevant people and places. Names are invented for each story, capitalised and
almost unique, so a model must copy them. Texts are tokenised: tokens joined by one space, sentences by a newline,
lower-case except for names. See ``grammar`` for the references, and why training on a reward improves on likelihood.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rlsum.simulation.grammar import KINDS, NOUNS, NUMBERS, Fact, draw_templates, event, pick, word

SPLITS = ("train", "valid", "test")

_ONSETS = "b br d dr f fl g gr h j k kl l m n p pr r s st t tr v z".split()  # noqa: SIM905
_VOWELS = "a e i o u ae ia ei oa uo".split()  # noqa: SIM905
_CODAS = "l n r s th k m nd rt x sk v".split()  # noqa: SIM905


@dataclass(frozen=True)
class Story:
    """One story: its sentences, its reference summary, and the values of its facts (slot -> surface form)."""

    id: str
    kind: str
    article: tuple[str, ...]
    highlights: tuple[str, ...]
    facts: Mapping[str, str]

    def row(self) -> dict[str, str]:
        """The corpus row: id, article, highlights, with a sentence a line."""
        return {"id": self.id, "article": "\n".join(self.article), "highlights": "\n".join(self.highlights)}


def story(seed: int, split: str, index: int) -> Story:
    """The story at ``index`` of a split; splits share no names. Raises ValueError for an unknown split."""
    if split not in SPLITS:
        raise ValueError(f"split={split!r} is unknown; use one of {', '.join(SPLITS)}")
    rng = random.Random(f"{seed}:{split}:{index}")
    kind = pick(rng, KINDS)
    names = _names(rng, SPLITS.index(split))
    facts = {slot: _value(slot, names, rng) for slot in event(kind).slots}
    article = _article(kind, facts, names, rng)
    return Story(f"{split}-{index}", kind, article, reference(kind, facts, rng), facts)


def stories(seed: int, split: str, count: int) -> Iterator[Story]:
    """The first ``count`` stories of a split."""
    return (story(seed, split, index) for index in range(count))


def write_corpus(folder: Path, seed: int, sizes: Mapping[str, int]) -> dict[str, Path]:
    """Write ``<split>.jsonl`` for each split of ``sizes``; the bytes depend only on the arguments."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {split: folder / f"{split}.jsonl" for split in sizes}
    for split, path in paths.items():
        lines = (json.dumps(item.row(), ensure_ascii=False) + "\n" for item in stories(seed, split, sizes[split]))
        path.write_text("".join(lines), encoding="utf-8")
    return paths


def reference(kind: str, facts: Mapping[str, str], rng: random.Random) -> tuple[str, ...]:
    """The sentences of one reference summary of a story with these facts."""
    return tuple(word(template, facts, rng) for template in draw_templates(kind, rng))


def _names(rng: random.Random, split: int) -> Iterator[str]:
    """Endless names without repetition; a checksum assigns every possible name to one split."""
    seen = set()
    while True:
        count = 2 + (rng.random() < 0.5)
        name = "".join(pick(rng, _ONSETS) + pick(rng, _VOWELS) for _ in range(count)) + pick(rng, _CODAS)
        if name not in seen and zlib.crc32(name.encode()) % len(SPLITS) == split:
            seen.add(name)
            yield name.capitalize()


def _value(slot: str, names: Iterator[str], rng: random.Random) -> str:
    if slot in NUMBERS:
        low, high = NUMBERS[slot]
        return str(low + int(rng.random() * (high - low + 1)))
    return pick(rng, NOUNS[slot]) if slot in NOUNS else next(names)


def _article(kind: str, facts: Mapping[str, str], names: Iterator[str], rng: random.Random) -> tuple[str, ...]:
    """The lead, then the rest in random order, with the main fact among the second to sixth sentences."""
    table = event(kind)

    def in_article(fact: Fact) -> str:
        return word(pick(rng, fact.in_article), facts, rng)

    body = [in_article(fact) for fact in table.facts]
    body += [word(template, {"x": next(names)}, rng) for template in _sample(rng, table.others, 2, 7)]
    body.append(word(pick(rng, table.bystanders), {"x": next(names)}, rng))
    _shuffle(rng, body)
    body.insert(int(rng.random() * 5), in_article(table.main))
    return (word(pick(rng, table.leads), {}, rng), *body)


def _sample(rng: random.Random, options: tuple[str, ...], least: int, most: int) -> list[str]:
    items = list(options)
    _shuffle(rng, items)
    return items[: least + int(rng.random() * (most - least + 1))]


def _shuffle(rng: random.Random, items: list[str]) -> None:
    """Fisher-Yates with only ``rng.random`` (see ``pick``)."""
    for last in range(len(items) - 1, 0, -1):
        place = int(rng.random() * (last + 1))
        items[last], items[place] = items[place], items[last]
