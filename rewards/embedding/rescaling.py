"""Rescaling baselines for ``(x - b) / (1 - b)``: ``b`` is the mean score of random pairs (Zhang et al., 2020).

Two formats are read: the files of bert-score (columns LAYER, P, R, F, separated by commas although named .tsv; one file
per encoder, in one folder per language) and our own JSON, which ``rlsum baseline`` writes for any metric of the family.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rewards.embedding.corpus_statistics import PER_CALL, check_file, digest
from rewards.embedding.reward import EmbeddingReward
from rewards.embedding.space import CHUNK
from rewards.errors import RewardError

PUBLISHED = {"precision": "P", "recall": "R", "f1": "F"}


@dataclass(kw_only=True)
class RescalingOptions:
    """The options of metrics that can be rescaled."""

    rescale: str | None = None
    """a published baseline file, or one by `rlsum baseline`: scores become (x - b) / (1 - b)"""
    language: str | None = None
    """which baseline of the file given as rescale"""


@dataclass(frozen=True)
class RescalingBaseline:
    """Mean scores of random pairs by direction, for one metric (its signature without direction) and language."""

    metric: str
    language: str
    pairs: int
    seed: int
    texts: str
    values: dict[str, float]


class BaselineFile:
    """The options ``rescale=FILE`` and ``language=``. Raises RewardError for a file that cannot fit the metric."""

    def __init__(self, path: str, language: str | None, published_for: str | None) -> None:
        """``published_for``: the encoder, for a metric that bert-score's files are made for; else None."""
        check_file("rescale", path, "a baseline; " + _how(path))
        self.path, self.language = path, language
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            self.published = file.readline().strip().split(",")[0] == "LAYER"
        if self.published:
            self._check_published(published_for, Path(path))
        else:
            read_baselines(path)

    def baseline(self, metric: str, layer: str, direction: str) -> float:
        """The baseline of a metric in one direction. Raises RewardError where the file has none that fits."""
        value = self._from_published(layer, direction) if self.published else self._from_ours(metric, direction)
        if not (math.isfinite(value) and value < 1.0):
            raise self._error(f"gives the baseline {value}, which must be below 1")
        return value

    def _check_published(self, encoder: str | None, path: Path) -> None:
        if encoder is None:
            raise self._error(
                "holds BERTScore's baselines without centering and with official special tokens", "baseline.json"
            )
        if path.stem != Path(encoder).name:
            raise self._error(f"is for the encoder {path.stem!r}, not {encoder!r}", "baseline.json")
        if self.language is not None and self.language not in path.parts[:-1]:
            raise self._error(f"is for another language, since no folder of its path is named {self.language!r}")

    def _from_published(self, layer: str, direction: str) -> float:
        with Path(self.path).open(encoding="utf-8", newline="") as file:
            rows = {row["LAYER"]: row for row in csv.DictReader(file)}
        if layer not in rows:
            raise self._error(f"has no layer {layer}, only {', '.join(rows)}", "baseline.json")
        try:
            return float(rows[layer][PUBLISHED[direction]])
        except (KeyError, TypeError, ValueError) as error:
            raise self._error(f"has no number for {error} in layer {layer}") from error

    def _from_ours(self, metric: str, direction: str) -> float:
        baselines = read_baselines(self.path)
        fitting = [baseline for baseline in baselines if baseline.metric == metric]
        if not fitting:
            metrics = "; it has: " + ", ".join(sorted({baseline.metric for baseline in baselines})) if baselines else ""
            raise self._error(f"has no baseline for {metric}{metrics}", self.path)
        chosen = [baseline for baseline in fitting if self.language in (None, baseline.language)]
        languages = ", ".join(baseline.language for baseline in fitting)
        if not chosen:
            raise self._error(f"has no baseline for language={self.language}, only {languages}", self.path)
        if len(chosen) > 1:
            raise self._error(f"has baselines for {languages}; choose one by language=")
        return chosen[0].values[direction]

    def _error(self, problem: str, out: str | None = None) -> RewardError:
        """``out``: advise to make a baseline in this file."""
        return RewardError(f"rescale={self.path!r} {problem}" + ("" if out is None else f"; {_how(out)}"))


def measure_baseline(
    reward: object, texts: Sequence[str], pairs: int, seed: int = 0, language: str = "en"
) -> RescalingBaseline:
    """The mean score of ``pairs`` random pairs of different texts, in each direction of a metric of the family.

    Pairs with a text that cannot be scored are left out. Raises RewardError for a reward of another family, one that is
    rescaled already or counts IDF per call, and where fewer than two different texts can be scored.
    """
    if not isinstance(reward, EmbeddingReward):
        name = getattr(reward, "name", type(reward).__name__)
        raise RewardError(f"{name} has no baseline; give a contextual metric, such as bertscore or twmd")
    if reward.rescaling is not None:
        raise RewardError(f"{reward.name}: a baseline is the mean of scores that are not rescaled; leave out rescale")
    if reward.space.idf == PER_CALL:
        raise RewardError(f"{reward.name}: idf=references changes from call to call; give idf=FILE for a baseline")
    if pairs < 1:
        raise RewardError(f"pairs={pairs} must be at least 1")
    chosen = random_pairs(texts, pairs, seed)
    chunks = [_scores(reward, chosen[start : start + CHUNK]) for start in range(0, pairs, CHUNK)]
    scores = np.concatenate(chunks, axis=1)
    if not scores.size:
        raise RewardError("no pair of the texts can be scored; give texts with words for a baseline")
    means = dict(zip(reward.directions, scores.mean(axis=1).tolist(), strict=True))
    return RescalingBaseline(reward.metric, language, scores.shape[1], seed, digest(texts), means)


def random_pairs(texts: Sequence[str], pairs: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of different texts, drawn with replacement; the same for the same seed. Empty texts are left out."""
    distinct = list(dict.fromkeys(text for text in texts if text.strip()))
    if len(distinct) < 2:
        raise RewardError(f"a baseline needs at least two different texts, found {len(distinct)}")
    random = np.random.default_rng(seed)
    first = random.integers(len(distinct), size=pairs)
    second = (first + random.integers(1, len(distinct), size=pairs)) % len(distinct)
    return [(distinct[left], distinct[right]) for left, right in zip(first, second, strict=True)]


def _scores(reward: EmbeddingReward, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """``(directions, pairs)`` of the pairs that can be scored."""
    encoded = reward.space.encode([text for pair in pairs for text in pair])
    usable = [pair for pair in pairs if all(reward.space.unscorable(encoded[text]) is None for text in pair)]
    candidates, references = [first for first, _ in usable], [[second] for _, second in usable]
    scores = np.stack([reward.raw(direction)(candidates, references) for direction in reward.directions])
    return scores[:, np.isfinite(scores).all(axis=0)]


def read_baselines(path: str | Path) -> list[RescalingBaseline]:
    """The baselines of our own format. Raises RewardError for anything else."""
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))["baselines"]
        return [RescalingBaseline(**row) for row in rows]
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        problem = "neither bert-score's format (a first line LAYER,P,R,F) nor written by rlsum baseline"
        raise RewardError(f"rescale={str(path)!r}: {problem} ({error})") from error


def add_baseline(path: str | Path, baseline: RescalingBaseline) -> None:
    """Write a baseline in our format; it replaces one for the same metric and language, and others are kept."""
    baselines = read_baselines(path) if Path(path).exists() else []
    key = (baseline.metric, baseline.language)
    rows = [asdict(entry) for entry in baselines if (entry.metric, entry.language) != key]
    text = json.dumps({"baselines": [*rows, asdict(baseline)]}, indent=1, ensure_ascii=False)
    partial = Path(f"{path}.partial")
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)  # an interrupted write loses no other baseline


def _how(path: str) -> str:
    return f"make one on your own texts: rlsum baseline METRIC --texts TEXTS.txt --out {path}"
