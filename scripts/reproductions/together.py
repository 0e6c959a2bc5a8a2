"""Many metrics of the similarity family on the same pairs: encoded, centred and multiplied once, in padded batches.

A table of a paper asks for dozens of metrics on the same texts. The scores equal those of each metric by itself up to
rounding. The product scores one pair at a time instead: a padded batch is no faster for a single metric, and its last
bits depend on the other pairs of the batch.

Padding never enters a number: it carries no weight, and no maximum, sum or softmax reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rewards.embedding.reward import VANISHED, EmbeddingReward
from rewards.embedding.similarity import Exact, Greedy, MeanCosine, Measure, Points, Relaxed, SquaredCosines, Tempered
from rewards.embedding.space import Space
from rewards.errors import RewardError
from rewards.transport import exact_cost

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

PART = 2_048  # pairs encoded at once; a multiple of the batch of batch centering
BATCH = 32  # pairs of similar length whose cosines are one tensor


def score_together(
    rewards: Sequence[EmbeddingReward], candidates: Sequence[str], references: Sequence[str]
) -> NDArray[np.float64]:
    """``(metrics, n)`` float64: the score of each of ``rewards`` for the pairs, one reference each.

    Raises RewardError for other rewards, MoverScore's ``v1`` and ``v2``, a rescaled metric, ``idf=references``, and
    where the numbers of candidates and references differ.
    """
    import torch

    if len(candidates) != len(references):
        raise RewardError(f"{len(candidates)} candidates and {len(references)} references; give one reference each")
    groups = _by_space(rewards)
    scores = np.full((len(rewards), len(candidates)), np.nan)
    with torch.inference_mode():
        for start in range(0, len(candidates), PART):
            part = slice(start, start + PART)
            for rows in groups:
                scores[rows, part] = _scores([rewards[row] for row in rows], candidates[part], references[part])
    return scores


def _by_space(rewards: Sequence[EmbeddingReward]) -> list[list[int]]:
    """The indices of the metrics that compare the same points, grouped."""
    groups: dict[Any, list[int]] = {}
    for index, reward in enumerate(rewards):
        if not (isinstance(reward, EmbeddingReward) and isinstance(reward.space, Space)):
            name = getattr(reward, "name", type(reward).__name__)
            raise RewardError(f"{name} is not of the family that can be scored together: sbert, cka, moverscore, ...")
        if reward.rescaling is not None or reward.space.idf.per_call:
            raise RewardError(f"{reward.name}: rescale and idf=references cannot be scored together; call it alone")
        space = reward.space
        fitted = space.idf.option is not None or space.centering == "corpus"
        key = id(space) if fitted else (space.source, space.centering, space.special)
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def _scores(
    metrics: Sequence[EmbeddingReward], candidates: Sequence[str], references: Sequence[str]
) -> NDArray[np.float64]:
    """``(metrics, n)`` of metrics of one space."""
    texts, first, second = _points(metrics[0], candidates, references)
    self_scores = np.pad(_self_scores(metrics, texts), ((0, 0), (0, 1)))  # the last: a text with nothing to score
    self_first, self_second = self_scores[:, first], self_scores[:, second]
    usable = np.flatnonzero((first >= 0) & (second >= 0))
    pairs = [(texts[first[row]], texts[second[row]]) for row in usable]
    scores = np.full(self_first.shape, np.nan)
    scores[:, usable] = _measured([metric.measure for metric in metrics], pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores /= np.sqrt(self_first * self_second)
    normalised = np.array([metric.measure.normalize == "self" for metric in metrics])
    equal = np.array([_equal(*pair) for pair in pairs], dtype=bool)
    scores[np.ix_(normalised, usable[equal])] = 1.0
    floors = np.array([[metric.measure.floor] for metric in metrics])
    scores = np.where(self_first > VANISHED, scores, floors)
    return np.where(self_second > VANISHED, scores, np.nan)


def _points(
    metric: EmbeddingReward, candidates: Sequence[str], references: Sequence[str]
) -> tuple[list[Points], NDArray[np.int64], NDArray[np.int64]]:
    """All points, and for each side the indices ``(n,)`` of its texts' points; -1 for a text with nothing to score."""
    space = metric.space
    encoded = space.encode([*candidates, *references])
    texts: list[Points] = []
    sides: list[list[int]] = [[], []]
    for start in range(0, len(candidates), space.group):
        group = slice(start, start + space.group)
        both = space.sides(candidates[group], references[group], encoded)
        for side, points, written in zip(sides, both, (candidates[group], references[group]), strict=True):
            index = {text: number for number, text in enumerate(points, len(texts))}
            texts += points.values()
            side += [index.get(text, -1) for text in written]
    return texts, np.array(sides[0], dtype=np.int64), np.array(sides[1], dtype=np.int64)


def _self_scores(metrics: Sequence[EmbeddingReward], texts: Sequence[Points]) -> NDArray[np.float64]:
    """Self-scores ``(metrics, texts)``: 1 where a metric does not normalise, 0 where nothing is left of a text."""
    scores = np.tile([float(points.vectors.any()) for points in texts], (len(metrics), 1))
    normalised = [row for row, metric in enumerate(metrics) if metric.measure.normalize == "self"]
    if normalised:
        one_way = [metrics[row].raw(metrics[row].directions[0]).measure for row in normalised]
        scores[normalised] = _measured(one_way, [(points, points) for points in texts])
    return scores


def _measured(measures: Sequence[Measure], pairs: Sequence[tuple[Points, Points]]) -> NDArray[np.float64]:
    """``C`` of each measure and pair, ``(measures, pairs)``."""
    lengths = [len(first.vectors) + len(second.vectors) for first, second in pairs]
    by_length = sorted(range(len(pairs)), key=lengths.__getitem__)
    values = np.empty((len(measures), len(pairs)))
    for start in range(0, len(pairs), BATCH):
        rows = by_length[start : start + BATCH]
        batch = _Batch([pairs[row] for row in rows])
        for number, measure in enumerate(measures):
            values[number, rows] = batch(measure).numpy()
    return values


class _Batch:
    """Pairs with their cosines and the values of measures already asked for: F1 needs precision and recall again."""

    def __init__(self, pairs: Sequence[tuple[Points, Points]]) -> None:
        self.pairs = pairs
        self.rows, self.columns = both_ways([first for first, _ in pairs], [second for _, second in pairs])
        self.known: dict[Measure, Tensor] = {}

    def __call__(self, measure: Measure) -> Tensor:
        """``C`` of every pair, ``(n,)``."""
        if measure not in self.known:
            self.known[measure] = self._value(measure)
        return self.known[measure]

    def _value(self, measure: Measure) -> Tensor:
        values = self.rows.values
        if isinstance(measure, MeanCosine):
            return values.sum(dim=(1, 2)) / (self.rows.rows.sum(dim=1) * self.rows.columns.sum(dim=1))
        if isinstance(measure, SquaredCosines):
            return values.square().sum(dim=(1, 2))
        if isinstance(measure, Exact):
            return self._exact()
        if not isinstance(measure, Greedy | Relaxed | Tempered):
            raise RewardError(f"{type(measure).__name__} cannot be computed in padded batches")
        if measure.direction == "f1":
            return _harmonic(*(self(replace(measure, direction=way)) for way in ("precision", "recall")))
        cosines = self.rows if measure.direction == "precision" else self.columns
        if isinstance(measure, Greedy):
            best = _without(cosines.values, ~cosines.columns[:, None, :]).amax(dim=2)
            return (best * cosines.weights).sum(dim=1)
        logits = cosines.values / measure.temperature
        if isinstance(measure, Tempered):
            logits = _sinkhorn(cosines, logits, measure.iterations)
        return _plan_value(cosines, logits, measure.temperature, measure.entropy)

    def _exact(self) -> Tensor:
        costs = (1.0 - self.rows.values).numpy()
        values = [
            1.0 - exact_cost(one.weights.numpy(), two.weights.numpy(), cost[: len(one.weights), : len(two.weights)])
            for (one, two), cost in zip(self.pairs, costs, strict=True)
        ]
        return self.rows.values.new_tensor(values)


@dataclass(frozen=True, eq=False)
class Cosines:
    """The cosines of ``n`` pairs, one way: averages go over the rows.

    ``values`` ``(n, L1, L2)``, 0 at padding; ``rows`` ``(n, L1)`` and ``columns`` ``(n, L2)`` are True at tokens;
    ``weights`` ``(n, L1)`` of the rows sum to 1 and are 0 at padding. All float64 or bool.
    """

    values: Tensor
    rows: Tensor
    columns: Tensor
    weights: Tensor


def both_ways(first: Sequence[Points], second: Sequence[Points]) -> tuple[Cosines, Cosines]:
    """The cosines of ``first[i]`` with ``second[i]``: with rows for the first's tokens, then for the second's."""
    from torch.nn.utils.rnn import pad_sequence

    vectors, weights, kept = [], [], []
    for side in (first, second):
        vectors.append(pad_sequence([points.vectors for points in side], batch_first=True))
        weights.append(pad_sequence([points.weights for points in side], batch_first=True))
        ones = [points.weights.new_ones(len(points.weights)) for points in side]
        kept.append(pad_sequence(ones, batch_first=True) > 0)
    values = vectors[0] @ vectors[1].transpose(1, 2)
    over_first = Cosines(values, kept[0], kept[1], weights[0])
    return over_first, Cosines(values.transpose(1, 2), kept[1], kept[0], weights[1])


def _sinkhorn(cosines: Cosines, logits: Tensor, iterations: int) -> Tensor:
    """Logits of TWMD's plan ``(n, L1, L2)`` but for the last normalisation of the rows."""
    rows, columns = ~cosines.rows[:, :, None], ~cosines.columns[:, None, :]
    shifted = logits
    for iteration in range(iterations):
        if iteration:
            shifted = logits - _without(shifted, columns).logsumexp(dim=2, keepdim=True)
        shifted = logits - _without(shifted, rows).logsumexp(dim=1, keepdim=True)
    return shifted


def _plan_value(cosines: Cosines, logits: Tensor, temperature: float, entropy: bool) -> Tensor:
    """The mean over rows of ``sum_j w_ij S_ij``, ``w = softmax_j(logits)``, plus ``T H(w)`` with ``entropy``."""
    plan = _without(logits, ~cosines.columns[:, None, :]).softmax(dim=2)
    gain = (plan * cosines.values).sum(dim=2)
    if entropy:
        gain = gain - temperature * plan.xlogy(plan).sum(dim=2)
    return (gain * cosines.rows).sum(dim=1) / cosines.rows.sum(dim=1)


def _harmonic(precision: Tensor, recall: Tensor) -> Tensor:
    """Harmonic means ``(n,)``; the smaller of the two where one is not positive."""
    import torch

    smaller = torch.minimum(precision, recall)
    return torch.where(smaller <= 0, smaller, 2 * precision * recall / (precision + recall))


def _without(values: Tensor, padding: Tensor) -> Tensor:
    return values.masked_fill(padding, float("-inf"))


def _equal(first: Points, second: Points) -> bool:
    import torch

    return torch.equal(first.vectors, second.vectors)
