"""From judgments to a learned metric on disk: the epoch whose scores agree best with held-out judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rewards.embedding.learned import check_learnable, learnable_options
from rewards.embedding.reward import EmbeddingReward
from rewards.encoding import loading as encoders
from rewards.scoring import BaseReward
from rewards.specs import Spec
from rlsum.errors import UserError
from rlsum.evaluation.rows import members
from rlsum.metric_fitting.correlations import Correlations, average, correlations
from rlsum.metric_fitting.epochs import Fitted, OnUpdate, OnValidation, check_folder, learn
from rlsum.metric_fitting.examples import JudgedExample, Scale, check_varied, content
from rlsum.metric_fitting.options import FitOptions
from rlsum.metric_fitting.updates import Trainee
from rlsum.records import defined


@dataclass(frozen=True)
class EpochValidation:
    """Epoch ``epoch`` (0 is the start): its training ``loss`` and the correlations on held-out judgments by group."""

    epoch: int
    loss: float
    groups: dict[str, Correlations]

    @property
    def mean(self) -> Correlations:
        """Averaged over the groups."""
        return average(self.groups)

    @property
    def quality(self) -> float:
        """Pearson's r, by which the best epoch is chosen."""
        return self.mean.pearson

    def row(self) -> dict[str, Any]:
        """For JSON: null if a number is undefined."""
        return {"epoch": self.epoch, **defined({"loss": self.loss}), **self.mean.to_json()}

    def to_json(self) -> dict[str, Any]:
        """With the groups."""
        return {**self.mean.to_json(), "groups": {name: group.to_json() for name, group in self.groups.items()}}


def fit(
    spec: Spec,
    train: Sequence[JudgedExample],
    valid: Sequence[JudgedExample],
    folder: Path,
    options: FitOptions,
    on_validation: OnValidation[EpochValidation] = lambda validation, best: None,
    on_update: OnUpdate = lambda loss: None,
) -> Fitted[EpochValidation]:
    """Train the encoder of ``spec`` and write the epoch with the best Pearson on ``valid`` to ``folder``.

    ``on_validation`` is called with each validation and whether it is the best so far, ``on_update`` with the loss of
    each update. On a CPU, the same seed and number of threads give the same weights. Raises UserError or RewardError;
    the best epoch so far stays in the folder.
    """
    reward = check_learnable(spec)
    check_folder(folder)
    check_varied("training", train)
    check_varied("validation", valid)
    check_scorable(reward, [*train, *valid])
    trainee = Trainee(reward, train, Scale.of(options.scale, [example.human for example in train]), options)
    start = EpochValidation(0, np.nan, scored(reward, valid))
    fitted = Fitted([start], about=about(spec, reward, train, valid, options))
    device = reward.space.source.device
    return learn(_OnScores(trainee, valid), fitted, folder, options, device, on_validation, on_update)


@dataclass
class _OnScores:
    """See ``Learner``."""

    trainee: Trainee
    valid: Sequence[JudgedExample]

    def epoch(self, number: int) -> Iterator[float]:
        return self.trainee.epoch(number)

    def save(self, folder: Path) -> None:
        encoders.save(self.trainee.encoder, self.trainee.reward.space.source, folder)

    def about(self) -> dict[str, Any]:
        return {}

    def validated(self, reward: BaseReward, number: int, loss: float) -> EpochValidation:
        return EpochValidation(number, loss, scored(reward, self.valid))


def scored(reward: BaseReward, examples: Sequence[JudgedExample]) -> dict[str, Correlations]:
    """Correlations of a reward with people by group, in the order in which groups first appear.

    Each group is one call, so batch centering stays within it.
    """
    by_group = {}
    for group, rows in members([example.group for example in examples]).items():
        chosen = [examples[index] for index in rows]
        scores = reward([example.candidate for example in chosen], [example.references for example in chosen])
        by_group[group] = correlations(scores, [example.human for example in chosen])
    return by_group


def check_scorable(reward: EmbeddingReward, examples: Sequence[JudgedExample]) -> None:
    """Raise UserError for a judgment without a reference that has a token."""
    encoder = reward.space.source.load()
    (blank,) = encoder.ids([""])
    texts = list(dict.fromkeys(text for example in examples for text in example.references))
    empty = {text for text, ids in zip(texts, encoder.ids(texts), strict=True) if ids == blank}
    for example in examples:
        if all(text in empty for text in example.references):
            reason = "its references have no token" if example.references else "it has no reference"
            judgment = f"judgment {example.id!r} of system {example.system!r}"
            raise UserError(f"{judgment} cannot be scored: {reason}; remove it")


def about(
    spec: Spec,
    reward: EmbeddingReward,
    train: Sequence[JudgedExample],
    valid: Sequence[JudgedExample],
    options: FitOptions,
) -> dict[str, Any]:
    """What `fit` writes to ``metric.json`` of its arguments."""
    return {
        "metric": learnable_options(spec, reward.space.source.load().layers),
        "signature": None,
        "start": reward.signature,
        "data": {
            "train": content(train),
            "valid": content(valid),
            "train_judgments": len(train),
            "valid_judgments": len(valid),
        },
        "options": asdict(options),
        "scale": asdict(Scale.of(options.scale, [example.human for example in train])),
    }
