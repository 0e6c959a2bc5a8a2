"""The metrics by their names in the paper, and the settings shared by all reproductions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from rewards import Reward, load
from rewards.encoding.layers import ALL
from rewards.encoding.loading import EncoderSource, locate
from rlsum.errors import UserError
from rlsum.evaluation.statistics import OF_CORRELATIONS

VectorKind = Literal["static", "contextual"]  # in the paper: GloVe and ELMo

ROUGE_L, RECALL = "ROUGE-L F1", "ROUGE-L recall"
WMS, SMS, S_WMS = "WMS", "SMS", "S+WMS"
MOVERS = (WMS, SMS, S_WMS)
LENGTH = "length (letters)"  # the column of lengths in every table of scores


def named(mover: str, kind: VectorKind) -> str:
    """``SMS, static``."""
    return f"{mover}, {kind}"


@dataclass(frozen=True)
class MoverSetup:
    """Shared settings. ``vectors`` None omits the static movers, ``encoder`` None the contextual ones.

    ``cache`` is a file of scores from `meta_evaluation.cache.scores_file`; None caches nothing.
    """

    vectors: Path | None = None
    encoder: str | None = None
    resamples: int = OF_CORRELATIONS.resamples
    seed: int = 0
    cache: Path | None = None

    @property
    def kinds(self) -> tuple[VectorKind, ...]:
        """The kinds of vectors of the movers."""
        present: dict[VectorKind, bool] = {"static": self.vectors is not None, "contextual": self.encoder is not None}
        return tuple(kind for kind, is_given in present.items() if is_given)

    @cached_property
    def rewards(self) -> dict[str, Reward]:
        """Label -> metric, in the order of the tables. Static vectors have unit length, contextual ones do not.

        Raises UserError without vectors and encoder, RewardError for invalid ones.
        """
        if not self.kinds:
            raise UserError("no word vectors and no encoder: the movers need one of them")
        metrics: dict[str, Reward] = {
            ROUGE_L: load("rouge-l", stemmer=False),
            RECALL: load("rouge-l", direction="recall", stemmer=False),
        }
        if self.vectors is not None:
            options = {"vectors": str(self.vectors), "normalize": "unit"}
            metrics |= {named(name, "static"): load(name.lower(), **options) for name in MOVERS}
        if self.encoder is not None:
            metrics |= {named(name, "contextual"): load(name.lower(), encoder=self.encoder) for name in MOVERS}
        return metrics

    @property
    def description(self) -> str:
        """The vectors, for captions."""
        parts = []
        if self.vectors is not None:
            parts.append(f"static: {self.vectors.name} at unit length, zero for unknown words")
        if self.encoder is not None:
            encoder = EncoderSource(locate(self.encoder), ALL).load()
            parts.append(f"contextual: {self.encoder} ({encoder.name}), mean of layers {encoder.layers}")
        return "; ".join(parts)
