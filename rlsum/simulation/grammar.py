"""The wording of simulated stories: the notation of tables, synonyms, and the distribution of reference summaries.

``wordings/KIND.txt`` is the table of one kind of story. A line ``name share`` opens a fact that this share of the
references mentions: ``a`` lines word it in articles, ``r`` lines in references, where the first ``r`` line is twice as
frequent as others. ``lead`` and ``other`` hold article sentences that references never mention, ``bystanders.txt``
those of every kind. In a sentence, ``{slot}`` is a value of the story (a number, a noun, else an invented name),
``~word`` any synonym of the word, ``(x|y)`` any alternative. ``numbers.txt`` has the lowest and highest value of each
number. A line of ``synonyms.txt`` is a set of interchangeable words, which tables name by its first word.

A reference is drawn as the main fact, followed either (with probability LAZY) by a sentence without content, or by a
random subset of the other facts, each included with its share, in the order of the table half of the time, each in one
of its wordings. The sentence without content is more probable than any single continuation with content: the mode of
the likelihood differs from what a reward prefers, the facts of most references in the most central wording.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TypeVar

T = TypeVar("T")

LAZY = 0.08
# Eleven tokens for one choice, so the mean log-probability of its tokens is slightly higher, too: a length-normalised
# beam follows what training changes. Only stop words, which movers do not weigh.
FILLER = "there is not much more to say about it now ."
IN_ORDER = 0.5
MOST_FACTS = 3

KINDS = ("fire", "storm", "rescue", "robbery", "trial", "match", "election", "merger", "strike", "find")
NOUNS = {
    "building": ("warehouse", "theater", "school", "library", "mill", "church", "hotel", "brewery"),
    "product": ("toy", "bicycle", "chocolate", "furniture", "piano", "soap", "paper", "shoe"),
}


def _lines(table: str) -> list[str]:
    return (resources.files("rlsum.simulation") / "wordings" / f"{table}.txt").read_text(encoding="utf-8").splitlines()


NUMBERS = {slot: (int(low), int(high)) for slot, low, high in map(str.split, _lines("numbers"))}
SYNONYMS = tuple(tuple(line.split()) for line in _lines("synonyms"))
_SYNONYMS_OF = {group[0]: group for group in SYNONYMS}
_SLOT = re.compile(r"\{(\w+)\}")
DRAWN = re.compile(r"~(\w+)|\(([^)]*)\)")


@dataclass(frozen=True)
class Fact:
    """A fact, the share of references that mention it, and its templates for articles and for references."""

    name: str
    share: float
    in_article: tuple[str, ...]
    in_summary: tuple[str, ...]


@dataclass(frozen=True)
class Event:
    """A kind of story: openings, the main fact, other facts, and irrelevant sentences (bystanders: of any kind)."""

    kind: str
    leads: tuple[str, ...]
    main: Fact
    facts: tuple[Fact, ...]
    others: tuple[str, ...]
    bystanders: tuple[str, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """The values that a story of this kind needs, in a fixed order; ``x`` is drawn for each sentence instead."""
        templates = (line for fact in (self.main, *self.facts) for line in (*fact.in_article, *fact.in_summary))
        return tuple(sorted({slot for line in templates for slot in _SLOT.findall(line)}))


@cache
def event(kind: str) -> Event:
    """The parsed table of one of ``KINDS``."""
    sections: dict[str, list[str]] = {}
    header = ""
    for line in _lines(kind):
        if line.startswith("  "):
            sections[header].append(line.strip())
        else:
            header = line.strip()
            sections[header] = []
    facts = [_fact(header, lines) for header, lines in sections.items() if header not in ("lead", "other")]
    return Event(
        kind, tuple(sections["lead"]), facts[0], tuple(facts[1:]), tuple(sections["other"]), tuple(_lines("bystanders"))
    )


def _fact(header: str, lines: Sequence[str]) -> Fact:
    name, share = header.split()
    in_article = tuple(line[2:] for line in lines if line.startswith("a "))
    return Fact(name, float(share), in_article, tuple(line[2:] for line in lines if line.startswith("r ")))


def pick(rng: random.Random, options: Sequence[T]) -> T:
    """One option, uniformly. Uses only ``rng.random``, whose stream is stable across Python versions."""
    return options[int(rng.random() * len(options))]


def word(template: str, values: Mapping[str, str], rng: random.Random | None) -> str:
    """The sentence of a template: slots filled, synonyms and alternatives drawn by ``rng``; None: the first ones."""

    def drawn(match: re.Match[str]) -> str:
        options = options_of(match)
        return options[0] if rng is None else pick(rng, options)

    return _SLOT.sub(lambda match: values[match[1]], DRAWN.sub(drawn, template))


def options_of(match: re.Match[str]) -> Sequence[str]:
    """The synonyms or alternatives at a match of ``DRAWN``."""
    return _SYNONYMS_OF[match[1]] if match[1] else match[2].split("|")


def draw_templates(kind: str, rng: random.Random) -> list[str]:
    """The templates of one reference summary, drawn from the distribution in the module's docstring."""
    story = event(kind)
    main = _draw_wording(story.main, rng)
    if rng.random() < LAZY:
        return [main, FILLER]
    facts: Sequence[Fact] = ()
    while not facts:
        facts = [fact for fact in story.facts if rng.random() < fact.share][:MOST_FACTS]
    if rng.random() >= IN_ORDER:
        facts = pick(rng, list(itertools.permutations(facts)))
    return [main, *(_draw_wording(fact, rng) for fact in facts)]


def _draw_wording(fact: Fact, rng: random.Random) -> str:
    return pick(rng, (fact.in_summary[0], *fact.in_summary))
