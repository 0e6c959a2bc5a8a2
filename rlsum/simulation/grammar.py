"""The wording of simulated stories: the notation of tables, synonyms, and the distribution of reference summaries.

``wordings/KIND.txt`` is the table of one kind of story. A line ``name share`` opens a fact that this share of the
references mentions: ``a`` lines word it in articles, ``r`` lines in references, where the first ``r`` line is twice as
frequent as others. ``lead`` and ``other`` hold article sentences that references never mention, ``bystanders.txt``
those of every kind. In a sentence, ``{slot}`` is a value of the story (a number, a noun, else an invented name),
``~word`` any synonym of the word, ``(x|y)`` any alternative.

A reference is drawn as the main fact, followed either (with probability LAZY) by a sentence without content, or by a
random subset of the other facts, each included with its share, in the order of the table half of the time, each in one
of its wordings. The sentence without content is more probable than any single continuation with content: the mode of
the likelihood differs from what a reward prefers, the facts of most references in the most central wording.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
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
NUMBERS: dict[str, tuple[int, int]] = {
    "hurt": (3, 40),
    "wind": (60, 140),
    "homes": (2, 90),
    "group": (3, 19),
    "worth": (2, 60),
    "reward": (5, 95),
    "years": (3, 25),
    "sum": (20, 99),
    "goals": (2, 9),
    "seasons": (3, 24),
    "share": (34, 69),
    "lost": (2, 19),
    "price": (20, 99),
    "jobs": (2, 30),
    "rise": (2, 30),
    "days": (3, 30),
    "raise": (4, 15),
    "coins": (20, 99),
    "year": (300, 399),
}
NOUNS = {
    "building": ("warehouse", "theater", "school", "library", "mill", "church", "hotel", "brewery"),
    "product": ("toy", "bicycle", "chocolate", "furniture", "piano", "soap", "paper", "shoe"),
}

# Interchangeable in articles and references; the first word is the key in the tables.
SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("blaze", "fire", "inferno"),
    ("gutted", "destroyed", "wrecked"),
    ("huge", "massive", "enormous"),
    ("crews", "teams", "brigades"),
    ("spotted", "noticed", "saw"),
    ("owner", "landlord", "proprietor"),
    ("vowed", "promised", "pledged"),
    ("doctors", "medics", "physicians"),
    ("hurt", "injured", "wounded"),
    ("officials", "authorities"),
    ("storm", "gale", "tempest"),
    ("battered", "lashed", "pounded"),
    ("power", "electricity", "current"),
    ("homes", "houses", "households"),
    ("shelter", "refuge"),
    ("climbers", "hikers", "walkers"),
    ("rescued", "saved", "recovered"),
    ("stranded", "trapped", "stuck"),
    ("helicopter", "chopper", "aircraft"),
    ("robbers", "thieves", "raiders"),
    ("stole", "took", "grabbed"),
    ("jewels", "gems", "diamonds"),
    ("police", "detectives", "officers"),
    ("arrested", "detained", "caught"),
    ("guard", "watchman", "porter"),
    ("jailed", "imprisoned", "sentenced"),
    ("fraud", "swindling", "forgery"),
    ("judge", "magistrate", "justice"),
    ("lawyer", "attorney", "counsel"),
    ("jury", "jurors"),
    ("beat", "defeated", "overcame"),
    ("striker", "forward", "attacker"),
    ("netted", "scored", "got"),
    ("coach", "manager", "trainer"),
    ("game", "contest", "tie"),
    ("crowd", "fans", "supporters"),
    ("ballots", "votes"),
    ("won", "captured", "secured"),
    ("rival", "opponent", "challenger"),
    ("conceded", "resigned", "surrendered"),
    ("lower", "reduced", "smaller"),
    ("taxes", "levies", "duties"),
    ("buy", "acquire", "purchase"),
    ("firm", "company", "business"),
    ("deal", "takeover", "bid"),
    ("jobs", "posts", "positions"),
    ("chief", "boss", "head"),
    ("shares", "stocks"),
    ("shareholders", "investors"),
    ("workers", "employees", "staff"),
    ("strike", "walkout", "stoppage"),
    ("pay", "wages", "salaries"),
    ("talks", "negotiations", "discussions"),
    ("researchers", "archaeologists", "scientists"),
    ("found", "discovered", "unearthed"),
    ("ancient", "old", "early"),
    ("tomb", "grave", "crypt"),
    ("coins", "pieces"),
)
_SYNONYMS_OF = {group[0]: group for group in SYNONYMS}
_SLOT = re.compile(r"\{(\w+)\}")
_DRAWN = re.compile(r"~(\w+)|\(([^)]*)\)")


@dataclass(frozen=True)
class Fact:
    """A fact, the share of references that mention it, and templates for articles (told) and references (summed)."""

    name: str
    share: float
    told: tuple[str, ...]
    summed: tuple[str, ...]


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
        templates = (line for fact in (self.main, *self.facts) for line in (*fact.told, *fact.summed))
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


def _lines(table: str) -> list[str]:
    return (resources.files("rlsum.simulation") / "wordings" / f"{table}.txt").read_text(encoding="utf-8").splitlines()


def _fact(header: str, lines: Sequence[str]) -> Fact:
    name, share = header.split()
    told = tuple(line[2:] for line in lines if line.startswith("a "))
    return Fact(name, float(share), told, tuple(line[2:] for line in lines if line.startswith("r ")))


def pick(rng: random.Random, options: Sequence[T]) -> T:
    """One option, uniformly. Uses only ``rng.random``, whose stream is stable across Python versions."""
    return options[int(rng.random() * len(options))]


def word(template: str, values: Mapping[str, str], rng: random.Random | None) -> str:
    """The sentence of a template: slots filled, synonyms and alternatives drawn by ``rng``; None: the first ones."""

    def drawn(match: re.Match[str]) -> str:
        options = _options(match)
        return options[0] if rng is None else pick(rng, options)

    return _SLOT.sub(lambda match: values[match[1]], _DRAWN.sub(drawn, template))


def _options(match: re.Match[str]) -> Sequence[str]:
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
    return pick(rng, (fact.summed[0], *fact.summed))


@cache
def likeliest_templates(kind: str) -> tuple[str, ...]:
    """The templates of the most probable reference summary: the mode of ``draw_templates`` and ``word``."""
    story = event(kind)
    plans = [((), math.log(LAZY)), *_fact_plans(story)]
    best = max(plans, key=lambda plan: plan[1] + sum(_likeliest_wording(fact)[1] for fact in plan[0]))[0]
    rest = [_likeliest_wording(fact)[0] for fact in best] or [FILLER]
    return (_likeliest_wording(story.main)[0], *rest)


def _fact_plans(story: Event) -> Iterator[tuple[tuple[Fact, ...], float]]:
    """All (ordered facts, log-probability) of summaries with content."""
    probability: dict[tuple[Fact, ...], float] = {}
    for chosen in itertools.product((True, False), repeat=len(story.facts)):
        facts = tuple(fact for fact, taken in zip(story.facts, chosen, strict=True) if taken)[:MOST_FACTS]
        share = math.prod(f.share if taken else 1 - f.share for f, taken in zip(story.facts, chosen, strict=True))
        probability[facts] = probability.get(facts, 0.0) + share
    nothing = probability.pop(())
    for facts, share in probability.items():
        orders = list(itertools.permutations(facts))
        for order in orders:
            in_order = (1 - IN_ORDER) / len(orders) + IN_ORDER * (order == facts)
            yield order, math.log((1 - LAZY) * share / (1 - nothing) * in_order)


def _likeliest_wording(fact: Fact) -> tuple[str, float]:
    def log_probability(template: str) -> float:
        times = 1 + (template == fact.summed[0])
        draws = [len(_options(match)) for match in _DRAWN.finditer(template)]
        return math.log(times / (len(fact.summed) + 1)) - sum(math.log(count) for count in draws)

    return max(((template, log_probability(template)) for template in fact.summed), key=lambda pair: pair[1])
