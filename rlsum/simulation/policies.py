"""Untrained policies on simulated stories: lower and upper marks for a trained summarizer.

Each maps a Story to a candidate text with a sentence a line. All but ``lead`` know the story's facts and the wording
tables; none sees the story's reference.
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
    """The most probable reference summary: the result of exact search under a perfect likelihood model."""
    return fill(story, likeliest_templates(story.kind))


def random_reference(story: Story) -> str:
    """Another draw from the distribution of references: how well one writer's summary predicts another's."""
    rng = random.Random(f"fresh:{story.id}:{sorted(story.facts.items())}")
    return "\n".join(reference(story.kind, story.facts, rng))


def oracle(story: Story) -> str:
    """The main fact and all facts that at least half of the references mention, in order, in their central wording."""
    return fill(story, central_templates(story.kind))


def fill(story: Story, templates: tuple[str, ...]) -> str:
    """The text of templates for a story, with the first of all synonyms."""
    return "\n".join(word(template, story.facts, None) for template in templates)


@cache
def central_templates(kind: str) -> tuple[str, ...]:
    """For each such fact, the wording that overlaps most with the fact's other wordings."""
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
    """Hill climbing from ``central_templates`` for the highest score on the references of ``sample``.

    Steps: reword a sentence, drop one, swap neighbours, add a fact or the filler. ``score`` maps candidates and
    references to one number. ``sample`` holds stories of this kind, none of which is used for evaluation. Approximates
    the policy with the highest expected reward given an article.
    """
    references = ["\n".join(story.highlights) for story in sample]

    def value(templates: tuple[str, ...]) -> float:
        return score([fill(story, templates) for story in sample], references)

    best = central_templates(kind)
    reached = value(best)
    while True:
        highest, templates = max((value(change), change) for change in _changes(kind, best))
        if highest <= reached:
            return best
        best, reached = templates, highest


def _changes(kind: str, templates: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    table = event(kind)
    wordings = [fact.summed for fact in (table.main, *table.facts)] + [(FILLER,)]
    for i, current in enumerate(templates):
        same = next(options for options in wordings if current in options)
        yield from ((*templates[:i], other, *templates[i + 1 :]) for other in same if other != current)
        if len(templates) > 1:
            yield (*templates[:i], *templates[i + 1 :])
        if i:
            yield (*templates[: i - 1], current, templates[i - 1], *templates[i + 1 :])
    for options in wordings:
        if not set(options) & set(templates):
            yield from ((*templates, other) for other in options)
