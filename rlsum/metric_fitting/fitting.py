"""From judgments to a learned metric on disk: train an epoch, write it, load it, score held-out judgments with it.

The values of ``metric.json`` are those of the reward loaded from the folder, which always holds the best epoch so far.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rewards.embedding.learned import METRIC, check_learnable, learnable_options, learned
from rewards.embedding.reward import EmbeddingReward
from rewards.encoding import loading as encoders
from rewards.encoding.encoder import Device
from rewards.errors import RewardError
from rewards.models.loading import ModelSource
from rewards.scoring import BaseReward
from rewards.specs import Spec
from rlsum.errors import UserError
from rlsum.evaluation.coefficients.kendall import kendall
from rlsum.evaluation.coefficients.pearson import pearson
from rlsum.evaluation.rows import members
from rlsum.files import sync, write_atomically
from rlsum.metric_fitting.examples import JudgedExample, Scale, check_varied, content
from rlsum.metric_fitting.options import FitOptions
from rlsum.metric_fitting.training import Trainee
from rlsum.records import defined


@dataclass(frozen=True)
class Correlations:
    """Of ``n`` pairs of scores; NaN if one side is constant or fewer than two pairs are defined."""

    pearson: float
    kendall: float
    n: int

    def to_json(self) -> dict[str, float | None]:
        """The values for JSON: null if undefined."""
        return defined(asdict(self))


def correlations(scores: ArrayLike, human: ArrayLike) -> Correlations:
    """Of two vectors ``(n,)``; items with a NaN are left out, and ``n`` counts the remaining ones."""
    first, second = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    both = ~(np.isnan(first) | np.isnan(second))
    first, second = first[both], second[both]
    return Correlations(float(pearson(first, second)), float(kendall(first, second)), len(first))


def average(groups: Mapping[str, Correlations]) -> Correlations:
    """The mean over the groups with a correlation, with equal weights (as WMT's tables)."""
    values = [(group.pearson, group.kendall) for group in groups.values() if not np.isnan(group.pearson)]
    one, other = np.mean(values or [(np.nan, np.nan)], axis=0).tolist()
    return Correlations(one, other, sum(group.n for group in groups.values()))


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


class Validation(Protocol):
    """How an epoch does on held-out judgments."""

    @property
    def epoch(self) -> int:
        """From 0, the start."""

    @property
    def quality(self) -> float:
        """By which the best epoch is chosen."""

    def row(self) -> dict[str, Any]:
        """For the history in metric.json."""

    def to_json(self) -> dict[str, Any]:
        """All of it, for metric.json."""


V = TypeVar("V", bound=Validation)
V_co = TypeVar("V_co", bound=Validation, covariant=True)


@dataclass
class Fitted(Generic[V]):
    """The result of a training. ``best``: the epoch in the folder, None before the first; ``about``: metric.json."""

    history: list[V]
    best: V | None = None
    about: dict[str, Any] = field(default_factory=dict)


class Learner(Protocol[V_co]):
    """What learns."""

    def epoch(self, number: int) -> Iterator[float]:
        """The updates of an epoch (from 1); yields losses."""

    def save(self, folder: Path) -> None:
        """Write its weights."""

    def about(self) -> dict[str, Any]:
        """What metric.json says of an epoch."""

    def validated(self, reward: Any, number: int, loss: float) -> V_co:
        """How the ``reward`` of these weights does."""


OnValidation = Callable[[V, bool], None]
OnUpdate = Callable[[float], None]


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


def learn(
    learner: Learner[V],
    fitted: Fitted[V],
    folder: Path,
    options: FitOptions,
    device: Device,
    on_validation: OnValidation[V],
    on_update: OnUpdate,
) -> Fitted[V]:
    """The epochs of ``learner``, each written, validated and, if it is the best so far, kept in ``folder``."""
    on_validation(fitted.history[0], False)
    for number in range(1, options.epochs + 1):
        losses = []
        for loss in learner.epoch(number):
            losses.append(loss)
            on_update(loss)
        better = _validate(learner, folder, fitted, device, float(np.mean(losses)))
        on_validation(fitted.history[-1], better)
        if fitted.best is not None and number - fitted.best.epoch >= options.patience:
            break
    if fitted.best is None:
        raise UserError(
            "the validation scores of every epoch are constant, or undefined for texts too long; give candidates that "
            "differ, shorter ones, or a lower --learning-rate"
        )
    fitted.about |= _progress(fitted, finished=True)
    write_atomically(folder / METRIC, _json(fitted.about))
    return fitted


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


def check_folder(folder: Path) -> None:
    """Raise UserError unless ``folder`` is new and can be written; creates missing parents."""
    if folder.exists():
        raise UserError(f"--out {folder}: exists; give another name, or remove it")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.partial-"):
            pass
    except OSError as error:
        raise UserError(f"--out {folder}: cannot be written ({error.strerror}); give a writable folder") from error


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


def _validate(learner: Learner[V], folder: Path, fitted: Fitted[V], device: Device, loss: float) -> bool:
    """Write the weights, validate them, and move them to ``folder`` if best so far. Returns whether moved.

    After a kill the folder is complete, or, between the two renames, ``FOLDER.partial-*`` holds the old one and the
    new.
    """
    with TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.partial-") as partial:
        written, number = Path(partial) / "metric", len(fitted.history)
        learner.save(written)
        now = fitted.about | learner.about()
        write_atomically(written / METRIC, _json(now))
        reward = learned(path=str(written), device=device)
        try:
            fitted.history.append(learner.validated(reward, number, loss))
        except RewardError as error:  # weights that diverged
            raise UserError(f"epoch {number}: {error}; give a lower --learning-rate") from error
        quality, best = fitted.history[-1].quality, fitted.best
        better = not np.isnan(quality) and (best is None or quality > best.quality)
        if better:
            fitted.best = fitted.history[-1]
            fitted.about = now | {"signature": reward.signature, **_progress(fitted, finished=False)}
            write_atomically(written / METRIC, _json(fitted.about))
            _publish(written, folder)
    encoders.forget_loaded()  # other weights will have the same paths
    ModelSource.load.cache_clear()
    return better


def _publish(written: Path, folder: Path) -> None:
    """Replace ``folder`` by ``written``; the old folder moves to the parent of ``written``, which is temporary."""
    for path in written.iterdir():
        sync(path)
    sync(written)
    if folder.exists():
        folder.rename(written.with_name("replaced"))
    written.rename(folder)
    sync(folder.parent)


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


def _progress(fitted: Fitted[V], finished: bool) -> dict[str, Any]:
    assert fitted.best is not None
    return {
        "finished": finished,
        "epoch": fitted.best.epoch,
        "validation": fitted.best.to_json(),
        "history": [validation.row() for validation in fitted.history],
    }


def _json(about: dict[str, Any]) -> bytes:
    return (json.dumps(about, indent=2) + "\n").encode()
