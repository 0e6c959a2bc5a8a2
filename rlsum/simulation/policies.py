"""Policies on simulated stories that need no training: the marks between which a trained summarizer should fall.

Each maps a Story to a candidate text (a line is a sentence). All but ``lead`` know the story's facts and the wording
tables; none sees the story's own reference.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from rlsum.simulation.grammar import FILLER, Fact, event, likeliest_templates, word
from rlsum.simulation.stories import Story, reference


def lead(story: Story, sentences: int = 3) -> str:
    """The first sentences of the article."""
    return "\n".join(story.article[:sentences])


def likelihood_mode(story: Story) -> str:
    """The most probable reference summary: what exact search under a perfect likelihood model would say."""
    return fill(story, likeliest_templates(story.kind))


def random_reference(story: Story) -> str:
    """A fresh draw from the distribution of references: how well one writer's summary predicts another's."""
    rng = random.Random(f"fresh:{story.id}:{sorted(story.facts.items())}")
    return "\n".join(reference(story.kind, story.facts, rng))


def oracle(story: Story) -> str:
    """The main fact and all facts that most references mention, in order, each in its central wording."""
    return fill(story, central_templates(story.kind))


def fill(story: Story, templates: tuple[str, ...]) -> str:
    """The text of templates for a story, every synonym set by its first member."""
    return "\n".join(word(template, story.facts, None) for template in templates)


@cache
def central_templates(kind: str) -> tuple[str, ...]:
    """Of each fact that most references mention the wording that overlaps most with the fact's other wordings."""
    table = event(kind)
    return tuple(_central(fact) for fact in (table.main, *table.facts) if fact.share >= 0.5)


def _central(fact: Fact) -> str:
    drawn = (fact.summed[0], *fact.summed)
    return max(fact.summed, key=lambda wording: sum(_overlap(wording.split(), other.split()) for other in drawn))


def _overlap(left: list[str], right: list[str]) -> float:
    """F1 of the longest common subsequence: ROUGE-L on templates."""
    row = [0] * (len(right) + 1)
    for item in left:
        diagonal = 0
        for column, other in enumerate(right, 1):
            diagonal, row[column] = row[column], (diagonal + 1 if item == other else max(row[column], row[column - 1]))
    return 2 * row[-1] / (len(left) + len(right))


def search_templates(
    kind: str, score: Callable[[Sequence[str], Sequence[str]], float], sample: Sequence[Story]
) -> tuple[str, ...]:
    """The templates with the highest mean score on the sample's references that single changes can reach.

    Hill climbing from ``central_templates``: reword a sentence, drop one, swap neighbours, add a fact or the filler.
    ``score`` maps candidates and references to one number. ``sample`` holds stories of this kind other than those to be
    judged by. Approximates the policy that maximises the expected reward given an article.
    """
    references = ["\n".join(story.highlights) for story in sample]

    def value(templates: tuple[str, ...]) -> float:
        return score([fill(story, templates) for story in sample], references)

    best = central_templates(kind)
    reached = value(best)
    while True:
        found, templates = max((value(change), change) for change in _changes(kind, best))
        if found <= reached:
            return best
        best, reached = templates, found


def _changes(kind: str, templates: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    table = event(kind)
    wordings = [fact.summed for fact in (table.main, *table.facts)] + [(FILLER,)]
    for place, current in enumerate(templates):
        same = next(options for options in wordings if current in options)
        yield from ((*templates[:place], other, *templates[place + 1 :]) for other in same if other != current)
        if len(templates) > 1:
            yield (*templates[:place], *templates[place + 1 :])
        if place:
            yield (*templates[: place - 1], current, templates[place - 1], *templates[place + 1 :])
    for options in wordings:
        if not set(options) & set(templates):
            yield from ((*templates, other) for other in options)
