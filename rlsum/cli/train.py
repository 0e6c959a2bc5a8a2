"""``rlsum train``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rlsum.config import Config


def train(
    config: Annotated[
        str | None, typer.Argument(help="YAML file, or a name of `rlsum configs`; not needed with --resume.")
    ] = None,
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, such as training.steps=100.")] = None,
    init: Annotated[
        Path | None, typer.Option(help="Run or checkpoint to start from, with its vocabulary and sizes.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Run folder to continue where it stopped.")] = None,
    auto_resume: Annotated[
        bool, typer.Option("--auto-resume", help="Continue the run if its folder holds one, else start it.")
    ] = False,
    keys: Annotated[str | None, typer.Option(help="Explain the keys of a section, or of all, and stop.")] = None,
) -> None:
    """Train a summarizer by likelihood, or on a reward with reinforcement learning.

    Ctrl-C, SIGTERM and SIGUSR1 end the update, save a state and print the command that continues it. A finished run is
    trained on, with its optimiser, by --resume and a larger training.steps.

    **Examples**

    rlsum train demo/mle

    rlsum train demo/sms --init runs/demo/mle

    rlsum train demo/mle training.steps=50 run=runs/quick

    rlsum train --resume runs/demo/mle

    rlsum train --resume runs/demo/mle training.steps=4000

    rlsum train --keys objective

    accelerate launch --num_processes 4 -m rlsum train cnndm/mle
    """
    from rlsum import config as configs

    if keys is not None:
        _explain(keys)
        return
    overrides = overrides or []
    if config is not None and "=" in config and not Path(config).exists():
        overrides, config = [config, *overrides], None
    if resume is not None and init is not None:
        raise configs.ConfigError(
            f"--resume {resume} --init {init}: a resumed run continues from its own state; leave out --init"
        )
    if auto_resume and resume is None and config is not None:
        resume, init = _begun(configs.load(config, overrides), init)
    if resume is not None:
        resolved = _resumed(resume, config, overrides)
    elif config is None:
        raise configs.ConfigError("CONFIG is missing: give a YAML file, a name of `rlsum configs`, or --resume RUN")
    else:
        resolved = configs.load(config, overrides)
    from rlsum.training import build
    from rlsum.training.parallel.processes import lost_process_as_error

    with lost_process_as_error("its own message says why"):
        trainer = build.trainer(resolved, init=init, resume=resume is not None)
        trainer.fit()
    if trainer.stopped is not None:
        raise typer.Exit(128 + trainer.stopped)


def _explain(section: str) -> None:
    """Print every key of a section with its default, values and meaning."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from rewards.options import nearest
    from rlsum import config_reference as reference
    from rlsum.errors import ConfigError

    named = [name for name in reference.SECTIONS if section in ("all", name.partition(" ")[0])]
    if not named:
        known = ["all", *(name for name in reference.SECTIONS if " " not in name)]
        raise ConfigError(f"--keys {section}: no such section{nearest(section, known)}; choose from {', '.join(known)}")
    for name in named:
        table = Table.grid(padding=(0, 2, 0, 0))
        for key in reference.keys(name):
            default = "required" if key.default == "required" else f"default {key.default}"
            values = f"{' | '.join(key.values)}; " if len(key.values) > 1 else ""
            table.add_row(Text(key.name, style="bold"), Text(default), Text(values + key.meaning.replace("``", "")))
        Console().print(Text(f"\n{name}", style="bold underline"), table)


def _begun(config: Config, init: Path | None) -> tuple[Path | None, Path | None]:
    """The run to resume, None where its folder holds no state, and the start, None where it is resumed."""
    from rlsum.training import checkpoint

    run = Path(config.run)
    return (run, None) if (run / checkpoint.STATE).is_file() else (None, init)


def _resumed(run: Path, config: str | None, overrides: list[str]) -> Config:
    """The configuration of the run. CONFIG and overrides, if given, must agree with it, but for more updates."""
    from dataclasses import replace

    from rlsum import config as configs
    from rlsum.training import checkpoint, environment

    if not (run / checkpoint.STATE).is_file():
        fix = "give the folder of a run"
        if (run / checkpoint.CONFIG).is_file():
            fix = "the run stopped before it saved one: repeat the command that started it"
        raise checkpoint.CheckpointError(f"--resume {run}: no {checkpoint.STATE} there; {fix}")
    stored = replace(checkpoint.read_config(run), run=str(run))
    if config is not None or overrides:
        given = configs.load(config or run / checkpoint.CONFIG, overrides)
        given = replace(given, run=str(run), model=given.model or stored.model)
        steps = given.training.steps
        if replace(given, training=replace(given.training, steps=stored.training.steps)) != stored:
            raise configs.ConfigError(
                f"--resume {run}: CONFIG or overrides differ from the run's own config.yaml; leave them out. Only "
                "training.steps may be larger"
            )
        if steps < stored.training.steps:
            raise configs.ConfigError(
                f"--resume {run} training.steps={steps}: the run has {stored.training.steps}; give more, or none"
            )
        stored = replace(stored, training=replace(stored.training, steps=steps))
    return environment.as_begun(run, stored)
