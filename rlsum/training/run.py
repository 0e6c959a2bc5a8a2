"""A training from its configuration, or from where it stopped, to a run folder. What is wrong is found before torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any

from rlsum.errors import ConfigError, option
from rlsum.pages.shown import frame
from rlsum.readers import jsonl
from rlsum.yaml_files import File, Overrides, written

if TYPE_CHECKING:
    from rlsum.config import Config
    from rlsum.pages.pictures.drawing import Picture
    from rlsum.training.checkpoint import Progress

# by a run that begins without them, see ``build``
CHOSEN = ("tokenizer", "divisor", "model", "spaces", "dropout", "prompt")


@dataclass(frozen=True)
class Run:
    """A run folder after a training, and its path; ``stopped`` is the signal that ended it before the last update."""

    folder: Path
    progress: Progress
    stopped: Signals | None = None

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        end = "" if self.stopped is None else f", stopped by {self.stopped.name}"
        best = f"best at {self.progress.best_step:,}, {self.folder / 'best'}"
        return f"Run {self.folder}: {self.progress.step:,} updates{end}; {best}"

    def _repr_html_(self) -> str | None:
        """The text, and the curve of what the best weights are chosen by."""
        from rlsum.pages.blocks import Paragraph
        from rlsum.pages.templates import fragment

        try:
            drawn = [self._curves()]
        except ModuleNotFoundError:  # matplotlib
            drawn = []
        return fragment([Paragraph(repr(self)), *drawn], {})

    def _curves(self) -> Picture:
        import numpy as np

        from rlsum.pages.pictures.curves import Curve, Panel, look, picture

        def curve(number: int, kind: str, name: str) -> Curve:
            points = [(row["step"], row[name]) for row in rows if row["kind"] == kind and row.get(name) is not None]
            steps, values = np.array(points, dtype=np.float64).reshape(-1, 2).T
            return Curve({"train": "training", "valid": "validation"}[kind], look(number)[0], steps, values)

        rows = self._logged()
        panels = [
            Panel(title, (curve(0, "train", name), curve(1, "valid", name)))
            for name, title in (("reward", "reward"), ("nll", "negative log-likelihood, nats a token"))
            if any(name in row for row in rows)
        ]
        return picture("run", "Training", "Training batches and validation.", panels)

    def _logged(self) -> list[dict[str, Any]]:
        return [read.fields for read in jsonl(self.folder / "metrics.jsonl")]

    def to_frame(self) -> Any:
        """What the run logged: a row an update or a validation."""
        rows = self._logged()
        header = list(dict.fromkeys(name for row in rows for name in row))
        return frame(header, ([row.get(name) for name in header] for row in rows))


def train(
    config: File | None = None,
    overrides: Overrides = (),
    *,
    init: File | None = None,
    resume: File | None = None,
    auto_resume: bool = False,
) -> Run:
    """Train a summarizer by likelihood, or on a reward; ``config`` is a YAML file or a name of `rlsum configs`.

    ``init``: the run or checkpoint to start from. ``resume``: a run to continue where it stopped, with more
    training.steps if they are given; ``auto_resume``: do so if the folder of the run holds one. A reward may be a
    function, but not one within another function: the run folder names it.

    >>> drafted = init("articles.csv")
    >>> run = train(drafted, {"training.steps": 4})
    >>> def short(candidates):
    ...     return [-len(text.split()) for text in candidates]
    >>> shorter = {"objective.reward": short, "training.steps": 2, "training.validate_every": 2}
    >>> train("articles-rewarded.yaml", shorter, init=run)
    Run runs/articles-rewarded: 2 updates; best at ..., runs/articles-rewarded/best
    """
    from rlsum import config as configs

    config, init, resume = (None if path is None else Path(path) for path in (config, init, resume))
    overrides = written(overrides)
    if resume is not None and init is not None:
        raise ConfigError(
            f"{option('resume', resume)} {option('init', init)}: a resumed run continues from its own state; leave out "
            f"{option('init')}"
        )
    if auto_resume and resume is None and config is not None:
        from rlsum.training.checkpoint import STATE
        from rlsum.training.start import environment

        run = Path(configs.load(config, overrides).run)
        if (run / STATE).is_file():
            if init is not None:
                environment.check_init(run, init)
            resume, init = run, None
    if resume is not None:
        resolved = _resumed(resume, config, overrides)
    elif config is None:
        resumed = option("resume", "RUN")
        raise ConfigError(f"CONFIG is missing: give a YAML file, a name of `rlsum configs`, or {resumed}")
    else:
        resolved = configs.load(config, overrides)
    from rlsum.training import build
    from rlsum.training.parallel.processes import lost_process_as_error

    with lost_process_as_error("its own message says why"):
        trainer = build.trainer(resolved, init=init, resume=resume is not None)
        progress = trainer.fit()
    return Run(trainer.run, progress, trainer.stopped)


def _resumed(run: Path, config: Path | None, overrides: Sequence[str]) -> Config:
    """The configuration of the run. CONFIG and overrides, if given, must agree with it, but for more updates."""
    from rlsum import config as configs
    from rlsum.training import checkpoint
    from rlsum.training.start.longer import check_longer

    if not (run / checkpoint.STATE).is_file():
        fix = "give the folder of a run"
        if (run / checkpoint.CONFIG).is_file():
            fix = "the run stopped before it saved one: repeat the command that started it"
        raise checkpoint.CheckpointError(f"{option('resume', run)}: no {checkpoint.STATE} there; {fix}")
    stored = replace(checkpoint.read_config(run), run=str(run))
    if config is not None or overrides:
        requested = configs.load(config or run / checkpoint.CONFIG, overrides)
        named = Path(configs.load(run / checkpoint.CONFIG, overrides).run)
        if named.resolve() not in (run.resolve(), Path(checkpoint.read_config(run).run).resolve()):
            raise ConfigError(f"run={named} {option('resume', run)}: a resumed run stays in its folder; leave out run=")
        longer = replace(stored, training=replace(stored.training, steps=requested.training.steps))
        if replace(requested, run=str(run)) != _as_requested(longer, requested):
            raise ConfigError(
                f"{option('resume', run)}: CONFIG or overrides differ from the run's own config.yaml; leave them out. "
                "Only training.steps may be larger"
            )
        if longer != stored:
            check_longer(run, stored, longer, checkpoint.progress_of(run))
        stored = longer
    return stored


def _as_requested(stored: Any, requested: Any) -> Any:
    """The section of a run, without the values that the run has chosen itself where ``requested`` has none."""
    values: dict[str, Any] = {}
    for name, value in ((field.name, getattr(stored, field.name)) for field in fields(stored)):
        choice = getattr(requested, name, None)
        if choice is None and name in CHOSEN:
            values[name] = None
        elif is_dataclass(value):
            values[name] = _as_requested(value, choice)
    return replace(stored, **values)
