"""A baseline of one's own for ``rescale=``: a contextual metric's mean score of random pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rewards.embedding.comparison import Comparison
from rewards.embedding.corpus_mean import digest
from rewards.embedding.rescaling import Baseline
from rewards.embedding.space import CHUNK
from rewards.errors import RewardError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def baseline(reward: object, texts: Sequence[str], pairs: int, seed: int = 0, language: str = "en") -> Baseline:
    """The mean score of ``pairs`` random pairs of different texts, in each direction of a contextual metric.

    Pairs in which a text has nothing to score are left out. Raises RewardError for a reward of another family, one that
    is rescaled already or counts IDF per call, and where fewer than two different texts can be scored.
    """
    if not isinstance(reward, Comparison):
        name = getattr(reward, "name", type(reward).__name__)
        raise RewardError(f"{name} has no baseline: sbert, cka, moverscore, bertscore, trwmd and twmd can be rescaled")
    if reward.rescale is not None:
        raise RewardError(f"{reward.name}: leave rescale out; a baseline is made of raw scores")
    if reward.space.idf.per_call:
        raise RewardError(f"{reward.name}: idf=references changes from call to call; give idf=FILE for a baseline")
    if pairs < 1:
        raise RewardError(f"pairs={pairs} must be at least 1")
    chosen = random_pairs(texts, pairs, seed)
    parts = [_scores(reward, chosen[start : start + CHUNK]) for start in range(0, pairs, CHUNK)]
    scores = np.concatenate(parts, axis=1)
    if not scores.size:
        raise RewardError("a baseline needs texts that can be scored, and no pair of these could")
    means = dict(zip(reward.directions, scores.mean(axis=1).tolist(), strict=True))
    return Baseline(reward.metric, language, scores.shape[1], seed, digest(texts), means)


def random_pairs(texts: Sequence[str], pairs: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of different texts, drawn with replacement; the same for the same seed. Empty texts are left out."""
    distinct = list(dict.fromkeys(text for text in texts if text.strip()))
    if len(distinct) < 2:
        raise RewardError(f"a baseline needs at least two different texts, found {len(distinct)}")
    random = np.random.default_rng(seed)
    first = random.integers(len(distinct), size=pairs)
    second = (first + random.integers(1, len(distinct), size=pairs)) % len(distinct)
    return [(distinct[one], distinct[other]) for one, other in zip(first, second, strict=True)]


def _scores(reward: Comparison, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """``(directions, pairs)`` of those pairs that can be scored; a part at a time, so that it is encoded once."""
    encoded = reward.space.encode([text for pair in pairs for text in pair])
    usable = [pair for pair in pairs if all(reward.space.nothing(text, encoded[text]) is None for text in pair)]
    candidates, references = [one for one, _ in usable], [[other] for _, other in usable]
    scores = np.stack([reward.raw(direction)(candidates, references) for direction in reward.directions])
    return scores[:, np.isfinite(scores).all(axis=0)]
