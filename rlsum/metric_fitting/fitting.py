"""From judgments to a learned metric on disk: train an epoch, write it, load it, score held-out judgments with it.

The values of ``metric.json`` are those of the reward loaded from the folder, which always holds the best epoch so far.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rewards.embedding.learned import METRIC, check_learnable, learnable_options, learned
from rewards.embedding.reward import EmbeddingReward
from rewards.encoding import loading as encoders
from rewards.errors import RewardError
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

    def row(self) -> dict[str, Any]:
        """For JSON: null if a number is undefined."""
        return {"epoch": self.epoch, **defined({"loss": self.loss}), **self.mean.to_json()}


@dataclass
class Fitted:
    """The result of a training. ``best``: the epoch in the folder, None before the first; ``about``: metric.json."""

    history: list[EpochValidation]
    best: EpochValidation | None = None
    about: dict[str, Any] = field(default_factory=dict)


OnValidation = Callable[[EpochValidation, bool], None]
OnUpdate = Callable[[float], None]


def fit(
    spec: Spec,
    train: Sequence[JudgedExample],
    valid: Sequence[JudgedExample],
    folder: Path,
    options: FitOptions,
    on_validation: OnValidation = lambda validation, best: None,
    on_update: OnUpdate = lambda loss: None,
) -> Fitted:
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
    fitted = Fitted(
        [EpochValidation(0, np.nan, scored(reward, valid))], about=about(spec, reward, train, valid, options)
    )
    on_validation(fitted.history[0], False)
    for number in range(1, options.epochs + 1):
        losses = []
        for loss in trainee.epoch(number):
            losses.append(loss)
            on_update(loss)
        better = _validate(trainee, valid, folder, fitted, float(np.mean(losses)))
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


def scored(reward: EmbeddingReward, examples: Sequence[JudgedExample]) -> dict[str, Correlations]:
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


def _validate(trainee: Trainee, valid: Sequence[JudgedExample], folder: Path, fitted: Fitted, loss: float) -> bool:
    """Write the weights, score ``valid`` with them, and move them to ``folder`` if best so far. Returns whether moved.

    After a kill the folder is complete, or, between the two renames, ``FOLDER.partial-*`` holds the old one and the
    new.
    """
    source = trainee.reward.space.source
    with TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.partial-") as partial:
        written = Path(partial) / "metric"
        encoders.save(trainee.encoder, source, written)
        write_atomically(written / METRIC, _json(fitted.about))
        reward = learned(path=str(written), device=source.device)
        try:
            groups = scored(reward, valid)
        except RewardError as error:  # weights that diverged
            raise UserError(f"epoch {len(fitted.history)}: {error}; give a lower --learning-rate") from error
        fitted.history.append(EpochValidation(len(fitted.history), loss, groups))
        pearson, best = fitted.history[-1].mean.pearson, fitted.best
        better = not np.isnan(pearson) and (best is None or pearson > best.mean.pearson)
        if better:
            fitted.best = fitted.history[-1]
            fitted.about |= {"signature": reward.signature, **_progress(fitted, finished=False)}
            write_atomically(written / METRIC, _json(fitted.about))
            _publish(written, folder)
    encoders.forget_loaded()  # other weights will have the same paths
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


def _progress(fitted: Fitted, finished: bool) -> dict[str, Any]:
    assert fitted.best is not None
    return {
        "finished": finished,
        "epoch": fitted.best.epoch,
        "validation": {
            **fitted.best.mean.to_json(),
            "groups": {name: group.to_json() for name, group in fitted.best.groups.items()},
        },
        "history": [validation.row() for validation in fitted.history],
    }


def _json(about: dict[str, Any]) -> bytes:
    return (json.dumps(about, indent=2) + "\n").encode()
