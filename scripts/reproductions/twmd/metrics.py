"""The metrics by their names in the paper, and the settings shared by all reproductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    """A row of the tables; ``centering`` as in the paper: none, batch, sent, dim or corpus."""

    name: str
    centering: str = "none"
    direction: Direction = "precision"
    temperature: float | None = None
    iterations: int = 1

    @property
    def label(self) -> str:
        """``TWMD-batch``."""
        return self.name if self.centering == "none" else f"{self.name}-{self.centering}"

    def reward(self, setup: EncoderSetup, special_tokens: str = "first", layer: Layer = None) -> EmbeddingReward:
        """The reward; ``layer`` overrides that of ``setup``."""
        options: dict[str, Any] = {
            "encoder": setup.encoder,
            "layer": setup.layer if layer is None else layer,
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
class EncoderSetup:
    """Shared settings. ``direction``: the authors' code averages over candidate tokens, which it calls recall.

    ``published_encoder`` names the encoder whose published numbers are shown. ``cache`` is a folder for scores; None
    caches nothing.
    """

    encoder: str = "minilm"
    layer: Layer = None
    direction: Direction = "precision"
    published: Published = field(default_factory=dict)
    published_encoder: str = "roberta-base"
    resamples: int = RESAMPLES
    seed: int = 0
    cache: Path | None = None

    @cached_property
    def loaded(self) -> Encoder:
        """The encoder at the layer in use."""
        return EncoderSource(locate(self.encoder), self.layer).load()

    @property
    def description(self) -> str:
        """Encoder and layer for captions: ``minilm (bert-0123456789ab), layer 5``."""
        return f"{self.encoder} ({self.loaded.name}), layer {self.loaded.layers}"

    @property
    def short(self) -> str:
        """The encoder's name without folders, for pictures."""
        return Path(self.encoder).name

    @property
    def location(self) -> str:
        """The path or hub name of the encoder."""
        return locate(self.encoder)

    def metrics(self, names: Sequence[str], centerings: Sequence[str]) -> list[Metric]:
        """All combinations except SBERT with sentence centering, where all means are 0."""
        return [
            Metric(name, centering, self.direction)
            for name in names
            for centering in centerings
            if (name, centering) != ("SBERT", "sent")
        ]


def fitted(setup: EncoderSetup, metrics: Sequence[Metric], texts: Sequence[str]) -> list[EmbeddingReward]:
    """The rewards of ``metrics``; those with corpus centering share the mean of ``texts``."""
    rewards = [metric.reward(setup) for metric in metrics]
    corpus = [number for number, metric in enumerate(metrics) if metric.centering == "corpus"]
    if corpus:
        space = rewards[corpus[0]].space
        space.fit(texts)
        for number in corpus:
            rewards[number].space = space
    return rewards
