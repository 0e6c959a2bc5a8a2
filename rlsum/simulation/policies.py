"""Untrained policies on simulated stories: lower and upper marks for a trained summarizer.

Each maps a Story to a candidate text with a sentence a line. ``oracle`` knows the story's facts and the wording tables;
none sees the story's reference.
"""

from __future__ import annotations

from functools import cache

from rewards.lexical.subsequences import lcs_length
from rlsum.simulation.grammar import Fact, event, word
from rlsum.simulation.stories import Story


def lead(story: Story) -> str:
    """The first three sentences of the article."""
    return "\n".join(story.article[:3])


def oracle(story: Story) -> str:
    """The main fact and all facts that at least half of the references mention, in order, in their central wording and
    with the first of all synonyms.
    """
    return "\n".join(word(template, story.facts, None) for template in central_templates(story.kind))


@cache
def central_templates(kind: str) -> tuple[str, ...]:
    """For each such fact, the wording that overlaps most with the fact's other wordings."""
    table = event(kind)
    return tuple(_central(fact) for fact in (table.main, *table.facts) if fact.share >= 0.5)


def _central(fact: Fact) -> str:
    drawn = (fact.in_summary[0], *fact.in_summary)
    return max(fact.in_summary, key=lambda wording: sum(_overlap(wording.split(), text.split()) for text in drawn))


def _overlap(left: list[str], right: list[str]) -> float:
    """F1 of the longest common subsequence: ROUGE-L on templates."""
    return 2 * lcs_length(left, right) / (len(left) + len(right))
