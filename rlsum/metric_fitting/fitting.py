"""From judgments to a learned metric on disk: train an epoch, write it, score held-out judgments with what was written.

So the figures of ``metric.json`` are those of the very reward that others load. The folder holds the best epoch so far,
whole, at any moment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rewards.embedding.comparison import Comparison
from rewards.embedding.learned import METRIC, check_learnable, learnable_options, learned
from rewards.encoding import encoder as encoders
from rewards.errors import RewardError
from rewards.specs import Spec
from rlsum.errors import UserError
from rlsum.files import sync, write_atomically
from rlsum.metric_fitting.correlations import Correlations, average, by_group
from rlsum.metric_fitting.examples import Example, Scale, check_varied, content
from rlsum.metric_fitting.training import Options, Trainee
from rlsum.records import defined


@dataclass(frozen=True)
class Validation:
    """How epoch ``epoch`` did (0 is the start): ``loss`` in training, agreement on held-out judgments, by group."""

    epoch: int
    loss: float
    groups: dict[str, Correlations]

    @property
    def mean(self) -> Correlations:
        """Averaged over the groups."""
        return average(self.groups)

    def row(self) -> dict[str, Any]:
        """For JSON: null where a number is undefined."""
        return {"epoch": self.epoch, **defined({"loss": self.loss}), **shown(self.mean)}


@dataclass
class Fitted:
    """What a training came to. ``best``: the epoch that the folder holds, None before the first."""

    history: list[Validation]
    best: Validation | None = None
    about: dict[str, Any] = field(default_factory=dict)


Watch = Callable[[Validation, bool], None]
Tick = Callable[[float], None]


def fit(
    spec: Spec,
    train: Sequence[Example],
    valid: Sequence[Example],
    folder: Path,
    options: Options,
    watch: Watch = lambda validation, best: None,
    tick: Tick = lambda loss: None,
) -> Fitted:
    """Train the encoder of ``spec`` and write the best epoch, by Pearson on ``valid``, to ``folder``.

    ``watch`` is told each validation and whether it is the best, ``tick`` each update's loss. On a CPU the same seed
    and threads give the same weights. Raises UserError or RewardError; the best so far stays in the folder.
    """
    reward = check_learnable(spec)
    check_folder(folder)
    check_varied("training", train)
    check_varied("validation", valid)
    check_scorable(reward, [*train, *valid])
    trainee = Trainee(reward, train, Scale.of(options.scale, [each.human for each in train]), options)
    fitted = Fitted([Validation(0, np.nan, scored(reward, valid))], about=_about(spec, reward, train, valid, options))
    watch(fitted.history[0], False)
    for number in range(1, options.epochs + 1):
        losses = []
        for loss in trainee.epoch(number):
            losses.append(loss)
            tick(loss)
        better = _validate(trainee, valid, folder, fitted, float(np.mean(losses)))
        watch(fitted.history[-1], better)
        if fitted.best is not None and number - fitted.best.epoch >= options.patience:
            break
    if fitted.best is None:
        raise UserError("no epoch had a validation Pearson at all: its scores were constant; lower --learning-rate")
    fitted.about |= _progress(fitted, finished=True)
    write_atomically(folder / METRIC, _json(fitted.about))
    return fitted


def has_fitted(folder: Path, spec: Spec, train: Sequence[Example], valid: Sequence[Example], options: Options) -> bool:
    """Whether ``folder`` holds what `fit` with the same arguments ended with. Raises UserError if it cannot be read."""
    if not (folder / METRIC).is_file():
        return False
    try:
        there = json.loads((folder / METRIC).read_bytes())
    except ValueError as error:
        raise UserError(f"{folder / METRIC}: is no JSON ({error}); remove the folder") from error
    wanted = json.loads(_json(_about(spec, check_learnable(spec), train, valid, options)))
    return bool(there.get("finished")) and all(
        there.get(name) == wanted[name] for name in wanted if name != "signature"
    )


def scored(reward: Comparison, examples: Sequence[Example]) -> dict[str, Correlations]:
    """How a reward agrees with people, by group; each group is a call, so batch centering stays within it."""
    scores = np.full(len(examples), np.nan)
    groups = [each.group for each in examples]
    for group in dict.fromkeys(groups):
        places = [place for place, other in enumerate(groups) if other == group]
        chosen = [examples[place] for place in places]
        scores[places] = reward([each.candidate for each in chosen], [each.references for each in chosen])
    return by_group(scores.tolist(), [each.human for each in examples], groups)


def check_folder(folder: Path) -> None:
    """Raise UserError unless ``folder`` is free and can be written; its parents are made when missing."""
    if folder.exists():
        raise UserError(f"--out {folder}: exists; choose another name, or remove it")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.partial-"):
            pass
    except OSError as error:
        raise UserError(
            f"--out {folder}: cannot be written ({error.strerror}); choose a folder you may write to"
        ) from error


def check_scorable(reward: Comparison, examples: Sequence[Example]) -> None:
    """Raise UserError for a judgment none of whose references has a token."""
    encoder = reward.space.source.load()
    (blank,) = encoder.ids([""])
    texts = list(dict.fromkeys(text for each in examples for text in each.references))
    empty = {text for text, ids in zip(texts, encoder.ids(texts), strict=True) if ids == blank}
    for each in examples:
        if all(text in empty for text in each.references):
            told = "its references have no token" if each.references else "it has no reference"
            raise UserError(f"judgment {each.id!r} of system {each.system!r} cannot be scored: {told}; leave it out")


def shown(found: Correlations) -> dict[str, float | None]:
    """Correlations for JSON."""
    return {**defined({"pearson": found.pearson, "kendall": found.kendall}), "n": found.n}


def _validate(trainee: Trainee, valid: Sequence[Example], folder: Path, fitted: Fitted, loss: float) -> bool:
    """Write the weights beside the folder, score with them, and put them into it if they are the best; which it tells.

    A kill leaves the folder whole, as it was or new, and perhaps a directory ``FOLDER.partial-*`` beside it; between
    the two renames of a replacement, both are in there.
    """
    source = trainee.reward.space.source
    with TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.partial-") as beside:
        made = Path(beside) / "metric"
        encoders.save(trainee.encoder, source, made)
        write_atomically(made / METRIC, _json(fitted.about))
        reward = learned(str(made), device=source.device)
        try:
            groups = scored(reward, valid)
        except RewardError as error:  # the weights have become useless
            raise UserError(f"epoch {len(fitted.history)}: {error}; give a lower --learning-rate") from error
        fitted.history.append(Validation(len(fitted.history), loss, groups))
        found, best = fitted.history[-1].mean.pearson, fitted.best
        better = not np.isnan(found) and (best is None or found > best.mean.pearson)
        if better:
            fitted.best = fitted.history[-1]
            fitted.about |= {"signature": reward.signature, **_progress(fitted, finished=False)}
            write_atomically(made / METRIC, _json(fitted.about))
            _publish(made, folder)
    encoders.forget_loaded()  # the paths will hold other weights
    return better


def _publish(made: Path, folder: Path) -> None:
    """Put a written directory in the place of ``folder``; what was there goes away with the directory of ``made``."""
    for path in made.iterdir():
        sync(path)
    sync(made)
    if folder.exists():
        folder.rename(made.with_name("replaced"))
    made.rename(folder)
    sync(folder.parent)


def _about(
    spec: Spec, reward: Comparison, train: Sequence[Example], valid: Sequence[Example], options: Options
) -> dict[str, Any]:
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
        "scale": asdict(Scale.of(options.scale, [each.human for each in train])),
    }


def _progress(fitted: Fitted, finished: bool) -> dict[str, Any]:
    assert fitted.best is not None
    return {
        "finished": finished,
        "epoch": fitted.best.epoch,
        "validation": {
            **shown(fitted.best.mean),
            "groups": {name: shown(each) for name, each in fitted.best.groups.items()},
        },
        "history": [each.row() for each in fitted.history],
    }


def _json(about: dict[str, Any]) -> bytes:
    return (json.dumps(about, indent=2) + "\n").encode()
