"""What samples have earned: rewards, lengths, components; which of them are in the loss; exchanged for a control.

Notation: N articles; k samples an article.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rewards.scoring import Component
from rlsum.objective import Objective


@dataclass(frozen=True)
class Earned:
    """What the k samples of each of N articles have earned.

    rewards         (N, k) float64, NaN where undefined
    lengths         (N, k) tokens of the samples, end tokens counted
    greedy_rewards  (N,) of the greedy texts; None unless the estimator needs them
    components      of a reward that is a weighted sum: names, weights, and scores (N, k), not weighted
    cut_off         (N, k) whether a sample has no end; None: all have one
    """

    rewards: np.ndarray
    lengths: np.ndarray
    greedy_rewards: np.ndarray | None = None
    components: Sequence[Component] = ()
    cut_off: np.ndarray | None = None

    @classmethod
    def joined(cls, batches: Sequence[Earned]) -> Earned:
        """What the samples of all batches have earned, in the order of the batches."""
        return cls(
            np.concatenate([batch.rewards for batch in batches]),
            np.concatenate([batch.lengths for batch in batches]),
            _joined([batch.greedy_rewards for batch in batches]),
            [
                same[0]._replace(scores=np.concatenate([component.scores for component in same]))
                for same in zip(*(batch.components for batch in batches), strict=True)
            ],
            _joined([batch.cut_off for batch in batches]),
        )

    def split(self, sizes: Sequence[int]) -> list[Earned]:
        """What the samples have earned, in batches of ``sizes`` articles."""
        cuts = np.cumsum(sizes)[:-1]
        arrays = (self.rewards, self.lengths, self.greedy_rewards, self.cut_off)
        split = ([None] * len(sizes) if array is None else np.split(array, cuts) for array in arrays)
        components = [
            [whole._replace(scores=rows) for rows in np.split(whole.scores, cuts)] for whole in self.components
        ]
        return [
            Earned(rewards, lengths, greedy, [component[i] for component in components], cut_off)
            for i, (rewards, lengths, greedy, cut_off) in enumerate(zip(*split, strict=True))
        ]

    def shuffled(self, rng: np.random.Generator) -> Earned:
        """The samples exchange their rewards, components included, and the greedy texts theirs among themselves.

        So the baseline keeps its level, and the mean advantage of self-critical is what it was.
        """
        order, greedy = cyclic_order(self.rewards.size, rng), self.greedy_rewards
        return replace(
            self,
            rewards=exchanged(self.rewards, order),
            greedy_rewards=None if greedy is None else exchanged(greedy, cyclic_order(greedy.size, rng)),
            components=[component._replace(scores=exchanged(component.scores, order)) for component in self.components],
        )

    def in_loss(self, objective: Objective) -> np.ndarray:
        """(N, k) whether a sample is part of the loss: not if it was cut off, with ``mask_truncated``."""
        if self.cut_off is None or not objective.mask_truncated:
            return np.ones(self.rewards.shape, dtype=bool)
        return ~self.cut_off


# What a control makes of what the samples of an update have earned; constant changes their advantages, see Credit
CONTROLS: dict[str, Callable[[Earned, np.random.Generator], Earned]] = {"shuffled": Earned.shuffled}


def _joined(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    defined = [array for array in arrays if array is not None]
    return np.concatenate(defined) if defined else None


def exchanged(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The same values, NaN included, in the places that ``order``, a permutation of all of them, gives."""
    return values.flatten()[order].reshape(values.shape)


def cyclic_order(size: int, rng: np.random.Generator) -> np.ndarray:
    """A random permutation in which none of ``size`` keeps its place, unless it is the only one."""
    cycle, order = rng.permutation(size), np.empty(size, dtype=np.int64)
    order[cycle] = np.roll(cycle, 1)
    return order
