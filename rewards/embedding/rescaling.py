"""Rescaling by a baseline, ``(x - b) / (1 - b)``: ``b`` is the mean score of random pairs (Zhang et al., 2020).

Two formats are read: bert-score's published files (columns LAYER, P, R, F, separated by commas although named .tsv; one
file an encoder, in a folder a language) and our own JSON, which ``rlsum baseline`` writes for any contextual metric.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.embedding.corpus_mean import check_file
from rewards.errors import RewardError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PUBLISHED = {"precision": "P", "recall": "R", "f1": "F"}


@dataclass(frozen=True)
class Baseline:
    """Mean scores of random pairs, by direction, for one metric (its signature without direction) and language."""

    metric: str
    language: str
    pairs: int
    seed: int
    texts: str
    values: dict[str, float]


@dataclass(frozen=True)
class Wanted:
    """What a baseline is looked up for: the metric as in ``Baseline``, its layer and its direction."""

    metric: str
    layer: str
    direction: str


class Rescale:
    """The options ``rescale=FILE`` and ``language=``: which baseline a metric takes, or an error that says how."""

    def __init__(self, path: str, language: str | None, published_for: str | None) -> None:
        """``published_for`` is the encoder where the metric is the one of bert-score's files, else None."""
        check_file("rescale", path, "a baseline; " + _how(path))
        self.path, self.language = path, language
        self.published = _is_published(path)
        if self.published:
            self._check_published(published_for)
        else:
            read_baselines(path)

    def value(self, wanted: Wanted) -> float:
        """The baseline of one direction. Raises RewardError where the file has none that fits."""
        found = self._from_published(wanted) if self.published else self._from_ours(wanted)
        if not (math.isfinite(found) and found < 1.0):
            raise RewardError(f"rescale={self.path!r}: a baseline of {found} cannot be rescaled by; it must be below 1")
        return found

    def _check_published(self, encoder: str | None) -> None:
        path = Path(self.path)
        if encoder is None:
            wrong = "holds BERTScore's baselines without centering and with official special tokens"
            raise RewardError(f"rescale={self.path!r} {wrong}; {_how('baseline.json')}")
        if path.stem != Path(encoder).name:
            raise RewardError(
                f"rescale={self.path!r} is for the encoder {path.stem!r}, not {encoder!r}; {_how('baseline.json')}"
            )
        if self.language is not None and self.language not in path.parts[:-1]:
            raise RewardError(
                f"rescale={self.path!r} lies in no folder {self.language!r}, so it is for another language"
            )

    def _from_published(self, wanted: Wanted) -> float:
        with Path(self.path).open(encoding="utf-8", newline="") as file:
            rows = {row["LAYER"]: row for row in csv.DictReader(file)}
        if wanted.layer not in rows:
            raise RewardError(
                f"rescale={self.path!r} has no layer {wanted.layer}, only {', '.join(rows)}; {_how('baseline.json')}"
            )
        try:
            return float(rows[wanted.layer][PUBLISHED[wanted.direction]])
        except (KeyError, TypeError, ValueError) as error:
            raise RewardError(f"rescale={self.path!r}: layer {wanted.layer} has no number for {error}") from error

    def _from_ours(self, wanted: Wanted) -> float:
        known = read_baselines(self.path)
        fitting = [baseline for baseline in known if baseline.metric == wanted.metric]
        if not fitting:
            there = "; it has: " + ", ".join(sorted({baseline.metric for baseline in known})) if known else ""
            raise RewardError(f"rescale={self.path!r} has no baseline for {wanted.metric}{there}; {_how(self.path)}")
        spoken = [baseline for baseline in fitting if self.language in (None, baseline.language)]
        languages = ", ".join(baseline.language for baseline in fitting)
        if not spoken:
            raise RewardError(
                f"rescale={self.path!r} has none for language={self.language}, only {languages}; {_how(self.path)}"
            )
        if len(spoken) > 1:
            raise RewardError(f"rescale={self.path!r} has baselines for {languages}; choose one by language=")
        return spoken[0].values[wanted.direction]


def rescaled(scores: NDArray[np.float64], baseline: float) -> NDArray[np.float64]:
    """``(x - b) / (1 - b)``: 1 stays 1, the baseline becomes 0, NaN stays NaN; orders and correlations stay."""
    return (scores - baseline) / (1.0 - baseline)


def read_baselines(path: str | Path) -> list[Baseline]:
    """The baselines of our own format. Raises RewardError for anything else."""
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))["baselines"]
        return [Baseline(**row) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        wanted = "neither bert-score's format (a first line LAYER,P,R,F) nor what rlsum baseline writes"
        raise RewardError(f"rescale={str(path)!r}: {wanted} ({error})") from error


def add_baseline(path: str | Path, baseline: Baseline) -> None:
    """Write a baseline into our format; one for the same metric and language is replaced, the others stay."""
    known = read_baselines(path) if Path(path).exists() else []
    key = (baseline.metric, baseline.language)
    rows = [asdict(other) for other in known if (other.metric, other.language) != key]
    text = json.dumps({"baselines": [*rows, asdict(baseline)]}, indent=1, ensure_ascii=False)
    partial = Path(f"{path}.partial")
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)  # a kill in the middle costs no other baseline


def _is_published(path: str) -> bool:
    with Path(path).open(encoding="utf-8", errors="replace") as file:
        return file.readline().strip().split(",")[0] == "LAYER"


def _how(path: str) -> str:
    return f"make one on your own texts: rlsum baseline METRIC --texts TEXTS.txt --out {path}"
