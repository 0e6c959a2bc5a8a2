"""Whether a run may go on for more updates than it began with: its updates so far must be those of a longer run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rlsum.config import Config, ConfigError
from rlsum.errors import option
from rlsum.training import checkpoint


def check_longer(run: Path, stored: Config, longer: Config, progress: checkpoint.Progress) -> None:
    """Raise ConfigError if the updates so far would differ had the run begun with the larger number of updates."""
    what = f"{option('resume', run)} training.steps={longer.training.steps}"
    if longer.training.steps < stored.training.steps:
        raise ConfigError(f"{what}: the run has {stored.training.steps}; give more, or none")
    if reason := next(_differences(stored, longer, progress), None):
        raise ConfigError(
            f"{what}: {reason}; so it would not end as a run that begins with training.steps={longer.training.steps}. "
            f"Start a new run from its best weights: {option('init', run)} run=NEW"
        )


def _differences(stored: Config, longer: Config, progress: checkpoint.Progress) -> Iterator[str]:
    """Which updates and validations so far would differ in a run of more updates."""
    done, training, shared = progress.step, stored.training, stored.objective.updates_per_sample
    every = training.validate_every
    if done == training.steps and done % shared:
        yield f"it ended after update {done}, within the objective.updates_per_sample={shared} that share their samples"
    if done == training.steps and done % every:
        yield f"its last validation, after update {done}, is none of those of training.validate_every={every}"
    if progress.finished:
        yield f"training.patience={training.patience} ended it after update {done}, as it would end a longer one"
    for number in range(done):
        then, now = stored.varying(number), longer.varying(number)
        for name in then:
            if then[name] != now[name]:
                values = f"{then[name]:.6g}, in a run of so many updates it is {now[name]:.6g}"
                yield f"its update {number + 1} had the {name} {values}"
