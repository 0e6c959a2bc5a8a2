"""Attention checks: tasks whose right answer is known, made and marked."""

from __future__ import annotations

import random
from collections.abc import Mapping

from human_eval.study import Answer, Secret

SHUFFLED_WORDS = 8  # fewer different words may still read well in another order


def shuffled(text: str, rng: random.Random) -> str:
    """``text`` with its words in another order, as many on each line as before.

    Its words must not all be the same, else there is no other order (see ``can_be_shuffled``).
    """
    words = text.split()
    mixed = list(words)
    while mixed == words:
        rng.shuffle(mixed)
    left = iter(mixed)
    return "\n".join(" ".join(next(left) for _ in line.split()) for line in text.splitlines() if line.split())


def can_be_shuffled(text: str) -> bool:
    """Whether the loss of order would be seen."""
    return len(set(text.split())) >= SHUFFLED_WORDS


def passed(secret: Secret, answers: Mapping[str, Answer], earlier: Mapping[str, Answer] | None = None) -> bool | None:
    """Whether the answers to a check are those of a judge who read; None where that cannot be said.

    identical: no difference in every criterion. shuffled: the readable text wins at least one criterion and loses none,
    for some criteria (does it repeat itself?) do not depend on order. swapped: no criterion changes sides between
    ``earlier``, the same judge's answers to the task repeated, and now; from or to no difference is no change of sides.
    """
    if secret.kind == "identical":
        return all(answer == "none" for answer in answers.values())
    if secret.kind == "shuffled":
        given = set(answers.values()) - {"none"}
        return given == {secret.expected}
    if secret.kind == "swapped" and earlier is not None:
        return all(answer == "none" or answer != earlier.get(name) for name, answer in answers.items())
    return None
