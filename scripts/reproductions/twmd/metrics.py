"""The paper's metrics by its own names, and what a run of the studies is set to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from reproductions.estimate import RESAMPLES
from reproductions.published import Published
from rewards.embedding import metrics as contextual
from rewards.embedding.reward import EmbeddingReward
from rewards.embedding.similarity import Direction
from rewards.encoding.encoder import Encoder
from rewards.encoding.layers import Layer
from rewards.encoding.loading import EncoderSource, locate

REWARDS: dict[str, Callable[..., EmbeddingReward]] = {
    "SBERT": contextual.sbert,
    "CKA": contextual.cka,
    "MoverScore": contextual.moverscore,
    "BERTscore": contextual.bertscore,
    "TWMD": contextual.twmd,
    "TRWMD": contextual.trwmd,
}
CENTERINGS = {"none": "none", "batch": "batch", "sent": "sentence", "dim": "dimension", "corpus": "corpus"}
DIRECTED = ("BERTscore", "TWMD", "TRWMD")
TOKENS: dict[Direction, str] = {"precision": "candidate tokens", "recall": "reference tokens", "f1": "harmonic mean"}


@dataclass(frozen=True)
class Metric:
    """A row of the paper's tables; ``centering`` as there: none, batch, sent, dim, or corpus."""

    name: str
    centering: str = "none"
    direction: Direction = "precision"
    temperature: float | None = None
    iterations: int = 1

    @property
    def label(self) -> str:
        """``TWMD-batch``."""
        return self.name if self.centering == "none" else f"{self.name}-{self.centering}"

    def reward(self, setting: Setting, special_tokens: str = "first", layer: Layer = None) -> EmbeddingReward:
        """The reward behind it; ``layer`` instead of the setting's."""
        options: dict[str, Any] = {
            "encoder": setting.encoder,
            "layer": setting.layer if layer is None else layer,
            "centering": CENTERINGS[self.centering],
            "special_tokens": special_tokens,
        }
        if self.name in DIRECTED:
            options["direction"] = self.direction
        if self.name in ("TWMD", "TRWMD"):
            options["temperature"] = self.temperature
        if self.name == "TWMD":
            options["iterations"] = self.iterations
        return REWARDS[self.name](**options)


@dataclass(frozen=True)
class Setting:
    """What all studies share. ``direction``: the authors' code averages over candidate tokens and calls it recall.

    ``beside`` names the encoder whose published numbers stand beside the measured ones. ``kept``: the folder where
    scores are remembered; none by default.
    """

    encoder: str = "minilm"
    layer: Layer = None
    direction: Direction = "precision"
    published: Published = Published()  # noqa: RUF009  frozen
    beside: str = "roberta-base"
    resamples: int = RESAMPLES
    seed: int = 0
    kept: Path | None = None

    @cached_property
    def loaded(self) -> Encoder:
        """The encoder at the layer in use."""
        return EncoderSource(locate(self.encoder), self.layer).load()

    @property
    def description(self) -> str:
        """Which encoder and layer, for captions: ``minilm (bert-0123456789ab), layer 5``."""
        return f"{self.encoder} ({self.loaded.name}), layer {self.loaded.layers}"

    @property
    def short(self) -> str:
        """The encoder's name without its folders, for pictures."""
        return Path(self.encoder).name

    @property
    def place(self) -> str:
        """Where the encoder is."""
        return locate(self.encoder)

    def metrics(self, names: Sequence[str], centerings: Sequence[str]) -> list[Metric]:
        """All combinations but SBERT with sentence centering, where all means vanish."""
        return [
            Metric(name, centering, self.direction)
            for name in names
            for centering in centerings
            if (name, centering) != ("SBERT", "sent")
        ]


def fitted(setting: Setting, metrics: Sequence[Metric], texts: Sequence[str]) -> list[EmbeddingReward]:
    """The rewards of ``metrics``; those with corpus centering share one mean, that of ``texts``."""
    made = [metric.reward(setting) for metric in metrics]
    space = next((each.space for each, metric in zip(made, metrics, strict=True) if metric.centering == "corpus"), None)
    if space is not None:
        space.fit(texts)
    return [
        EmbeddingReward(each.name, space, each.measure) if space is not None and metric.centering == "corpus" else each
        for each, metric in zip(made, metrics, strict=True)
    ]
