"""A contextual metric with a gradient: the scores of ``comparison``, as tensors that training can follow back.

The same points and the same measure, so that what is trained is what will be scored with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rewards.embedding.comparison import BOTH_WAYS, VANISHED, Comparison
from rewards.embedding.measures import Greedy, MeanCosine, Measure, Points, Relaxed, SquaredCosines, Tempered
from rewards.encoding.encoder import Encoder
from rewards.errors import RewardError

if TYPE_CHECKING:
    from torch import Tensor

WITH_GRADIENT = (MeanCosine, SquaredCosines, Greedy, Relaxed, Tempered)


def check_differentiable(reward: object) -> Comparison:
    """The reward itself. Raises RewardError unless it is a contextual metric whose formula has a gradient."""
    if not isinstance(reward, Comparison):
        name = getattr(reward, "name", type(reward).__name__)
        raise RewardError(f"{name} has no gradient; use sbert, cka, bertscore, trwmd or twmd")
    if not isinstance(reward.measure, WITH_GRADIENT):
        raise RewardError(
            f"{reward.name}: exact transport has no gradient; use twmd with a temperature above 0, which comes near it"
        )
    return reward


def similarities(
    reward: Comparison, encoder: Encoder, candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> Tensor:
    """The scores of ``reward`` with the vectors of ``encoder`` instead of its own: ``(n,)`` float64, not rescaled.

    A candidate without a token gets the floor, which has no gradient; NaN where no reference can be scored. With batch
    centering runs of 32 share their means. Of several references the best counts, and gets the gradient.
    """
    import torch

    found: list[Tensor] = []
    for start in range(0, len(candidates), reward.space.group):
        group = slice(start, start + reward.space.group)
        found += _group(reward, encoder, candidates[group], references[group])
    return torch.stack(found) if found else torch.zeros(0, dtype=torch.float64)


def _group(
    reward: Comparison, encoder: Encoder, candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> list[Tensor]:
    import torch

    flat = [text for texts in references for text in texts]
    texts = list(dict.fromkeys([*candidates, *flat]))
    encoded = dict(zip(texts, encoder.encode(texts), strict=True))
    first, second = (_with_own(reward, points) for points in reward.space.sides(candidates, flat, encoded))
    scores = []
    for candidate, listed in zip(candidates, references, strict=True):
        usable = [second[text] for text in listed if text in second]
        if not usable:
            scores.append(torch.tensor(float("nan"), dtype=torch.float64))
        elif candidate not in first:
            scores.append(torch.tensor(reward.measure.floor, dtype=torch.float64))
        else:
            points, own = first[candidate]
            each = [reward.measure(points, other) / (own * others).sqrt() for other, others in usable]
            scores.append(torch.stack(each).max())
    return scores


def _with_own(reward: Comparison, points: Mapping[str, Points]) -> dict[str, tuple[Points, Tensor]]:
    """Texts with their self-scores (1 without normalisation); those of which centering left nothing are not there."""
    if reward.measure.normalize == "none":
        return {text: (each, each.vectors.new_ones(())) for text, each in points.items() if bool(each.vectors.any())}
    measure: Measure = reward.measure if BOTH_WAYS in reward.directions else reward.raw("precision").measure
    own = {text: measure(each, each) for text, each in points.items()}
    return {text: (points[text], value) for text, value in own.items() if value > VANISHED}
