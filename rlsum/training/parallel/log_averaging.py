"""The numbers of an update from those of its parts: what one large batch would have logged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Part = tuple[int, Mapping[str, float]]  # articles, what a step logged of them
OF_REFERENCES = {"nll"}  # means over reference tokens, whose number is ``tokens``
OF_SAMPLES = {"entropy", "kl", "ratio_outside"}  # means over the samples' tokens
OF_ADVANTAGES = {"advantage_mean", "advantage_std", "zero_advantage"}  # means over samples whose advantage is defined


def averaged(parts: Sequence[Part]) -> dict[str, float]:
    """Means over the articles of all parts, or over what a name counts; what is undefined in all parts is left out.

    ``tokens`` are added up. A part without articles counts nothing. Where rewards are undefined, and for
    ``ranked_right``, whose pairs nobody counts, means of means are a little off.
    """
    counted = [part for part in parts if part[0]]
    if len(counted) == 1:  # as it was logged: no rounding
        return {name: value for name, value in counted[0][1].items() if not math.isnan(value)}
    names = dict.fromkeys(name for _, log in counted for name in log)
    found = {name: _average(name, [part for part in counted if _known(part[1], name)]) for name in names}
    return {name: value for name, value in found.items() if not math.isnan(value)}


def _known(log: Mapping[str, float], name: str) -> bool:
    return not math.isnan(log.get(name, math.nan))


def _average(name: str, parts: Sequence[Part]) -> float:
    values = [log[name] for _, log in parts]
    if not values:
        return math.nan
    if name == "tokens":
        return sum(values)
    if name in ("advantage_min", "advantage_max"):
        return (min if name == "advantage_min" else max)(values)
    weights = [_weight(name, articles, log) for articles, log in parts]
    if name == "advantage_std":
        means = [log["advantage_mean"] for _, log in parts]
        mean = _mean(means, weights)
        return math.sqrt(_mean([std**2 + (m - mean) ** 2 for std, m in zip(values, means, strict=True)], weights))
    return _mean(values, weights)


def _weight(name: str, articles: int, log: Mapping[str, float]) -> float:
    if name in OF_REFERENCES:
        return log["tokens"]
    if name in OF_SAMPLES:
        return articles * log["sample_length"]
    if name in OF_ADVANTAGES:
        return articles * (1.0 - log["undefined_rewards"])
    return articles


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    products = (value * weight for value, weight in zip(values, weights, strict=True))
    return sum(products) / sum(weights) if sum(weights) else math.nan
