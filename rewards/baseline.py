"""A baseline of one's own for ``rescale=``: a contextual metric's mean score of random pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rewards.comparison import Comparison
from rewards.corpus import digest
from rewards.errors import RewardError
from rewards.rescale import Baseline

CHUNK = 10_000  # pairs scored at once


def baseline(reward: object, texts: Sequence[str], pairs: int, seed: int = 0, language: str = "en") -> Baseline:
    """The mean score of ``pairs`` random pairs of different texts, in each direction of a contextual metric.

    Texts with nothing to score are left out. Raises RewardError for a reward of another family, one that is rescaled
    already, fewer than two different texts, or a score that is undefined.
    """
    if not isinstance(reward, Comparison):
        name = getattr(reward, "name", type(reward).__name__)
        raise RewardError(f"{name} has no baseline: sbert, cka, moverscore, bertscore, trwmd and twmd can be rescaled")
    if reward.rescale is not None:
        raise RewardError(f"{reward.name}: leave rescale out; a baseline is made of raw scores")
    if pairs < 1:
        raise RewardError(f"pairs={pairs} must be at least 1")
    chosen = random_pairs([text for text in texts if reward.undefined(text, [text]) is None], pairs, seed)
    values = {direction: _mean(reward.raw(direction), chosen) for direction in reward.directions}
    return Baseline(reward.metric, language, pairs, seed, digest(texts), values)


def random_pairs(texts: Sequence[str], pairs: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of different texts, drawn with replacement; the same for the same seed."""
    distinct = list(dict.fromkeys(texts))
    if len(distinct) < 2:
        raise RewardError(f"a baseline needs at least two different texts that can be scored, found {len(distinct)}")
    random = np.random.default_rng(seed)
    first = random.integers(len(distinct), size=pairs)
    second = (first + random.integers(1, len(distinct), size=pairs)) % len(distinct)
    return [(distinct[one], distinct[other]) for one, other in zip(first, second, strict=True)]


def _mean(reward: Comparison, pairs: Sequence[tuple[str, str]]) -> float:
    parts = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
    scores = [reward([one for one, _ in part], [[other] for _, other in part]) for part in parts]
    mean = float(np.concatenate(scores).mean())
    if not np.isfinite(mean):
        raise RewardError(f"{reward.name}: a random pair has no score, so there is no baseline")
    return mean
