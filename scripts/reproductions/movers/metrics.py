"""The paper's metrics by its own names, and what a run of the studies is set to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from rewards import Reward, load
from rewards.encoding.layers import ALL
from rewards.encoding.loading import EncoderSource, locate
from rlsum.errors import UserError
from rlsum.evaluation.correlation import RESAMPLES

Kind = Literal["static", "contextual"]  # of vectors: the paper's GloVe and ELMo

ROUGE_L, RECALL = "ROUGE-L F1", "ROUGE-L recall"
WMS, SMS, S_WMS = "WMS", "SMS", "S+WMS"
MOVERS = (WMS, SMS, S_WMS)
LENGTH = "length (letters)"  # the column that stands beside every table of scores


def named(mover: str, kind: Kind) -> str:
    """``SMS, static``."""
    return f"{mover}, {kind}"


@dataclass(frozen=True)
class Setting:
    """What all studies share. ``vectors`` None leaves the static movers out, ``encoder`` None the contextual ones.

    ``kept`` is the file of remembered scores (`meta_evaluation.cache.scores_file`); None remembers nothing.
    """

    vectors: Path | None = None
    encoder: str | None = None
    resamples: int = RESAMPLES
    seed: int = 0
    kept: Path | None = None

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of vectors that the movers travel on."""
        found: dict[Kind, bool] = {"static": self.vectors is not None, "contextual": self.encoder is not None}
        return tuple(kind for kind, there in found.items() if there)

    @cached_property
    def rewards(self) -> dict[str, Reward]:
        """Label -> metric, in the order of the tables. Static vectors are made of unit length, contextual ones are not.

        Raises UserError without vectors and encoder, RewardError where either cannot be used.
        """
        if not self.kinds:
            raise UserError("neither word vectors nor an encoder: the movers need one of them")
        found: dict[str, Reward] = {ROUGE_L: load("rouge-l"), RECALL: load("rouge-l", direction="recall")}
        if self.vectors is not None:
            options = {"vectors": str(self.vectors), "normalize": "unit"}
            found |= {named(name, "static"): load(name.lower(), **options) for name in MOVERS}
        if self.encoder is not None:
            found |= {named(name, "contextual"): load(name.lower(), encoder=self.encoder) for name in MOVERS}
        return found

    @property
    def description(self) -> str:
        """Which vectors, for captions."""
        parts = []
        if self.vectors is not None:
            parts.append(f"static: {self.vectors.name} at unit length, zero for unknown words")
        if self.encoder is not None:
            encoder = EncoderSource(locate(self.encoder), ALL).load()
            parts.append(f"contextual: {self.encoder} ({encoder.name}), mean of layers {encoder.layers}")
        return "; ".join(parts)
