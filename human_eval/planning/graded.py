"""Simulated answers of every kind, from what judges find each text worth: one model, so that kinds can be compared.

A judge finds a text worth ``system + item and system + judge and system + rest``, all normal, and answers by that. The
difference of two systems has variance 1. Votes by its sign then have the given preference and ties (Thurstone 1927),
two judges' votes on an item the given correlation (Sheppard's formula for equal systems), and judges' own shares the
given spread.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from human_eval.answers import KINDS
from human_eval.planning.assumptions import Assumptions
from human_eval.votes.votes import Floats
from rlsum.evaluation.rows import Ints


def draw_graded(
    assumptions: Assumptions, answers: str, texts: int, assigned: Ints, draws: int, generator: Generator
) -> Floats:
    """Votes on the first two of ``texts`` systems (draws, items, judges an item) by the judges ``assigned``.

    The other systems are worth the mean of these two.
    """
    gap, tie = _gap_and_tie(assumptions)
    values = _worths(assumptions, gap, texts, assigned, draws, generator)
    strong = float(norm.isf((1 - assumptions.ties) / 4))
    return np.asarray(KINDS[answers].simulated(values, gap, tie, strong, generator))


def points_of(assumptions: Assumptions, answers: str, texts: int) -> float:
    """The mean difference of the two systems in points of the scale, by simulation."""
    alone = np.arange(50_000)[:, None]  # every item has its judge
    votes = draw_graded(assumptions, answers, texts, alone, 1, np.random.default_rng(0))
    return float(votes.mean()) * KINDS[answers].points


def _gap_and_tie(assumptions: Assumptions) -> tuple[float, float]:
    """The mean difference of the two systems, and the difference below which a judge sees none."""
    first, _, second = assumptions.shares()
    low, high = norm.ppf(first), norm.isf(second)
    return float(-(low + high) / 2), float((high - low) / 2)


def _worths(
    assumptions: Assumptions, gap: float, texts: int, assigned: Ints, draws: int, generator: Generator
) -> Floats:
    """What each text is worth to each judge (draws, items, judges an item, texts)."""
    odds = 2 * np.pi * assumptions.spread**2  # variance of judges over that of the rest, near a share of one half
    of_judges = odds / (1 + odds)
    of_items = min(np.sin(np.pi * assumptions.correlation / 2), 1 - of_judges)
    of_rest = 1 - of_items - of_judges
    shape, people = (draws, *assigned.shape, texts), int(assigned.max()) + 1
    worth = np.sqrt(of_rest / 2) * generator.normal(size=shape)
    worth += np.sqrt(of_items / 2) * generator.normal(size=(draws, len(assigned), 1, texts))
    worth += np.sqrt(of_judges / 2) * generator.normal(size=(draws, people, texts))[:, assigned]
    worth[..., 1] += gap
    worth[..., 2:] += gap / 2
    return worth
