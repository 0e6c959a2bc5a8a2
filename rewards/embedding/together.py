"""Several contextual metrics on the same pairs: encoded once, centred once, cosines taken once, in padded batches.

For studies, which ask for dozens of metrics on the same texts. The scores are those of each metric by itself, up to
rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rewards.embedding import padded
from rewards.embedding.comparison import VANISHED, Comparison
from rewards.embedding.measures import Exact, Greedy, MeanCosine, Measure, Points, Relaxed, SquaredCosines, Tempered
from rewards.embedding.space import Space
from rewards.errors import RewardError
from rewards.transport import exact_cost

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

TOGETHER = 2_048  # pairs encoded at once; a multiple of the batch of batch centering
PADDED = 32  # pairs of like length whose cosines are one tensor


def score_together(
    rewards: Sequence[Comparison], candidates: Sequence[str], references: Sequence[str]
) -> NDArray[np.float64]:
    """``(metrics, n)`` float64: what each of ``rewards`` gives the pairs, one reference each, as calling it would.

    Raises RewardError for another kind of reward, MoverScore's ``v1`` and ``v2``, a rescaled one, ``idf=references``,
    and where there are not as many references as candidates.
    """
    import torch

    if len(candidates) != len(references):
        raise RewardError(f"{len(candidates)} candidates and {len(references)} references; give one reference each")
    alike = _by_space(rewards)
    scores = np.full((len(rewards), len(candidates)), np.nan)
    with torch.inference_mode():
        for start in range(0, len(candidates), TOGETHER):
            part = slice(start, start + TOGETHER)
            for places in alike:
                metrics = [rewards[place] for place in places]
                scores[places, part] = _scores(metrics, candidates[part], references[part])
    return scores


def _by_space(rewards: Sequence[Comparison]) -> list[list[int]]:
    """The places of the metrics that compare the same points, together."""
    found: dict[Any, list[int]] = {}
    for place, reward in enumerate(rewards):
        if not (isinstance(reward, Comparison) and isinstance(reward.space, Space)):
            name = getattr(reward, "name", type(reward).__name__)
            raise RewardError(f"{name} is not of the family that can be scored together: sbert, cka, moverscore, ...")
        if reward.rescale is not None or reward.space.idf.per_call:
            raise RewardError(f"{reward.name}: rescale and idf=references are not for scoring together; call it alone")
        space = reward.space
        fitted = space.idf.option is not None or space.centering == "corpus"
        key = id(space) if fitted else (space.source, space.centering, space.special)
        found.setdefault(key, []).append(place)
    return list(found.values())


def _scores(metrics: Sequence[Comparison], candidates: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """``(metrics, n)`` of metrics of one space."""
    texts, first, second = _points(metrics[0], candidates, references)
    own = np.pad(_own_scores(metrics, texts), ((0, 0), (0, 1)))  # the last: a text with nothing to score
    own_first, own_second = own[:, first], own[:, second]
    there = np.flatnonzero((first >= 0) & (second >= 0))
    pairs = [(texts[first[row]], texts[second[row]]) for row in there]
    found = np.full(own_first.shape, np.nan)
    found[:, there] = _measured([each.measure for each in metrics], pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        found /= np.sqrt(own_first * own_second)
    normalised = np.array([each.measure.normalize == "self" for each in metrics])
    equal = np.array([_equal(*pair) for pair in pairs], dtype=bool)
    found[np.ix_(normalised, there[equal])] = 1.0
    floors = np.array([[each.measure.floor] for each in metrics])
    found = np.where(own_first > VANISHED, found, floors)
    return np.where(own_second > VANISHED, found, np.nan)


def _points(
    metric: Comparison, candidates: Sequence[str], references: Sequence[str]
) -> tuple[list[Points], NDArray[np.int64], NDArray[np.int64]]:
    """All points, and for each side which of them ``(n,)`` are its texts'; -1 for a text with nothing to score."""
    space = metric.space
    encoded = space.encode([*candidates, *references])
    texts: list[Points] = []
    sides: list[list[int]] = [[], []]
    for start in range(0, len(candidates), space.group):
        group = slice(start, start + space.group)
        found = space.sides(candidates[group], references[group], encoded)
        for side, points, listed in zip(sides, found, (candidates[group], references[group]), strict=True):
            place = {text: number for number, text in enumerate(points, len(texts))}
            texts += points.values()
            side += [place.get(text, -1) for text in listed]
    return texts, np.array(sides[0], dtype=np.int64), np.array(sides[1], dtype=np.int64)


def _own_scores(metrics: Sequence[Comparison], texts: Sequence[Points]) -> NDArray[np.float64]:
    """Self-scores ``(metrics, texts)``: 1 where it does not normalise, 0 where nothing is left of a text."""
    found = np.tile([float(each.vectors.any()) for each in texts], (len(metrics), 1))
    normalised = [place for place, each in enumerate(metrics) if each.measure.normalize == "self"]
    if normalised:
        one_way = [metrics[place].raw(metrics[place].directions[0]).measure for place in normalised]
        found[normalised] = _measured(one_way, [(each, each) for each in texts])
    return found


def _measured(measures: Sequence[Measure], pairs: Sequence[tuple[Points, Points]]) -> NDArray[np.float64]:
    """``C`` of each measure and pair, ``(measures, pairs)``."""
    lengths = [len(one.vectors) + len(other.vectors) for one, other in pairs]
    by_length = sorted(range(len(pairs)), key=lengths.__getitem__)
    found = np.empty((len(measures), len(pairs)))
    for start in range(0, len(pairs), PADDED):
        places = by_length[start : start + PADDED]
        batch = _Batch([pairs[place] for place in places])
        for number, measure in enumerate(measures):
            found[number, places] = batch(measure).numpy()
    return found


class _Batch:
    """Pairs with their cosines, and what measures made of them: F1 asks for precision and recall again."""

    def __init__(self, pairs: Sequence[tuple[Points, Points]]) -> None:
        self.pairs = pairs
        self.rows, self.columns = padded.both_ways([one for one, _ in pairs], [other for _, other in pairs])
        self.known: dict[Measure, Tensor] = {}

    def __call__(self, measure: Measure) -> Tensor:
        """``C`` of every pair, ``(n,)``."""
        if measure not in self.known:
            self.known[measure] = self._made(measure)
        return self.known[measure]

    def _made(self, measure: Measure) -> Tensor:
        if isinstance(measure, MeanCosine):
            return padded.mean_cosine(self.rows)
        if isinstance(measure, SquaredCosines):
            return padded.squared_cosines(self.rows)
        if isinstance(measure, Exact):
            return self._exact()
        if not isinstance(measure, Greedy | Relaxed | Tempered):
            raise RewardError(f"{type(measure).__name__} cannot be taken in padded batches")
        if measure.direction == "f1":
            return padded.harmonic(*(self(replace(measure, direction=way)) for way in ("precision", "recall")))
        cosines = self.rows if measure.direction == "precision" else self.columns
        if isinstance(measure, Greedy):
            return padded.greedy(cosines)
        if isinstance(measure, Relaxed):
            return padded.relaxed(cosines, measure.temperature, measure.entropy)
        return padded.tempered(cosines, measure.temperature, measure.iterations, measure.entropy)

    def _exact(self) -> Tensor:
        costs = (1.0 - self.rows.values).numpy()
        found = [
            1.0 - exact_cost(one.weights.numpy(), two.weights.numpy(), cost[: len(one.weights), : len(two.weights)])
            for (one, two), cost in zip(self.pairs, costs, strict=True)
        ]
        return self.rows.values.new_tensor(found)


def _equal(one: Points, other: Points) -> bool:
    import torch

    return torch.equal(one.vectors, other.vectors)
