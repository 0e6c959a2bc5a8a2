"""The log of several updates on several processes: the numbers that one large batch would have logged."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

from rlsum.training.parallel.processes import Processes

Part = tuple[int, Mapping[str, float]]  # articles of a batch, numbers that its step logged
OF_REFERENCES = {"nll"}  # means over reference tokens, whose number is ``tokens``
OF_SAMPLES = {"entropy", "kl", "ratio_outside"}  # means over the samples' tokens
SUMS = {"tokens", "reward_seconds"}
OF_ADVANTAGES = {"advantage_mean", "advantage_std", "zero_advantage"}  # means over samples whose advantage is defined


class TrainingLog:
    """Collects the numbers of updates between two lines of the log."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        self._updates: list[list[Part]] = []
        self._since = time.perf_counter()

    def add(self, parts: list[Part], more: Mapping[str, float]) -> None:
        """Numbers of this process's batches of an update, and numbers that all batches share."""
        self._updates.append([(articles, {**log, **more}) for articles, log in parts])

    def flush(self) -> dict[str, float]:
        """Means over the updates since the last line, over all processes. Every process must call it."""
        logs = self.processes.gather_all(self._updates)
        updates = [averaged([part for parts in update for part in parts]) for update in zip(*logs, strict=True)]
        tokens = sum(update.pop("tokens", 0.0) for update in updates)
        rewarding = [update.pop("reward_seconds") for update in updates if "reward_seconds" in update]
        seconds = time.perf_counter() - self._since
        line = {}
        for name in dict.fromkeys(name for update in updates for name in update):
            values = [update[name] for update in updates if name in update]
            line[name] = sum(values) / len(values)
        line["tokens_per_second"] = tokens / seconds
        line["updates_per_second"] = len(updates) / seconds
        if rewarding:
            line["reward_share"] = sum(rewarding) / (seconds * len(logs))
        self._updates = []
        self.restart_clock()
        return line

    def restart_clock(self) -> None:
        """Count the seconds of training from now."""
        self._since = time.perf_counter()


def averaged(parts: Sequence[Part]) -> dict[str, float]:
    """Means over the articles of all parts, or over tokens or samples; numbers undefined in all parts are left out.

    ``SUMS`` are added up. Means of means are slightly off for ``ranked_right``, whose pairs are not counted, and
    where rewards are undefined.
    """
    if len(parts) == 1:  # without rounding
        return {name: value for name, value in parts[0][1].items() if not math.isnan(value)}
    names = dict.fromkeys(name for _, log in parts for name in log)
    means = {
        name: _average(name, [part for part in parts if not math.isnan(part[1].get(name, math.nan))]) for name in names
    }
    return {name: value for name, value in means.items() if not math.isnan(value)}


def _average(name: str, parts: Sequence[Part]) -> float:
    values = [log[name] for _, log in parts]
    if not values:
        return math.nan
    if name in SUMS:
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
