"""The epochs of a training, whatever learns: each is written, loaded as a reward, validated, and kept if it is best.

The values of ``metric.json`` are those of the reward loaded from the folder, which always holds the best epoch so far.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from rewards.embedding.learned import METRIC, learned
from rewards.encoding import loading as encoders
from rewards.encoding.encoder import Device
from rewards.errors import RewardError
from rewards.models.loading import ModelSource
from rlsum.errors import UserError
from rlsum.files import sync, write_atomically
from rlsum.metric_fitting.options import FitOptions


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
            "the validation scores of every epoch are constant; give candidates that differ, or a lower --learning-rate"
        )
    fitted.about |= _progress(fitted, finished=True)
    write_atomically(folder / METRIC, _json(fitted.about))
    return fitted


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
